"""Which part of a run goes to which node of the cluster, and where a process is.

The learner goes to a node with a GPU if there is one, else to the node that the command runs on. It
stays there, also when the run is resumed: its directory is on that node's disk, unless all nodes
share one (`shared_storage`). It is bound to the node's address, not to its id: a node that was cut
off and joins again has another id, but the same disk.

A collector reserves one unit for each of its phones, of the resource that `engine.phones` names; if
that is auto and no node has phones, it reserves a share of the CPUs. Ray picks the node, queues
collectors while there is none, and uses a node as soon as it joins. A policy server goes to the
node whose collectors ask it, and nowhere else.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util import get_node_ip_address
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from distrl.config.sections import EngineSettings
from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.cluster.connection import head_address
from distrl.engine.ray.cluster.ray_internals import control_store
from distrl.engine.run.losses import LearnerHome
from distrl.errors import ClusterUnreachable
from distrl.process_environment import ONE_THREAD, WANTED
from distrl.watched_threads import WatchedThreads

HEAD_SECONDS = 40.0  # for an answer of the head, which may be restarting
ANSWER_SECONDS = 10  # of these for one request
AGAIN_SECONDS = 0.5  # before the head is asked again
LEARNER_RESTARTS = 20  # by Ray: a learner that dies more often than that does not get better
ANYWHERE = ("simulated", "browser")  # kinds of devices that need nothing of a node but CPUs
PHONE = "phone"  # the resource that nodes with phones have, if no other is named


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is alive."""

    id: str
    place: str
    resources: dict[str, float]
    hostname: str = ""
    address: str = ""


def place_of(address: str, node_id: str) -> str:
    """Return a node's name for people; two nodes on one machine have different names."""
    return f"{address}/{node_id[:6]}"


def this_place() -> str:
    """Return the name of this process's node."""
    return place_of(get_node_ip_address(), ray.get_runtime_context().get_node_id())


def is_done(call: Any) -> bool:
    """Return whether a call to an actor has a result or an error. Never blocks."""
    return bool(ray.wait([call], timeout=0)[0])


def alive_nodes() -> list[Node]:
    """Ask the head for the live nodes; raise `ClusterUnreachable` after `HEAD_SECONDS`.

    `ray.nodes()` has no deadline. A request that was in flight when the link was cut is retried by
    Ray for ever, and Ray ends the whole process if the answer is that its token is not known any
    more, as after a `disconnect`. So we ask the head ourselves, with a deadline.
    """
    answer: Future[list[Node]] = Future()
    until, address = time.monotonic() + HEAD_SECONDS, head_address()
    asking = WatchedThreads("nodes", lambda: _ask_head(answer, address, until), lambda: None)
    asking.start()
    asking.join(HEAD_SECONDS)
    asking.raise_failure()
    if not answer.done():
        raise ClusterUnreachable(
            f"the head of the cluster has not answered for {HEAD_SECONDS:g} s; when it does, go on "
            "with distrl train --resume RUN"
        )
    return answer.result()


def _ask_head(answer: Future[list[Node]], address: str, until: float) -> None:
    while time.monotonic() < until:
        try:
            found = control_store(address).get_all_node_info(timeout=ANSWER_SECONDS).values()
            answer.set_result([_node(each) for each in found if each.state == each.ALIVE])
            return
        except RayError:  # the head is being restarted
            time.sleep(AGAIN_SECONDS)


def _node(info: Any) -> Node:
    name = info.node_id.hex()
    return Node(
        name,
        place_of(info.node_manager_address, name),
        dict(info.resources_total),
        info.node_manager_hostname,
        info.node_manager_address,
    )


def learner_node(
    nodes: list[Node], here: str, gpus: int = 1, home: LearnerHome | None = None
) -> Node | None:
    """Return the learner's node; None if the one it was on (`home`) is not in the cluster now.

    `here`: the id of the node that the command runs on; `gpus`: how many share each update.
    """
    if home is not None:
        names = [node for node in nodes if node.hostname == home.hostname]
        return next((node for node in names if node.address == home.address), None) or next(
            iter(names), None
        )
    with_gpu = [node for node in nodes if node.resources.get("GPU", 0.0) >= gpus]
    at_home = [node for node in nodes if node.id == here]
    return sorted(with_gpu or at_home or nodes, key=lambda each: (each.id != here, each.id))[0]


def learner_options(
    settings: EngineSettings, nodes: list[Node], node: Node, gpus: int = 1
) -> dict[str, Any]:
    threads = str(max(1, int(node.resources.get("CPU", 1.0))))
    options: dict[str, Any] = {
        "num_cpus": 0,
        "num_gpus": gpus if node.resources.get("GPU", 0.0) >= gpus else 0,
        "max_restarts": LEARNER_RESTARTS,
        "max_task_retries": -1,
        "runtime_env": {"env_vars": {**WANTED, "OMP_NUM_THREADS": threads}},
    }
    by_address = f"node:{node.address}"  # a resource that Ray gives every node
    if not settings.shared_storage and sum(by_address in each.resources for each in nodes) == 1:
        return options | {"resources": {by_address: 0.001}}
    affinity = NodeAffinitySchedulingStrategy(node.id, soft=settings.shared_storage)
    return options | {"scheduling_strategy": affinity}


def computing_on(device: str, config: TrainingConfig) -> TrainingConfig:
    """Return settings to only run the policy, on that torch device, in full precision."""
    policy = replace(config.agent.policy, device=device)
    learner = replace(config.learning.learner, precision="full")
    return replace(
        config,
        agent=replace(config.agent, policy=policy),
        learning=replace(config.learning, learner=learner),
    )


def server_options(node: Node, gpus: float) -> dict[str, Any]:
    """Return the options of a node's policy server; without a GPU it may use all cores."""
    threads = "1" if gpus else str(max(1, int(node.resources.get("CPU", 1.0))))
    return {
        "num_cpus": 0,
        "num_gpus": gpus,
        "max_restarts": 0,  # a new one is started in its place
        "scheduling_strategy": NodeAffinitySchedulingStrategy(node.id, soft=False),
        "runtime_env": {"env_vars": {**WANTED, "OMP_NUM_THREADS": threads}},
    }


def phone_resource(config: TrainingConfig, nodes: list[Node]) -> str | None:
    """Return the resource that a collector reserves for each phone; None: it reserves CPUs.

    In a run of several environments, devices that can run on any node reserve no phones.
    """
    if config.environment and config.devices.kind in ANYWHERE:
        return None
    if config.engine.phones != "auto":
        return config.engine.phones
    return PHONE if any(node.resources.get(PHONE) for node in nodes) else None


def collector_options(config: TrainingConfig, nodes: list[Node], number: int) -> dict[str, Any]:
    all_collectors = config.collector_count
    config, place = config.of_collector(number)
    options: dict[str, Any] = {
        "num_gpus": config.engine.collector_gpus,
        "max_restarts": 0,  # `collector_pool` says why
        "runtime_env": {"env_vars": {**WANTED, **ONE_THREAD}},
    }
    resource = phone_resource(config, nodes)
    if resource is not None:
        phones = len(range(place, config.devices.count, config.collection.collectors))
        options |= {"num_cpus": 0, "resources": {resource: phones}}
    else:
        cpus = sum(node.resources.get("CPU", 0.0) for node in nodes)
        options["num_cpus"] = min(1.0, int(1000 * cpus / all_collectors) / 1000)
    return options
