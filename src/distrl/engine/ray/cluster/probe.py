"""Asks a Ray cluster for its versions and nodes, and whether it accepts our token, before joining.

Ray itself retries for 20 to 60 seconds when a token is wrong or there is no answer. The probe asks
the control store once, in a subprocess (`python -m distrl.engine.ray.cluster.probe ADDRESS`) that
is killed at a deadline, keeps Ray's own warnings off the screen, and reads the token from the
environment it is given. Takes about half a second, nearly all of it `import ray`.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from distrl.engine.ray.cluster.ray_internals import control_store
from distrl.errors import ClusterError, ClusterUnreachable, InvalidSetting, TokenRefused

DEADLINE_SECONDS = 30.0  # for the whole probe; an overloaded machine takes ten to import ray
CONNECT_SECONDS = 3.0  # for the TCP connection
ANSWER_SECONDS = 3.0  # for each question to the control store
RAYLET_OPTION = "--gcs-address="  # on the command line of every node's raylet


@dataclass(frozen=True, slots=True)
class ProbedNode:
    """A live node as the control store knows it."""

    address: str
    hostname: str
    is_head: bool
    is_here: bool  # on the machine that asked
    resources: dict[str, float]  # in all, not what is free now


@dataclass(frozen=True, slots=True)
class ProbedCluster:
    """A cluster that accepted our token."""

    address: str  # HOST:PORT of its head
    ray_version: str
    python_version: str
    nodes: tuple[ProbedNode, ...]

    def total(self, resource: str) -> float:
        return sum(node.resources.get(resource, 0.0) for node in self.nodes)

    @property
    def is_on_loopback(self) -> bool:
        """Whether only its own machine can reach it."""
        return any(node.is_head and node.address == "127.0.0.1" for node in self.nodes)


def probe(address: str, environment: Mapping[str, str]) -> ProbedCluster:
    """Probe the cluster at an address ("auto" or HOST:PORT) with the token in `environment`."""
    command = [sys.executable, "-m", "distrl.engine.ray.cluster.probe", address]
    try:
        ended = subprocess.run(
            command,
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ClusterUnreachable(
            f"somebody listens at {address} but has not answered as a Ray head in "
            f"{DEADLINE_SECONDS:g} s; see that the port is the one that `ray start --head` printed "
            f"(6379 if none was asked for), not the dashboard's"
        ) from None
    lines = ended.stdout.splitlines()
    if ended.returncode or not lines:
        last = (ended.stderr.splitlines() or ["no output"])[-1]
        raise ClusterError(f"asking the cluster at {address} ended with {ended.returncode}: {last}")
    return _read(json.loads(lines[-1]))


def _read(answer: dict[str, Any]) -> ProbedCluster:
    for kind in (ClusterUnreachable, TokenRefused, InvalidSetting):
        if answer.get("trouble") == kind.__name__:
            raise kind(answer["said"])
    return msgspec.convert(answer, ProbedCluster)


# In the process that asks -------------------------------------------------------------------------


def _ask(address: str) -> ProbedCluster:
    """Return the cluster at the address; for "auto" the first on this machine that accepts us."""
    trouble: ClusterError = ClusterUnreachable(
        "no Ray cluster of ours runs on this machine and RAY_ADDRESS is not set; start one with "
        "`distrl cluster start`, or give --address HOST:PORT"
    )
    for where in _candidates(address):
        _check_form(where)
        _check_listening(where)
        try:
            return _ask_head(where)
        except ClusterError as error:
            trouble = error
    raise trouble


def _ask_head(address: str) -> ProbedCluster:
    from ray.exceptions import AuthenticationError, RpcError

    try:
        store = control_store(address)
        # 0.01 s each; if these answer, ray.init needs no retries
        about = store.internal_kv_get(b"CLUSTER_METADATA", b"cluster", timeout=ANSWER_SECONDS)
        nodes = _live_nodes(store)
    except AuthenticationError:
        raise TokenRefused(
            f"the Ray cluster at {address} refuses our token; set RAY_AUTH_TOKEN or "
            f"RAY_AUTH_TOKEN_PATH to the token that its head was started with"
        ) from None
    except RpcError as error:
        raise ClusterUnreachable(
            f"{address} does not answer as a Ray head ({error}); see that it runs there"
        ) from None
    if not nodes or not about:
        raise ClusterUnreachable(
            f"the head at {address} has no node yet, not even its own: it is still starting, or "
            f"failing to; try again in a moment, or look at its log"
        )
    versions = json.loads(about)
    return ProbedCluster(address, versions["ray_version"], versions["python_version"], nodes)


def _live_nodes(store: Any) -> tuple[ProbedNode, ...]:
    """Return the live nodes; wait up to `ANSWER_SECONDS` for a head that is just starting."""
    until = time.monotonic() + ANSWER_SECONDS
    while True:
        found = store.get_all_node_info(timeout=ANSWER_SECONDS).values()
        nodes = tuple(_node(info) for info in found if info.state == info.ALIVE)
        if any(node.is_head for node in nodes) or time.monotonic() > until:
            return nodes
        time.sleep(0.2)


def _candidates(address: str) -> list[str]:
    if address != "auto":
        return [address]
    if told := os.environ.get("RAY_ADDRESS"):
        return [told]
    # Ray would try any user's cluster; our token must not reach other users' processes
    return sorted(
        {
            word.removeprefix(RAYLET_OPTION)
            for words in _own_commands()
            if words[0].endswith("/raylet")
            for word in words
            if word.startswith(RAYLET_OPTION)
        }
    )


def _own_commands() -> Iterator[list[str]]:
    """The command line of every process of this user."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if process.stat().st_uid == os.getuid():
                yield (process / "cmdline").read_bytes().decode(errors="replace").split("\0")


def _check_form(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not (port.isdecimal() and 0 < int(port) < 65536):
        raise InvalidSetting(
            f"{address!r} is no address of a Ray cluster; give auto, local or HOST:PORT "
            f"(10.0.0.5:6379), without ray:// before it"
        )


def _check_listening(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        raise ClusterUnreachable(
            f"nobody listens at {address} ({error.strerror or error}); start the head there with "
            f"`distrl cluster start`, and see that no firewall is between"
        ) from None


def _node(info: Any) -> ProbedNode:
    return ProbedNode(
        info.node_manager_address,
        info.node_manager_hostname,
        info.is_head_node,
        _is_ours(info.node_manager_address),
        dict(info.resources_total),
    )


def _is_ours(address: str) -> bool:
    """Return whether an address is of this machine: only such an address can be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as ours:
        try:
            ours.bind((address, 0))
        except OSError:
            return False
    return True


def main() -> None:
    try:
        answer = asdict(_ask(sys.argv[1]))
    except (ClusterError, InvalidSetting) as error:
        answer = {"trouble": type(error).__name__, "said": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
