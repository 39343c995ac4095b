"""All collector processes of a run, and the thread that listens to them.

The thread takes in what they send (`receiver`), watches over them (`supervision`), and tells them
the pace. It never waits for the learner, so that devices go on while the learner computes. Whoever
owns the crew calls `start`, then `pace` or `play_round`, and in the end `stop`; an error in the
thread is raised by the next call of `check`.
"""

from __future__ import annotations

import dataclasses
import selectors
import threading
import time
from collections.abc import Callable

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import (
    Delivery,
    Heartbeat,
    Message,
    Pace,
    Play,
    Played,
    Stop,
    from_bytes,
)
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.engine.local.collector_child import CollectorChild
from distrl.engine.supervision.device_use import DeviceUse
from distrl.engine.supervision.supervisor import Supervision
from distrl.episodes.collector_report import CollectorReport
from distrl.watched_threads import WatchedThreads

LISTEN_SECONDS = 0.1  # how long the thread waits for messages before it looks around
PACE_SECONDS = 0.2  # between two words on the pace
LAST_SECONDS = 10.0  # after the deadline of a stop, for whoever still has to say something


class CollectorPool:
    """Runs collectors. `wake` is called when something happened that the owner may wait for."""

    def __init__(
        self,
        supervision: Supervision,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        say: Callable[[str], None],
        wake: Callable[[], None],
    ) -> None:
        self.supervision = supervision
        self.use = DeviceUse()
        self._receiver = receiver
        self._episode_log = episode_log
        self._say = say
        self._wake = wake
        self._selector = selectors.DefaultSelector()
        self._thread = WatchedThreads("crew", self._serve, wake)
        self._lock = threading.Lock()  # guards what follows
        self._pace = Pace(version=0)
        self._waiting = 0
        self._owed: dict[int, int] | None = None  # tasks left in the round; None: without end
        self._round_is_new = False
        self._stop_at: float | None = None
        self._paced = 0.0

    # The owner's side ---------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def pace(self, pace: Pace, waiting: int) -> None:
        """Who may start; `waiting` trajectories are on their way to the learner."""
        with self._lock:
            self._pace, self._waiting = pace, waiting

    def begin_round(self, tasks: int) -> None:
        """Have every collector play so many tasks; before the first round, call this first."""
        with self._lock:
            self._owed = dict.fromkeys(self.supervision.numbers, tasks)
            self._round_is_new = True

    @property
    def round_is_over(self) -> bool:
        """Has every collector that is left played what it was told to?"""
        with self._lock:
            owed = self._owed or {}
            return not any(owed.get(number, 0) for number in self.supervision.numbers)

    @property
    def unjudged(self) -> int:
        """Trajectories that wait for their verdict."""
        return self._receiver.unjudged

    def reports(self) -> list[CollectorReport]:
        """Of those that run and have told how they stand."""
        return [child.report for child in self._children() if child.report is not None]

    def check(self) -> None:
        """Raise what broke in the thread, if anything did."""
        self._thread.raise_failure()

    def stop(self, finish_within: float) -> None:
        """Tell all to end, and wait for it; who does not is killed."""
        with self._lock:
            self._stop_at = time.monotonic() + finish_within
        if not self._thread.join(finish_within + 2 * LAST_SECONDS):
            self.supervision.end_all()
        elif not self._receiver.settle(finish_within):
            self._receiver.release(all_of_them=True)
        self.check()

    def kill(self) -> None:
        """End all at once; without effect where all have ended."""
        with self._lock:
            self._stop_at = -float("inf")
        self._thread.join(LAST_SECONDS)
        self.supervision.end_all()

    # The thread ---------------------------------------------------------------------------------

    def _serve(self) -> None:
        told_to_stop = False
        try:
            while True:
                self._listen()
                self._receiver.release(all_of_them=told_to_stop)
                if self._stop_at is None:
                    self._look_after()
                elif not told_to_stop:
                    told_to_stop = True
                    self._tell_all(Stop(max(0.0, self._stop_at - time.monotonic())))
                elif self._all_gone() or time.monotonic() > self._stop_at + LAST_SECONDS:
                    return
        finally:
            for child in self.supervision.children:
                self._forget(child)
            self.supervision.end_all()
            self._selector.close()

    def _look_after(self) -> None:
        now = time.monotonic()
        for child in self.supervision.look(now):
            self._selector.register(child.link, selectors.EVENT_READ, child)
            self._begin(child)
        if now - self._paced >= PACE_SECONDS:
            self._paced = now
            self._tell_pace()
        with self._lock:
            new, self._round_is_new = self._round_is_new, False
        if new:
            for child in self._children():
                self._begin(child)

    def _begin(self, child: CollectorChild) -> None:
        """Tell it to play: without end, or what is left of the round."""
        child.send(self._pace)
        if self._owed is None:
            child.send(Play(None))
        elif not self._round_is_new and self._owed.get(child.number, 0):
            child.send(Play(self._owed[child.number]))

    def _tell_pace(self) -> None:
        in_flight = {c.number: c.report.in_flight if c.report else 0 for c in self._children()}
        for child in self._children():
            others = sum(in_flight.values()) - in_flight[child.number]
            elsewhere = self._waiting + self.unjudged + others
            child.send(dataclasses.replace(self._pace, elsewhere=elsewhere))

    def _tell_all(self, message: Message) -> None:
        for child in self._children():
            child.send(message)

    def _children(self) -> list[CollectorChild]:
        return self.supervision.children

    def _all_gone(self) -> bool:
        return not self._selector.get_map()

    def _listen(self) -> None:
        """Take in what has come. The end of a connection is the end of a collector."""
        for key, _ in self._selector.select(LISTEN_SECONDS):
            child: CollectorChild = key.data
            try:
                for frame in child.link.receive_all():
                    self._take(child, from_bytes(frame))
            except EOFError:
                self._selector.unregister(child.link)

    def _take(self, child: CollectorChild, message: Message) -> None:
        match message:
            case Delivery(encoded):
                self._receiver.deliver(encoded, child.send)
                self._count_down(child.number, least=1)
            case Heartbeat():
                self.supervision.heard(child, message, time.monotonic())
                for episode in message.finished:
                    self._episode_log.finished(episode)
            case Played():
                self._count_down(child.number, least=0)
                self._wake()
            case _:
                raise TypeError(f"{child.name} sent a {type(message).__name__}")

    def _count_down(self, number: int, least: int) -> None:
        """One less is owed by that collector; it is done when it says so itself."""
        with self._lock:
            if self._owed is not None and number in self._owed:
                self._owed[number] = max(least, self._owed[number] - 1) if least else 0

    def lost(self, child: CollectorChild, trouble: str) -> None:
        """`supervision` calls this when a collector is gone."""
        self._forget(child)
        self._episode_log.faults["collector_lost"] += 1
        words = child.last_words()
        self._say(f"{child.name} {trouble}" + (f": {words}" if words else ""))

    def _forget(self, child: CollectorChild) -> None:
        if child.link.fileno() in self._selector.get_map():
            self._selector.unregister(child.link)
            self._read_the_rest(child)
        self._episode_log.close_those_of(child.name)
        if child.report is not None:
            self.use.add(child.report)
            child.report = None

    def _read_the_rest(self, child: CollectorChild) -> None:
        """What a dead collector had sent: it was not acknowledged, but it is there."""
        try:
            while not child.is_running():
                for frame in child.link.receive_all():
                    self._take(child, from_bytes(frame))
        except EOFError:
            return
