"""One session of a joined collector: plays by the learner's orders until it ends or is lost.

    heartbeats   every second or so; the replies bring the pace, the newest weights and the end
    deliveries   from the spool to the learner, sent again until it has stored them
    weights      fetched to the disk; the collector loads them between two decisions

The collector plays in the calling thread. After `QUIET_SECONDS` without an answer of the learner it
starts no episode; after `LOST_SECONDS` it stops, and running episodes have `FINISH_SECONDS` more.
So no phone is touched later than a minute after the last answer. Episodes that finished by then
are in the spool.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.join.join_messages import Deliveries, JoinHeartbeat, Orders, WeightOffer
from distrl.engine.join.learner_client import LearnerClient
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.supervision.collector_registry import PacedAdmission
from distrl.episodes.collector import Collector
from distrl.episodes.collector_report import MAX_FINISHED, FinishedEpisode
from distrl.errors import CorruptWeights, DeviceError, JoinRefused, LearnerGone, PolicyServerGone
from distrl.watched_threads import WatchedThreads
from distrl.weights.weight_store import WeightStore

QUIET_SECONDS = 10.0  # without an answer: start nothing
LOST_SECONDS = 30.0  # without an answer: stop
FINISH_SECONDS = 15.0  # for running episodes, once the learner is lost
RETRY_SECONDS = 1.0  # between two attempts
IDLE_SECONDS = 0.05  # between two looks at the spool
LAST_SECONDS = 5.0  # for threads to end, and for deliveries after the learner's own deadline

End = Literal["over", "lost", "superseded", "stopped"]
log = logging.getLogger(__name__)


class LinkedAdmission(PacedAdmission):
    """Implements `Admission`: follows the learner's pace, and starts nothing if it is silent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self.heard = clock()  # when the learner last answered

    @property
    def silence(self) -> float:
        return self._clock() - self.heard

    def hear(self) -> None:
        self.heard = self._clock()

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        return self.silence < QUIET_SECONDS and super().may_start(weight_version, in_flight)


@dataclass(slots=True)
class JoinSession:
    """Runs one collector; use it once."""

    client: LearnerClient
    collector: Collector[Any]
    spool: TrajectorySpool
    weights: WeightStore
    admission: LinkedAdmission
    heartbeat_seconds: float
    fetches_weights: bool = True  # False: the learner's policy decides
    end: End = "stopped"
    _over: threading.Event = field(default_factory=threading.Event)
    _offered: threading.Event = field(default_factory=threading.Event)
    _offer: WeightOffer | None = None
    _beat_seconds: float = RETRY_SECONDS
    _last_full: float = -float("inf")
    _told: float | None = None  # time until which the learner waits, after it ended the run
    _finished: list[FinishedEpisode] = field(default_factory=list)  # not reported yet

    def play(self) -> End:
        """Play to the end of the session; what could not be delivered stays in the spool."""
        threads = [
            WatchedThreads("heartbeats", self._beat_on, self._stop),
            WatchedThreads("weights", self._fetch_on, self._stop),
            WatchedThreads("deliveries", self._deliver_on, self._stop),
        ]
        for thread in threads:
            thread.start()
        try:
            self.collector.run()
            if self.end in ("over", "stopped"):
                self._finish()
        except PolicyServerGone as error:  # the learner's policy did not answer in time
            log.warning("%s", error)
            self._end_with("lost", 0.0)
        except (DeviceError, JoinRefused):  # for example, all phones hang: tell the learner
            self._end(threads)
            self._leave()
            raise
        finally:
            self._end(threads)
        for thread in threads:
            thread.raise_failure()
        if self.end in ("over", "stopped"):
            self._leave()
        return self.end

    def _end(self, threads: list[WatchedThreads]) -> None:
        self._over.set()
        self._offered.set()
        self.spool.release()
        for thread in threads:
            thread.join(LAST_SECONDS)

    def _stop(self) -> None:
        """Stop the collector if a thread ended before the session: that thread has failed."""
        if not self._over.is_set():
            self.collector.stop()

    def _finish(self) -> None:
        """Wait until all is delivered, at most as long as the learner waits for it."""
        until = max(self._told or 0.0, time.monotonic()) + LAST_SECONDS
        while (
            len(self.spool) and time.monotonic() < until and self.admission.silence < LOST_SECONDS
        ):
            self._over.wait(IDLE_SECONDS)

    def _leave(self) -> None:
        full = self._heartbeat(last=True)
        try:
            self.client.leave(JoinHeartbeat(0, full))
            self._reported(full)
        except (LearnerGone, JoinRefused) as error:
            log.warning("left without a word: %s", error)

    # Heartbeats ---------------------------------------------------------------------------------

    def _beat_on(self) -> None:
        while not self._over.is_set():
            self._beat()
            self._over.wait(self._beat_seconds)

    def _beat(self) -> None:
        """Send a heartbeat and obey the reply."""
        in_flight = self.collector.report().in_flight + len(self.spool)
        full = None
        if time.monotonic() - self._last_full >= self.heartbeat_seconds:
            full = self._heartbeat()
        try:
            orders = self.client.heartbeat(JoinHeartbeat(in_flight, full))
        except LearnerGone as error:
            log.warning("no answer for %.0f s: %s", self.admission.silence, error)
            self._beat_seconds = RETRY_SECONDS
            if self.admission.silence >= LOST_SECONDS:
                self._end_with("lost", FINISH_SECONDS)
        except JoinRefused as error:
            log.warning("the session has ended: %s", error)
            self._end_with("superseded", 0.0)
        else:
            if full is not None:
                self._last_full = time.monotonic()
                self._reported(full)
            self._obey(orders)

    def _obey(self, orders: Orders) -> None:
        reply = orders.reply
        self.admission.hear()
        self.admission.pace, self._beat_seconds = reply.pace, orders.beat_seconds
        if reply.superseded:
            self._end_with("superseded", 0.0)
        elif reply.finish_within is not None:
            if self._told is None:
                self._told = time.monotonic() + reply.finish_within
            self._end_with("over", reply.finish_within)
        if self.fetches_weights and orders.weights != self._offer:
            self._offer = orders.weights
            self._offered.set()

    def _end_with(self, end: End, finish_within: float) -> None:
        if self.end == "stopped":
            self.end = end
            self.collector.stop(finish_within)
            self.spool.release()  # so that `put` does not block a collector that stops

    def _heartbeat(self, *, last: bool = False) -> Heartbeat:
        """Return a full report, with the finished episodes whose trajectories are delivered."""
        self._finished = [*self._finished, *self.collector.drain_finished()][-MAX_FINISHED:]
        delivered = tuple(each for each in self._finished if each.id not in self.spool)
        outbox = self.collector.refusals
        return Heartbeat(
            self.collector.report(),
            delivered,
            json.dumps(self.collector.state()),
            None if outbox is None else outbox.batch(last=last),
        )

    def _reported(self, full: Heartbeat) -> None:
        """Forget what a full report contained: the learner has received it."""
        reported = {each.id for each in full.finished}
        self._finished = [each for each in self._finished if each.id not in reported]
        if self.collector.refusals is not None:
            self.collector.refusals.sent()

    # Deliveries and weights -----------------------------------------------------------------------

    def _deliver_on(self) -> None:
        while not self._over.is_set():
            batch = self.spool.batch(RETRY_SECONDS)
            if not batch:
                self._over.wait(IDLE_SECONDS)
                continue
            try:
                reply = self.client.deliver(Deliveries(tuple(each.data for each in batch)))
            except (LearnerGone, JoinRefused) as error:
                log.warning("%d trajectories wait: %s", len(self.spool), error)
                self._over.wait(RETRY_SECONDS)
                continue
            self.admission.hear()
            self.spool.delivered([trajectory_id for trajectory_id, _ in reply.received])
            for place, reason in reply.unusable:
                self.spool.set_aside(batch[place], reason)
            if reply.refused:
                log.warning("not stored, will be sent again: %s: %s", *reply.refused[0])
                self._over.wait(RETRY_SECONDS)

    def _fetch_on(self) -> None:
        while not self._over.is_set():
            self._offered.wait()
            self._offered.clear()
            offer = self._offer
            if offer is not None and not self._over.is_set() and not self._fetch(offer):
                self._over.wait(RETRY_SECONDS)
                self._offered.set()  # retry this offer, or a newer one

    def _fetch(self, offer: WeightOffer) -> bool:
        """Fetch them to the disk; return True if they are there, or no longer available."""
        return fetch_weights(self.client, self.weights, offer)


def fetch_weights(client: LearnerClient, weights: WeightStore, offer: WeightOffer) -> bool:
    """Fetch the offered weights unless they are on this disk; return False if a retry may help."""
    latest = weights.latest_version()
    if latest is not None and latest >= offer.version:
        return True
    unfinished = weights.directory / f".fetched-{offer.digest}"
    for other in weights.directory.glob(".fetched-*"):
        if other != unfinished:
            other.unlink()
    try:
        client.fetch_weights(offer, unfinished)
        weights.adopt(unfinished, offer.version, offer.digest)
    except LearnerGone as error:
        log.warning("weights %d: %s", offer.version, error)
        return False
    except JoinRefused as error:
        log.info("weights %d: %s", offer.version, error)
        return True  # the next heartbeat offers newer ones
    except CorruptWeights as error:
        log.warning("%s", error)
        return False
    log.info("weights %d are here", offer.version)
    return True
