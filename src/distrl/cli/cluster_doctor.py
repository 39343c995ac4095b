"""`distrl doctor --cluster`: the nodes of a Ray cluster, their resources, and what is wrong.

It joins the cluster as a run would, so that whatever would stop a run stops it with the same
message. It asks every node, then the head once more without a token, which must be refused.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from distrl.cli.doctor import LEAST_DISK, LEAST_MEMORY, Finding, finding_table, version_of
from distrl.engine.ray.cluster.connection import TOKENS, connect, disconnect, head_address
from distrl.engine.ray.cluster.node_facts import NodeFacts, ask_nodes
from distrl.engine.ray.cluster.probe import probe
from distrl.errors import ClusterError

ANSWER_SECONDS = 30.0
NO_PHONES = "offer some, simulated or real: distrl cluster join ADDRESS --resource phone=8"
NO_GPUS = "the learner will use a processor; Ray finds GPUs by itself where the driver is installed"
MAX_SKEW = 1.0  # seconds between two clocks before times in logs stop making sense


def show_cluster_doctor(console: Console, address: str) -> bool:
    """Print nodes and findings; return False if anything is lacking."""
    connect(address)
    try:
        nodes = ask_nodes(ANSWER_SECONDS)
        found = list(examine(nodes, is_open(head_address())))
    finally:
        disconnect()
    console.print(node_table(nodes), highlight=False)
    console.print(finding_table(found), highlight=False)
    return all(finding.verdict != "lacking" for finding in found)


def is_open(address: str) -> bool:
    """Return whether the head at this address accepts a client without a token."""
    bare = {name: value for name, value in os.environ.items() if name not in TOKENS}
    try:
        probe(address, {**bare, "RAY_AUTH_MODE": "disabled"})
    except ClusterError:  # it refused, or is gone
        return False
    return True


def examine(nodes: Sequence[NodeFacts], is_open: bool) -> Iterator[Finding]:
    """Examine the cluster as a whole; every finding names the nodes that it is about."""
    if is_open:
        advice = "anybody who reaches it can run code on every node: start it anew with a token"
        yield Finding("token", "lacking", "the cluster lets in who shows none", advice)
    else:
        yield Finding("token", "good", "refused without one")
    if silent := [node.address for node in nodes if not node.answered]:
        advice = (
            f"no process could be started there in {ANSWER_SECONDS:g} s; look at memory and load"
        )
        yield Finding("nodes", "lacking", f"no answer from {', '.join(silent)}", advice)
    else:
        yield Finding("nodes", "good", f"{len(nodes)} answer")
    heard = [node for node in nodes if node.answered]
    yield versions_finding(heard)
    yield offer_finding(nodes, "phone", NO_PHONES)
    yield offer_finding(nodes, "GPU", NO_GPUS)
    yield room_finding("memory", {node.address: node.free_memory for node in heard}, LEAST_MEMORY)
    yield room_finding("disk", {node.address: node.free_disk for node in heard}, LEAST_DISK)
    if off := [node for node in heard if abs(node.clock_ahead) - node.clock_error > MAX_SKEW]:
        found = ", ".join(f"{node.address} {node.clock_ahead:+.1f} s" for node in off)
        yield Finding("clocks", "note", found, "times in logs will not fit; run an NTP client")
    else:
        yield Finding("clocks", "good", f"within {MAX_SKEW:g} s of this machine's")


def versions_finding(nodes: Sequence[NodeFacts]) -> Finding:
    """Compare package versions on the nodes: Ray itself only checks Python's and its own."""
    here = {name: version_of(name) for name in ("distrl", "ray", "torch", "transformers")}
    others = [
        f"{node.address} has {name} {found or 'not'}"
        for node in nodes
        for name, found in node.packages.items()
        if found != here.get(name)
    ]
    if others:
        ours = ", ".join(f"{name} {found or 'not'}" for name, found in here.items())
        advice = f"install the same everywhere; this machine has {ours}"
        return Finding("versions", "lacking", "; ".join(others), advice)
    return Finding("versions", "good", f"the same everywhere: distrl {here['distrl']}")


def offer_finding(nodes: Sequence[NodeFacts], resource: str, advice: str) -> Finding:
    total = sum(node.total.get(resource, 0.0) for node in nodes)
    having = sum(node.total.get(resource, 0.0) > 0 for node in nodes)
    if not total:
        return Finding(resource, "note", "none", advice)
    return Finding(resource, "good", f"{total:g} on {having} of {len(nodes)} nodes")


def room_finding(what: str, free: dict[str, int], least: int) -> Finding:
    short = {address: room for address, room in free.items() if room < least}
    if short:
        found = ", ".join(f"{address} {room / 2**30:.1f} GB" for address, room in short.items())
        return Finding(what, "note", f"little left on {found}", f"want {least / 2**30:g} GB each")
    return Finding(what, "good", f"{min(free.values(), default=0) / 2**30:.1f} GB or more each")


def node_table(nodes: Sequence[NodeFacts]) -> Table:
    title = f"Nodes: {len(nodes)}, Python {platform.python_version()}"
    table = Table(title=title, title_justify="left")
    for column in ("node", "host", "CPU", "GPU", "phone", "free memory", "free disk", "clock"):
        table.add_column(column, justify="left" if column in {"node", "host"} else "right")
    for node in nodes:
        offers = [f"{node.total.get(name, 0.0):g}" for name in ("CPU", "GPU", "phone")]
        if node.gpus:
            offers[1] += f" ({', '.join(sorted(set(node.gpus)))})"
        rooms = [f"{room / 2**30:.1f} GB" for room in (node.free_memory, node.free_disk)]
        heard = [*rooms, f"{node.clock_ahead * 1000:+.0f} ms"] if node.answered else ["?"] * 3
        name = f"{node.address}{' (head)' if node.is_head else ''}"
        table.add_row(name, node.hostname, *offers, *heard)
    return table
