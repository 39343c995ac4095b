"""The policy server of a node as a Ray actor, and the connection that collectors use.

Collectors find the actor by a name that contains run and node, so that a replacement is found in
the same way. One call, `serve`, opens the model, fetches the newest weights and answers until it is
killed or fails; Ray repeats nothing, `PolicyServerPool` starts a replacement. Newer weights are
fetched from the learner while it decides, and loaded between two batches.

Observations go from collector to server through the object store of their node.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from distrl.config.training_config import TrainingConfig
from distrl.engine.local.process_lifetime import log_to_stderr
from distrl.engine.ray.policy_server import PolicyServer, ServerReport
from distrl.engine.ray.weight_broadcast import WeightReceiver, WeightRef
from distrl.episodes.policy_batcher import PolicyBatcherSettings
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation
from distrl.watched_threads import WatchedThreads

REPORT_SECONDS = 0.5  # to wait for a report
LAST_SECONDS = 5.0  # for the weight thread to end
MAX_WAITING = 2 * PolicyBatcherSettings().most  # one batch under way, and the next one complete

log = logging.getLogger(__name__)


class RayPolicyServer:
    """A server of a run. `name` is for messages, and seeds its draws."""

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
        from distrl.engine.wiring import build_server  # loads torch, and only there

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

    def ask(self, session: str, observation: Observation) -> Callable[[float], Decision | None]:
        return partial(_got, self._actor.ask.remote(session, observation))

    def leave(self, session: str) -> None:
        self._actor.leave.remote(session)  # not waited for

    def report(self) -> ServerReport | None:
        report: ServerReport | None = _got(self._actor.report.remote(), REPORT_SECONDS)
        return report


def find_server(run: str, place: str) -> RayServerLine | None:
    """The server of that node, perhaps not ready yet; None if there is none."""
    try:
        return RayServerLine(ray.get_actor(server_name(run, place)))
    except ValueError:  # no actor of that name
        return None


def _got(reference: Any, seconds: float) -> Any:
    """The result of a call; None: not yet. An error of the server itself is raised as it is."""
    try:
        return ray.get(reference, timeout=seconds)
    except GetTimeoutError:
        return None
    except RayTaskError:
        raise
    except RayError as error:
        raise PolicyServerGone(
            f"the policy server of this node is gone ({type(error).__name__}); another is started"
        ) from error
