"""Starts one policy server on each node that has collectors, and replaces servers that fail.

A server is started when the first collector registers on its node. One that dies, fails or stops
answering is replaced on the same node after a growing pause (`RestartBudget`); if its node is gone,
it is dropped. When every server has exhausted its budget, `failure` says so. Nothing here blocks:
collectors wait for their server themselves (`PolicyClient`).

Ray's own `max_restarts` is 0: Ray restarts only actors whose process died, at once and without
noticing that one hangs or that its model fails again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.placement import Node, alive_nodes, computing_on, is_done, server_options
from distrl.engine.ray.policy_server import ServerReport
from distrl.engine.ray.policy_server_actor import find_server, server_actor, server_name
from distrl.engine.supervision.restart_budget import (
    MAX_PAUSE,
    SILENT_START_SECONDS,
    RestartBudget,
    patience_of,
)
from distrl.errors import PolicyServerGone

POLL_SECONDS = 1.0  # between two requests for a server's report
WEIGHT_POLL_SECONDS = 0.25  # between a server's requests for newer weights


@dataclass(slots=True)
class _Server:
    """The server of one node: running (`serving` is its one long call), or due at `start_at`."""

    number: int
    node: Node
    gpus: float
    budget: RestartBudget
    starts: int = 0
    actor: Any = None
    serving: Any = None
    reporting: Any = None  # the request for its report, while one is open
    poll_at: float = 0.0
    heard: float = 0.0  # when it last reported, or was started
    report: ServerReport | None = None  # of this start
    start_at: float = 0.0
    trouble: str = ""  # why the last one ended
    given_up: bool = False  # its budget is exhausted; still tried every MAX_PAUSE

    @property
    def name(self) -> str:
        return f"server-{self.number}.{self.starts}"


class PolicyServerPool:
    """The policy servers of a run, for the process that owns their actors."""

    def __init__(
        self, config: TrainingConfig, run: str, learner: Any, say: Callable[[str], None]
    ) -> None:
        self._config = config
        self._run = run
        self._learner = learner
        self._say = say
        self._servers: dict[str, _Server] = {}  # by place
        self._count = 0
        self._patience = patience_of(config.collection.heartbeat_seconds)

    def waited_for(self) -> list[Any]:
        """Ray references to wait on: when one is ready, call `look_after`."""
        return [each.serving for each in self._servers.values() if each.serving is not None]

    def serve_at(self, places: Collection[str], learner: str) -> None:
        """Add a server for each of these places; `learner` is the learner's own place."""
        if all(place in self._servers for place in places):
            return
        for node in alive_nodes():
            if node.place in places and node.place not in self._servers:
                budget = RestartBudget(self._config.collection.restarts)
                gpus = self._gpus(node, learner)
                self._servers[node.place] = _Server(self._count, node, gpus, budget)
                self._count += 1

    def _gpus(self, node: Node, learner: str) -> float:
        """Its share of the node's GPUs; 0 where the learner has them all."""
        share = self._config.engine.server_gpus
        free = node.resources.get("GPU", 0.0) - (1.0 if node.place == learner else 0.0)
        return share if share <= free else 0.0

    def look_after(self, now: float) -> None:
        """Replace servers that ended, kill those that hang, start those that are due."""
        for server in list(self._servers.values()):
            if server.serving is None:
                if now >= server.start_at:
                    self._start(server, now)
            elif is_done(server.serving):
                self._on_exit(server, now)
            else:
                self._poll(server, now)

    def words(self) -> str:
        """Where the servers are, and their mean batch sizes."""
        return ", ".join(
            f"{place} (batch {each.report.batcher.mean_batch:.1f})"
            if each.report
            else f"{place} (–)"
            for place, each in sorted(self._servers.items())
        )

    @property
    def failure(self) -> PolicyServerGone | None:
        """The error that ends a run without any server; None while there is one."""
        servers = list(self._servers.values())
        if not servers or not all(each.given_up for each in servers):
            return None
        return PolicyServerGone(
            f"all policy servers ({len(servers)}) failed more than collection.restarts="
            f"{self._config.collection.restarts} times within minutes; the last words were: "
            f"{servers[0].trouble}"
        )

    def kill(self) -> None:
        """Kill all servers."""
        for each in self._servers.values():
            if each.actor is not None:
                ray.kill(each.actor)
        self._servers = {}

    def _start(self, server: _Server, now: float) -> None:
        if find_server(self._run, server.node.place) is not None:
            return  # the one before was killed a moment ago and still has the name
        config, place = self._config, server.node.place
        device = config.agent.policy.device if server.gpus else "cpu"
        options = server_options(server.node, server.gpus)
        server.starts += 1
        server.actor = server_actor(
            config.devices.count, name=server_name(self._run, place), **options
        ).remote(self._learner, computing_on(device, config), server.name, WEIGHT_POLL_SECONDS)
        server.serving = server.actor.serve.remote()
        server.reporting, server.report, server.heard, server.poll_at = None, None, now, now

    def _poll(self, server: _Server, now: float) -> None:
        if server.reporting is not None and is_done(server.reporting):
            self._on_report(server, now)
        if server.reporting is None and now >= server.poll_at:
            server.reporting, server.poll_at = server.actor.report.remote(), now + POLL_SECONDS
        if now - server.heard > (self._patience if server.report else SILENT_START_SECONDS):
            trouble = "hangs" if server.report else f"is not ready in {SILENT_START_SECONDS:g} s"
            self._say(f"{server.name} on {server.node.place} {trouble}, and is ended")
            ray.kill(server.actor)
            server.heard = now

    def _on_report(self, server: _Server, now: float) -> None:
        reporting, server.reporting = server.reporting, None
        try:
            report: ServerReport | None = ray.get(reporting)
        except RayError:
            return  # the end of its long call says why
        if report is None:
            return  # still loading its model
        if server.report is None:
            device = "a GPU" if server.gpus else "the CPU"
            self._say(f"{server.name} is on {server.node.place}, and decides on {device}")
        server.report, server.heard = report, now
        server.given_up = server.given_up and not report.batcher.decisions

    def _on_exit(self, server: _Server, now: float) -> None:
        """Say why it ended, and schedule another unless its node is gone."""
        ray.kill(server.actor)
        try:
            ray.get(server.serving)
        except RayTaskError as error:
            server.trouble = f"{server.name} on {server.node.place} failed: {error.cause!r}"
        except RayError as error:
            lost = f"was lost ({type(error).__name__})"
            server.trouble = f"{server.name} on {server.node.place} {lost}"
        server.serving = server.reporting = server.actor = None
        self._say(server.trouble)
        if server.node.id not in {node.id for node in alive_nodes()}:
            del self._servers[server.node.place]
            return
        worked = server.report is not None and server.report.batcher.decisions > 0
        pause = server.budget.pause_after_failure(now, had_worked=worked)
        server.given_up = pause is None
        server.start_at = now + (MAX_PAUSE if pause is None else pause)
