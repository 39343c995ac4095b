"""A collector as a Ray actor: one call plays to the end of the run, or fails and is started anew.

It calls the learner, never the other way round: it enlists, delivers each trajectory and waits for
its acknowledgement, and sends beats, whose answers bring the pace, new weights and the end. Should
the learner die, its calls wait until Ray has it back; episodes go on meanwhile. The collector in it
is the same class as everywhere; `build` says how it is made.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import ray
from ray.exceptions import RayError

from distrl.engine.ingest.messages import Delivery, Heartbeat
from distrl.engine.ingest.trajectory_sender import TrajectorySender
from distrl.engine.local.paced_admission import PacedAdmission
from distrl.engine.local.process_log import begin_log
from distrl.engine.ray.ray_place import this_place
from distrl.engine.ray.weight_broadcast import WeightReceiver, WeightRef
from distrl.engine.supervision.collector_registry import CollectorInfo, HeartbeatReply, Registration
from distrl.episodes.collector import Collector, TrajectorySink
from distrl.episodes.scheduler import Admission
from distrl.watched_threads import WatchedThreads
from distrl.weights.weight_updater import WeightSource

LAST_SECONDS = 5.0  # for the last word
Build = Callable[
    [CollectorInfo, TrajectorySink, WeightSource, Admission, ExitStack], Collector[Any]
]

log = logging.getLogger(__name__)


class Correspondence:
    """What one collector and the learner tell each other, in threads of their own."""

    def __init__(
        self,
        learner: Any,
        info: CollectorInfo,
        collector: Collector[Any],
        admission: PacedAdmission,
        weight_receiver: WeightReceiver,
        beat_seconds: float,
        heartbeat_seconds: float,
        *,
        fetches_weights: bool,
    ) -> None:
        self._learner = learner
        self._info = info
        self._collector = collector
        self._admission = admission
        self._weight_receiver = weight_receiver
        self._beat_seconds = beat_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._fetches_weights = fetches_weights
        self._over = threading.Event()
        self._told_to_stop = False
        self._beaten = -float("inf")  # when all was told for the last time

    def play(self) -> None:
        """Play until the learner says that it is over."""
        if (offer := self._beat()) is not None:
            self._weight_receiver.fetch(offer)
        threads = [
            WatchedThreads("beats", self._beat_on, self._end),
            WatchedThreads(
                "weights", lambda: self._weight_receiver.fetch_all(self._goes_on), self._end
            ),
        ]
        for thread in threads:
            thread.start()
        try:
            self._collector.run()
        finally:
            self._over.set()
        for thread in threads:
            thread.join(LAST_SECONDS)
            thread.raise_failure()
        ray.get(self._learner.leave.remote(self._info, self._heartbeat()), timeout=LAST_SECONDS)

    def _goes_on(self) -> bool:
        return not self._over.is_set()

    def _end(self) -> None:
        """A thread has ended: all must, if it was not the end anyway."""
        if self._goes_on():
            self._collector.stop()

    def _beat_on(self) -> None:
        while not self._over.wait(self._beat_seconds):
            self._weight_receiver.offer(self._beat())

    def _beat(self) -> WeightRef | None:
        """Tell how it goes, and do what the answer says; returns newer weights, if there are."""
        now = time.monotonic()
        full = now - self._beaten >= self._heartbeat_seconds
        self._beaten = now if full else self._beaten
        answer: tuple[HeartbeatReply, WeightRef | None] = ray.get(
            self._learner.beat.remote(
                self._info,
                self._collector.report().in_flight,
                self._heartbeat() if full else None,
                self._weight_receiver.version if self._fetches_weights else None,
            )
        )
        orders, offer = answer
        self._admission.pace = orders.pace
        if orders.finish_within is not None and not self._told_to_stop:
            self._told_to_stop = True
            self._collector.stop(orders.finish_within)
        return offer

    def _heartbeat(self) -> Heartbeat:
        finished = tuple(self._collector.drain_finished())
        return Heartbeat(self._collector.report(), finished, json.dumps(self._collector.state()))


class RayCollector:
    """Collector number so-and-so of a run."""

    def __init__(
        self,
        learner: Any,
        number: int,
        build: Build,
        beat_seconds: float,
        heartbeat_seconds: float,
        *,
        fetches_weights: bool = True,  # False: somebody else decides for it
    ) -> None:
        self._learner = learner
        self._number = number
        self._build = build
        self._beat_seconds = beat_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._fetches_weights = fetches_weights

    def play(self) -> str:
        """The whole of it; returns its name when the run is over."""
        begin_log()
        registration: Registration = ray.get(
            self._learner.register.remote(self._number, this_place())
        )
        sender: TrajectorySender = TrajectorySender(lambda delivery: deliver(delivery))

        def deliver(delivery: Delivery) -> None:
            try:
                sender.answered(ray.get(self._learner.deliver.remote(delivery.trajectory)))
            except RayError as error:
                raise EOFError(str(error)) from error

        with ExitStack() as opened:
            admission, weight_receiver = PacedAdmission(), WeightReceiver()
            collector = self._build(registration.info, sender, weight_receiver, admission, opened)
            if registration.state:
                collector.load_state(json.loads(registration.state))
            log.info("%s is ready", registration.info.name)
            Correspondence(
                self._learner,
                registration.info,
                collector,
                admission,
                weight_receiver,
                self._beat_seconds,
                self._heartbeat_seconds,
                fetches_weights=self._fetches_weights,
            ).play()
        return registration.info.name


def collector_actor(**options: Any) -> Any:
    """The actor class, to be started with `.remote`."""
    return ray.remote(RayCollector).options(**options)
