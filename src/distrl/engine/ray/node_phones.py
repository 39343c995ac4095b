"""Check the phones of a cluster's nodes over adb, before a run starts.

On each node with phones a short task leases the free ones, checks their owners' consent and the
size of their screens, and releases them. The learner does this before it accepts collectors, so
that a setup that cannot work is one error message and not a series of failed starts.
"""

from __future__ import annotations

import logging
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from distrl.config.training_config import TrainingConfig
from distrl.devices.adb.android_tools import running_server
from distrl.devices.adb.phone_leases import reserve_serials
from distrl.engine.adb_wiring import look_at_phones
from distrl.engine.device_wiring import Sizes, check_phones
from distrl.engine.ray.placement import Node, alive_nodes, phone_resource
from distrl.errors import DeviceTimeout, DistrlError
from distrl.process_environment import ONE_THREAD, WANTED

LOOK_SECONDS = 300.0  # for all nodes together; one lost phone takes 30 of them

log = logging.getLogger(__name__)


def check_node_phones(config: TrainingConfig, folder: Path) -> Sizes:
    """Raise if the phones of a run on a cluster cannot be used; return their screen sizes."""
    if config.devices.kind != "adb":
        return check_phones(config, folder)
    calls = {
        _look(node, config, folder, wanted): node
        for node, wanted in nodes_to_ask(config, alive_nodes())
    }
    if not calls:
        return {}  # nodes with phones may join later
    _, late = ray.wait(list(calls), num_returns=len(calls), timeout=LOOK_SECONDS)
    sizes: Sizes = {}
    for call, node in calls.items():
        if call in late:
            ray.cancel(call, force=True)
            raise DeviceTimeout(
                f"the phones of {node.hostname} ({node.address}) could not be looked at within "
                f"{LOOK_SECONDS:g} s; `distrl devices` there shows how they are"
            )
        sizes |= _answer(call, node)
    return sizes


def nodes_to_ask(config: TrainingConfig, nodes: list[Node]) -> list[tuple[Node, int]]:
    """Return nodes with phones and how many the run can use there; a single node has them all."""
    count, resource = config.devices.count, phone_resource(config, nodes)
    if resource is None:
        return [(node, count) for node in nodes] if len(nodes) == 1 else []
    found = [(node, min(count, int(node.resources.get(resource, 0.0)))) for node in nodes]
    return [(node, phones) for node, phones in found if phones]


def look_at_free_phones(config: TrainingConfig, folder: str, wanted: int) -> Sizes:
    """Check `wanted` phones of this node, or fewer if other runs have leased some."""
    server = running_server(config.devices.android.adb_port)
    with ExitStack() as opened:
        free = reserve_serials(
            server, config.devices.serials, wanted, Path(folder), opened, fewer=True
        )
        host = socket.gethostname()
        return look_at_phones(config, {f"{host} phone {n}": each for n, each in enumerate(free)})


def _look(node: Node, config: TrainingConfig, folder: Path, wanted: int) -> Any:
    task = ray.remote(look_at_free_phones).options(
        num_cpus=0,
        max_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
        runtime_env={"env_vars": {**WANTED, **ONE_THREAD}},
    )
    return task.remote(config, str(folder), wanted)


def _answer(call: Any, node: Node) -> Sizes:
    try:
        sizes: Sizes = ray.get(call)
    except RayTaskError as error:
        if isinstance(error.cause, DistrlError):
            raise error.cause from None
        raise
    except RayError as error:  # the node is lost: its collectors wait, or go elsewhere
        log.warning("%s was lost while its phones were looked at: %s", node.place, error)
        return {}
    return sizes
