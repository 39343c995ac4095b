"""A collector as a Ray actor: one call plays to the end of the run, or fails and is replaced.

It calls the learner, never the other way round: it registers, delivers each trajectory and waits
for its acknowledgement, and sends heartbeats, whose replies carry the pace, new weights and the
order to stop. If the learner dies, calls wait until Ray has restarted it; episodes go on meanwhile.
A collector that has had no reply for `LOST_SECONDS` abandons its episodes and fails, so that its
phones are left alone within a minute of a lost connection.
The collector inside is the class that every engine uses; a `Build` makes it, `ConfiguredBuild` from
the settings of the run.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.delivery import TrajectorySender
from distrl.engine.ingest.messages import Delivery, Heartbeat
from distrl.engine.local.process_lifetime import log_to_stderr
from distrl.engine.ray.placement import this_place
from distrl.engine.ray.weight_broadcast import WeightReceiver, WeightRef
from distrl.engine.serving.policy_client import PolicyClient
from distrl.engine.supervision.collector_registry import (
    CollectorInfo,
    HeartbeatReply,
    PacedAdmission,
    Registration,
)
from distrl.episodes.collector import Collector
from distrl.episodes.scheduler import Admission
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.errors import CollectorsLost, DeviceError, LearnerGone
from distrl.runs.run_directory import RunDirectory
from distrl.watched_threads import WatchedThreads
from distrl.weights.weight_store import WeightSource

LAST_SECONDS = 5.0  # for weights that are under way at the end
LOST_SECONDS = 40.0  # without a reply to a call; a blocked device may take ten more to abandon
Build = Callable[
    [CollectorInfo, TrajectorySink, WeightSource, Admission, ExitStack], Collector[Any]
]

log = logging.getLogger(__name__)


@dataclass(slots=True)
class LearnerLink:
    """Runs one collector by the learner's replies to its heartbeats."""

    learner: Any
    info: CollectorInfo
    collector: Collector[Any]
    admission: PacedAdmission
    weight_receiver: WeightReceiver
    beat_seconds: float
    heartbeat_seconds: float
    fetches_weights: bool = field(kw_only=True)
    lost_seconds: float = LOST_SECONDS
    _over: threading.Event = field(default_factory=threading.Event)
    _told_to_stop: bool = False
    _superseded: bool = False
    _last_full: float = -float("inf")  # when the last full heartbeat was sent

    def play(self) -> None:
        """Play until the learner says that the run is over; then deregister.

        Heartbeats go on while the first weights are fetched.
        """
        offer = self._beat()
        beats = WatchedThreads("heartbeats", self._beat_on, self._end)
        fetches = WatchedThreads(
            "weights", lambda: self.weight_receiver.fetch_all(self._goes_on), self._end
        )
        beats.start()
        try:
            if offer is not None:
                self.weight_receiver.fetch(offer)
            fetches.start()
            self.collector.run()
        except DeviceError:
            self._end_beats(beats)
            self._send_last_heartbeat()
            raise
        finally:
            self._over.set()
        self._end_beats(beats)
        beats.raise_failure()
        fetches.join(LAST_SECONDS)
        fetches.raise_failure()
        if self._superseded:
            raise CollectorsLost(f"{self.info} was given up by the learner, and replaced")
        self.weight_receiver.close()
        self._reply(self.learner.deregister.remote(self.info, self._heartbeat(last=True)))
        self._heard()

    def _end_beats(self, beats: WatchedThreads) -> None:
        self._over.set()
        beats.join(self.lost_seconds)

    def _send_last_heartbeat(self) -> None:
        """Tell the learner which phones failed and why, for example when all of them hang."""
        self._last_full = -float("inf")
        with suppress(LearnerGone, RayError):  # the device's error is raised, not this
            self._beat()

    def _goes_on(self) -> bool:
        return not self._over.is_set()

    def _end(self) -> None:
        """Stop the collector if a thread ended before the run: that thread has failed."""
        if self._goes_on():
            self.collector.stop()

    def _beat_on(self) -> None:
        while not self._over.wait(self.beat_seconds):
            self.weight_receiver.offer(self._beat())

    def _beat(self) -> WeightRef | None:
        """Send a heartbeat and obey the reply; return newer weights, if there are any."""
        now = time.monotonic()
        full = now - self._last_full >= self.heartbeat_seconds
        self._last_full = now if full else self._last_full
        orders: HeartbeatReply
        offer: WeightRef | None
        orders, offer = self._reply(
            self.learner.heartbeat.remote(
                self.info,
                self.collector.report().in_flight,
                self._heartbeat() if full else None,
                self.weight_receiver.version if self.fetches_weights else None,
                self.collector.live.drain(),
            )
        )
        if full:
            self._heard()
        if orders.watched:
            self.collector.live.told_watched()
        self.admission.pace = orders.pace
        self._superseded |= orders.superseded
        if orders.finish_within is not None and not self._told_to_stop:
            self._told_to_stop = True
            self.collector.stop(orders.finish_within)
        return offer

    def _reply(self, call: Any) -> Any:
        """Wait for an answer; raise `LearnerGone` after `lost_seconds`, the same for all calls."""
        try:
            return ray.get(call, timeout=self.lost_seconds)
        except GetTimeoutError:
            raise LearnerGone(
                f"{self.info} had no reply of the learner for {self.lost_seconds:g} s and leaves "
                "its phones alone; another collector is started when the learner answers"
            ) from None

    def _heartbeat(self, *, last: bool = False) -> Heartbeat:
        finished, outbox = tuple(self.collector.drain_finished()), self.collector.refusals
        return Heartbeat(
            self.collector.report(),
            finished,
            json.dumps(self.collector.state()),
            None if outbox is None else outbox.batch(last=last),
        )

    def _heard(self) -> None:
        """Mark the refusals of a full heartbeat as received: it was answered."""
        if self.collector.refusals is not None:
            self.collector.refusals.sent()


@dataclass
class RayCollector:
    """The actor: one collector of a run."""

    learner: Any
    number: int
    build: Build
    beat_seconds: float
    heartbeat_seconds: float
    fetches_weights: bool = field(
        default=True, kw_only=True
    )  # False: a policy server decides for it

    def play(self) -> str:
        """Play until the run is over; return the collector's name."""
        log_to_stderr()
        process = ray.get_runtime_context().get_actor_id()
        registration: Registration = ray.get(
            self.learner.register.remote(self.number, this_place(), process)
        )
        sender: TrajectorySender = TrajectorySender(lambda delivery: deliver(delivery))

        def deliver(delivery: Delivery) -> None:
            try:
                sender.answered(ray.get(self.learner.deliver.remote(delivery.trajectory)))
            except RayError as error:
                raise EOFError(str(error)) from error

        with ExitStack() as opened:
            admission, weight_receiver = PacedAdmission(), WeightReceiver()
            collector = self.build(registration.info, sender, weight_receiver, admission, opened)
            if registration.state:
                collector.load_state(json.loads(registration.state))
            log.info("%s is ready", registration.info.name)
            LearnerLink(
                self.learner,
                registration.info,
                collector,
                admission,
                weight_receiver,
                self.beat_seconds,
                self.heartbeat_seconds,
                fetches_weights=self.fetches_weights,
            ).play()
        return registration.info.name


@dataclass(slots=True)
class ConfiguredBuild:
    """Builds collectors from the settings of the run (`wiring`).

    If each node has one policy for all (`engine.policy`), the collector opens no model: it asks the
    policy server of its node, which may start later than the collector.
    """

    config: TrainingConfig
    run: str

    def __call__(
        self,
        info: CollectorInfo,
        sink: TrajectorySink,
        weights: WeightSource,
        admission: Admission,
        opened: ExitStack,
    ) -> Collector[Any]:
        from distrl.agent.torch_device import use_threads  # loads torch: imported only when needed
        from distrl.engine.adb_wiring import recording_in
        from distrl.engine.ray.policy_server_pool import find_server
        from distrl.engine.wiring import build_collector

        run = RunDirectory(Path(self.run))
        run.make()
        logs = run.path / "logs"  # of emulators, on their own node
        logs.mkdir(exist_ok=True)
        batcher = None
        if self.config.one_policy_per_node:
            batcher = PolicyClient(info.name, partial(find_server, self.run, info.place))
        use_threads(self.config.collection.threads)
        config, number = self.config.of_collector(info.number)
        config, outbox = recording_in(config, logs / f"refusals-{info.number}.jsonl")
        collector = build_collector(
            config,
            info.name,
            number,
            sink=sink,
            weights=weights,
            admission=admission,
            opened=opened,
            logs=logs,
            batcher=batcher,
        )
        collector.refusals = outbox
        return collector


def collector_actor(**options: Any) -> Any:
    """The actor class, to be started with `.remote`."""
    return ray.remote(RayCollector).options(**options)
