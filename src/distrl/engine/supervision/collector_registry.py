"""The learner's side of collectors that come and go by themselves, on whichever machine they are.

A collector enlists when it begins, which gives it a name and what its predecessor would have gone
on from; it delivers trajectories and sends beats, whose answers say how far it may go and when it
is over. The office starts nobody: whoever does (`ray_crew`) asks it who has fallen silent, tells it
who is gone, and hears when another may start. After a restart of the learner, collectors that still
play are known again with their next beat.

A trajectory is acknowledged once it is durable (`receiver`). A collector that dies uses up its
budget of restarts, unless the machine that it was on has gone with it. Any thread may call.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Pace, Received, Refused
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.engine.local.collector_child import new_name
from distrl.engine.supervision.device_use import DeviceUse
from distrl.engine.supervision.supervisor import (
    SILENT_HEARTBEATS,
    SILENT_START_SECONDS,
    RestartBudget,
)
from distrl.episodes.collector_report import CollectorReport
from distrl.errors import CollectorsLost
from distrl.runs.run_directory import RunDirectory
from distrl.watched_threads import WatchedThreads

TIDY_SECONDS = 0.1  # between two looks at what is held back
LEAST_SILENCE = 10.0  # seconds; machines may be far apart


def patience_of(heartbeat_seconds: float) -> float:
    """Seconds of silence after which somebody who beats so often must hang."""
    return max(LEAST_SILENCE, SILENT_HEARTBEATS * heartbeat_seconds)


@dataclass(frozen=True, slots=True)
class CollectorInfo:
    """Who a collector is, and where."""

    name: str
    number: int
    place: str  # the machine, as a person would call it


@dataclass(frozen=True, slots=True)
class Registration:
    """What a collector begins with: who it is, and what it goes on from (JSON)."""

    info: CollectorInfo
    state: str


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """The answer to a beat. `finish_within`: it is over, what is under way may go on for so long"""

    pace: Pace
    finish_within: float | None = None


@dataclass(slots=True)
class _Post:
    """One collector of the run, whoever has it at the moment."""

    budget: RestartBudget
    info: CollectorInfo | None = None
    report: CollectorReport | None = None
    state: str = ""
    in_flight: int = 0
    heard: float = 0.0
    spoken: bool = False
    worked: bool = False  # has whoever has it now brought anything?
    given_up: bool = False


@dataclass(slots=True)
class CollectorRegistry:
    """Knows all collectors of a run."""

    count: int
    restarts: int
    heartbeat_seconds: float
    run: RunDirectory
    receiver: TrajectoryReceiver
    episode_log: EpisodeLog
    waiting: Callable[[], int]  # trajectories between store and learner
    say: Callable[[str], None]
    wake: Callable[[], None]
    clock: Callable[[], float] = time.monotonic
    use: DeviceUse = field(default_factory=DeviceUse)
    _pace: Pace = Pace(version=0)
    _stop_at: float | None = None
    _posts: dict[int, _Post] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _receiving: threading.Lock = field(default_factory=threading.Lock)
    _closed: threading.Event = field(default_factory=threading.Event)
    _tidying: WatchedThreads | None = None

    def open(self, states: dict[int, str]) -> None:
        """From now on collectors are taken in. `states`: what they go on from, by number."""
        for number in range(self.count):
            self._posts[number] = _Post(RestartBudget(self.restarts), state=states.get(number, ""))
        self._tidying = WatchedThreads("office", self._tidy, self.wake)
        self._tidying.start()

    def close(self) -> None:
        """Nothing is taken in any more; who waits for an acknowledgement does not get it."""
        self._closed.set()
        if self._tidying is not None:
            self._tidying.join(10 * TIDY_SECONDS)

    # The collectors' side -----------------------------------------------------------------------

    def register(self, number: int, place: str) -> Registration:
        """A collector begins; whoever had its post before is gone."""
        with self._changed:
            post = self._posts[number]
            self._lose(post)
            name, _ = new_name(self.run, number)
            post.info = CollectorInfo(name, number, place)
            post.heard, post.spoken = self.clock(), False
            self.say(f"{name} is on {place}")
            return Registration(post.info, post.state)

    def deliver(self, encoded: bytes) -> Received | Refused:
        """Returns when the trajectory is durable, or could not be made so; later if many wait."""
        answers: list[Received | Refused] = []
        answered = threading.Event()

        def reply(answer: Received | Refused) -> None:
            answers.append(answer)
            answered.set()

        with self._receiving:
            self.receiver.deliver(encoded, reply)
        while not answered.wait(TIDY_SECONDS):
            if self._closed.is_set():
                raise CollectorsLost("the learner has ended; what waits for it is on its disk")
        if isinstance(answers[0], Received):
            self._credit(answers[0].id.split("/")[0])
        return answers[0]

    def _credit(self, name: str) -> None:
        """Whoever has brought something works, also if it dies before it can say so."""
        with self._changed:
            for post in self._posts.values():
                if post.info is not None and post.info.name == name:
                    post.worked = True

    def beat(self, info: CollectorInfo, in_flight: int, beat: Heartbeat | None) -> HeartbeatReply:
        """It lives, and stands so; from time to time with all that there is to tell."""
        with self._changed:
            post = self._posts[info.number]
            if post.info is None:
                post.info = info  # it has outlived a learner
                self.say(f"{info.name} is on {info.place}, and goes on")
            if post.info.name == info.name:
                post.in_flight, post.heard, post.spoken = in_flight, self.clock(), True
                if beat is not None:
                    post.report, post.state = beat.report, beat.state
                    post.worked |= beat.report.trajectories > 0
            orders = self._orders(info.number)
        for episode in beat.finished if beat is not None else ():
            self.episode_log.finished(episode)
        return orders

    def leave(self, info: CollectorInfo, last: Heartbeat) -> None:
        """It has ended as it was told to."""
        self.beat(info, 0, last)
        with self._changed:
            post = self._posts[info.number]
            if post.info is not None and post.info.name == info.name:
                self._forget(post)
            self._changed.notify_all()

    def _orders(self, number: int) -> HeartbeatReply:
        others = sum(post.in_flight for at, post in self._posts.items() if at != number)
        pace = dataclasses.replace(self._pace, elsewhere=self.waiting() + others)
        if self._stop_at is None:
            return HeartbeatReply(pace)
        return HeartbeatReply(pace, max(0.0, self._stop_at - self.clock()))

    def _lose(self, post: _Post, words: str = "") -> None:
        """Whoever has this post is there no more, and has not said so."""
        if post.info is not None:
            self.say(f"{post.info.name} on {post.info.place} is gone{words}")
            self.episode_log.faults["collector_lost"] += 1
            self._forget(post)

    def _forget(self, post: _Post) -> None:
        if post.info is not None:
            self.episode_log.close_those_of(post.info.name)
        if post.report is not None:
            self.use.add(post.report)
        post.info, post.report, post.in_flight, post.worked = None, None, 0, False

    # The learner's side -------------------------------------------------------------------------

    def pace(self, pace: Pace) -> None:
        """How far collectors may go."""
        self._pace = pace

    def stop(self, finish_within: float, patience: float) -> bool:
        """Tell all to end and wait for it, with so much patience more; True if all have."""
        with self._changed:
            self._stop_at = self.clock() + finish_within
            gone = self._changed.wait_for(
                lambda: not any(post.info for post in self._posts.values()),
                finish_within + patience,
            )
        self.episode_log.close_all()
        return gone

    def check(self) -> None:
        """Raise what broke; `CollectorsLost` when every collector was given up."""
        if self._tidying is not None:
            self._tidying.raise_failure()
        if all(post.given_up for post in self._posts.values()):
            raise CollectorsLost(
                f"all {self.count} collectors failed more than collection.restarts="
                f"{self.restarts} times within minutes; see their logs, and resume the run"
            )

    def reports(self) -> list[CollectorReport]:
        with self._changed:
            return [post.report for post in self._posts.values() if post.report is not None]

    def states(self) -> dict[int, str]:
        with self._changed:
            return {number: post.state for number, post in self._posts.items() if post.state}

    def _tidy(self) -> None:
        """Acknowledge what was held back; the one thread that never waits for a collector."""
        while not self._closed.wait(TIDY_SECONDS):
            with self._receiving:
                self.receiver.release(all_of_them=self._stop_at is not None)

    # Whoever starts collectors ------------------------------------------------------------------

    def gone(self, number: int, places: Collection[str]) -> float | None:
        """That one has died. Seconds until another may begin; None: it has failed too often.

        `places` are those that still exist.
        """
        with self._changed:
            post = self._posts[number]
            worked = post.worked
            stranded = post.info is not None and post.info.place not in places
            self._lose(post, ", with its node" if stranded else "")
            if stranded:
                return 0.0
            pause = post.budget.pause_after_failure(self.clock(), had_worked=worked)
            post.given_up = pause is None
        self.wake()
        return pause

    def badges(self) -> list[CollectorInfo]:
        """Those that are there."""
        with self._changed:
            return [post.info for post in self._posts.values() if post.info is not None]

    def silent(self) -> list[CollectorInfo]:
        """Those that have not been heard of for so long that they must hang."""
        patience = patience_of(self.heartbeat_seconds)
        now, found = self.clock(), []
        with self._changed:
            for post in self._posts.values():
                limit = patience if post.spoken else SILENT_START_SECONDS
                if post.info is not None and now - post.heard > limit:
                    found.append(post.info)
        return found
