"""Facts about each node of a cluster, for `distrl doctor --cluster`.

`ask_nodes` pickles its functions by value, so that even a node without DistRL can run them and say
so. All nodes are asked at once; for one that does not answer in time, only the head's facts remain.
"""

from __future__ import annotations

import platform
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from distrl.process_environment import available_memory

PACKAGES = ("distrl", "ray", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One live node; unless `answered`, only what the head knows of it."""

    address: str
    hostname: str
    is_head: bool
    total: dict[str, float]
    answered: bool = False
    python: str = ""
    packages: Mapping[str, str | None] = field(default_factory=dict)
    free_memory: int = 0  # bytes
    free_disk: int = 0  # bytes, where Ray spills to
    gpus: tuple[str, ...] = ()
    clock_ahead: float = 0.0  # seconds ahead of ours, give or take clock_error
    clock_error: float = 0.0


def tell() -> dict[str, Any]:
    """Collect facts on the node itself, which may lack DistRL: standard library only."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    cards = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    models = [line for card in cards for line in card.read_text().splitlines()[:1]]
    return {
        "python": platform.python_version(),
        "packages": versions,
        "free_memory": available_memory(),
        "free_disk": shutil.disk_usage("/tmp").free,
        "gpus": tuple(model.partition(":")[2].strip() for model in models),
    }


def now() -> float:
    """The node's clock."""
    return time.time()


def ask_nodes(seconds: float) -> list[NodeFacts]:
    """Return the facts of every live node of this process's cluster, the head first."""
    from ray import cloudpickle

    ours = [sys.modules[__name__], sys.modules[available_memory.__module__]]
    for module in ours:
        cloudpickle.register_pickle_by_value(module)
    try:
        return sorted(_ask(seconds), key=lambda node: (not node.is_head, node.address))
    finally:
        for module in ours:
            cloudpickle.unregister_pickle_by_value(module)


def _ask(seconds: float) -> Iterator[NodeFacts]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    question: Any = ray.remote(num_cpus=0, max_retries=0)(tell)
    clock: Any = ray.remote(num_cpus=0, max_retries=0)(now)
    nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
    there = {name: NodeAffinitySchedulingStrategy(name, soft=False) for name in nodes}
    asked = {name: question.options(scheduling_strategy=there[name]).remote() for name in nodes}
    ready, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=seconds)
    for name, node in nodes.items():
        known = NodeFacts(
            node["NodeManagerAddress"],
            node["NodeManagerHostname"],
            "node:__internal_head__" in node["Resources"],
            {key: float(amount) for key, amount in node["Resources"].items()},
        )
        try:
            if asked[name] not in ready:
                raise ray.exceptions.GetTimeoutError
            told = ray.get(asked[name])
            sent = time.time()
            theirs = ray.get(clock.options(scheduling_strategy=there[name]).remote(), timeout=5)
            trip = time.time() - sent
        except ray.exceptions.RayError:
            yield known  # the node is gone, or too busy to start a process
        else:
            skew = theirs - sent - trip / 2
            yield replace(known, **told, answered=True, clock_ahead=skew, clock_error=trip / 2)
