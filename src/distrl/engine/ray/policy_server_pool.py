"""The policy servers of a run: an actor on each node that has collectors, and their replacement.

A server is started when the first collector registers on its node. One that dies, fails or stops
answering is replaced on the same node after a growing pause (`RestartBudget`); if its node is gone,
it is dropped. When every server has exhausted its budget, `failure` says so. Nothing in the pool
blocks: collectors wait for their server themselves (`PolicyClient`). They find it by a name that
contains run and node, so that a replacement is found in the same way; observations go to it through
the object store of their node.

Ray's own `max_restarts` is 0: Ray restarts only actors whose process died, at once and without
noticing that one hangs or that its model fails again and again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from distrl.config.training_config import TrainingConfig
from distrl.engine.local.process_lifetime import log_to_stderr
from distrl.engine.ray.placement import Node, alive_nodes, computing_on, is_done, server_options
from distrl.engine.ray.weight_broadcast import WeightReceiver, WeightRef
from distrl.engine.serving.policy_server import SERVER_BATCH, PolicyServer, ServerReport
from distrl.engine.supervision.restart_budget import (
    MAX_PAUSE,
    SILENT_START_SECONDS,
    RestartBudget,
    patience_of,
)
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation
from distrl.watched_threads import WatchedThreads

POLL_SECONDS = 1.0  # between two requests for a server's report
WEIGHT_POLL_SECONDS = 0.25  # between a server's requests for newer weights
REPORT_SECONDS = 0.5  # to wait for a report
LAST_SECONDS = 5.0  # for the weight thread to end
MAX_WAITING = 2 * SERVER_BATCH  # one batch under way, and the next one complete

log = logging.getLogger(__name__)


class RayPolicyServer:
    """The actor: the server of a node. `name` appears in messages and seeds its sampling.

    One call, `serve`, opens the model, fetches the newest weights and answers until it is killed or
    fails. Newer weights are fetched while it decides, and loaded between two batches.
    """

    def __init__(
        self, learner: Any, config: TrainingConfig, name: str, beat_seconds: float
    ) -> None:
        self._learner = learner
        self._config = config
        self._name = name
        self._beat_seconds = beat_seconds
        self._server: PolicyServer | None = None
        self._ready = threading.Event()
        self._over = threading.Event()

    @ray.method(concurrency_group="serve")
    def serve(self) -> None:
        """Load the model and answer requests; returns only on a failure."""
        from distrl.engine.wiring import build_server  # loads torch: imported only when needed

        log_to_stderr()
        weight_receiver = WeightReceiver()
        server = build_server(self._config, self._name, weight_receiver)
        self._fetch(weight_receiver)  # no decision with outdated weights
        weights = WatchedThreads("weights", lambda: self._fetch_on(weight_receiver), self._over.set)
        weights.start()
        self._server = server
        self._ready.set()
        log.info("%s is ready", self._name)
        try:
            server.serve(lambda: not self._over.is_set())
        finally:
            self._over.set()
        weights.join(LAST_SECONDS)
        weights.raise_failure()

    def _fetch_on(self, weight_receiver: WeightReceiver) -> None:
        while not self._over.wait(self._beat_seconds):
            self._fetch(weight_receiver)

    def _fetch(self, weight_receiver: WeightReceiver) -> None:
        """Fetch newer weights, if any; waits for a learner that is being restarted."""
        offer: WeightRef | None = ray.get(
            self._learner.newer_weights.remote(weight_receiver.version)
        )
        if offer is not None:
            weight_receiver.fetch(offer)

    # For collectors and the pool ----------------------------------------------------------------

    @ray.method(concurrency_group="ask")
    def ask(self, session: str, observation: Observation) -> Decision:
        self._ready.wait()
        assert self._server is not None
        return self._server.ask(session, observation)

    @ray.method(concurrency_group="talk")
    def leave(self, session: str) -> None:
        if self._server is not None:
            self._server.leave(session)

    @ray.method(concurrency_group="talk")
    def report(self) -> ServerReport | None:
        """None: the model is still loading."""
        return self._server.report() if self._server is not None else None


def server_name(run: str, place: str) -> str:
    """The actor name of the server of a node."""
    return f"policy server of {run} on {place}"


def server_actor(phones: int, **options: Any) -> Any:
    """The actor class for up to `phones` concurrent requests, to be started with `.remote`."""
    groups = {"serve": 1, "ask": min(phones, MAX_WAITING), "talk": 2}
    remote: Any = ray.remote  # its types lack concurrency groups
    return remote(concurrency_groups=groups)(RayPolicyServer).options(**options)


class RayServerLine:
    """Implements `ServerLine` by an actor's handle."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        answer: Future[Decision] = Future()
        try:
            asked = self._actor.ask.remote(session, observation).future()
        except RayError as error:  # for example no room in the object store
            raise _unreachable(error) from error
        asked.add_done_callback(partial(_hand_on, answer))
        return answer

    def leave(self, session: str) -> None:
        self._actor.leave.remote(session)  # not waited for

    def report(self) -> ServerReport | None:
        report: ServerReport | None = _got(self._actor.report.remote(), REPORT_SECONDS)
        return report


def find_server(run: str, place: str) -> RayServerLine | None:
    """Return the server of that node, perhaps not ready yet; None if there is none.

    Raise `PolicyServerGone` if the head of the cluster does not answer.
    """
    try:
        return RayServerLine(ray.get_actor(server_name(run, place)))
    except ValueError:  # no actor of that name
        return None
    except RayError as error:  # under a high load it times out
        raise _unreachable(error) from error


def _got(reference: Any, seconds: float) -> Any:
    """Return the result of a call, None if not ready yet. Raise the server's own errors as is."""
    try:
        return ray.get(reference, timeout=seconds)
    except GetTimeoutError:
        return None
    except RayTaskError:
        raise
    except RayError as error:
        raise _unreachable(error) from error


def _hand_on(answer: Future[Decision], asked: Future[Decision]) -> None:
    """Copy the outcome of a call to `answer`; the server's own errors stay as they are."""
    error = asked.exception()
    if error is None:
        answer.set_result(asked.result())
    elif isinstance(error, RayError) and not isinstance(error, RayTaskError):
        answer.set_exception(_unreachable(error))
    else:
        answer.set_exception(error)


def _unreachable(error: RayError) -> PolicyServerGone:
    return PolicyServerGone(
        f"the policy server of this node cannot be reached ({type(error).__name__}); another is "
        "started if it is gone"
    )


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
        """Return the server's share of the GPUs; 0 if the node has too few beside the learner's."""
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
        if not self._name_is_free(server.node.place):
            return  # the previous one was just killed and still has the name
        config, place = self._config, server.node.place
        device = config.agent.policy.device if server.gpus else "cpu"
        options = server_options(server.node, server.gpus)
        server.starts += 1
        server.actor = server_actor(
            config.device_count, name=server_name(self._run, place), **options
        ).remote(self._learner, computing_on(device, config), server.name, WEIGHT_POLL_SECONDS)
        server.serving = server.actor.serve.remote()
        server.reporting, server.report, server.heard, server.poll_at = None, None, now, now

    def _name_is_free(self, place: str) -> bool:
        try:
            return find_server(self._run, place) is None
        except PolicyServerGone:
            return False  # unknown: the next `look_after` asks again

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
            return  # the result of `serve` tells why
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
