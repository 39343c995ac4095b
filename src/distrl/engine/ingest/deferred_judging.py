"""Judges trajectories after their episode has ended: from the store to a judge, and back.

    receiver ─► store ─► submit ─► (threads ask the judge) ─► take_off ─► store ─► learner

A verdict is a correction in the store, durable before the learner gets the trajectory. Where none
can be had, the ending says so (`JUDGE_UNAVAILABLE`) and nothing is learned from it; the trajectory
stays in the store without a verdict, for `distrl rescore`. What was not judged when a run ends, or
its process dies, is in the store as well, and is submitted again by `resume.recall`. A correction
that the disk does not take is tried again.

The receiver calls it, one thread at a time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.errors import StorageError
from distrl.judging.judge import JudgeRecord, record_of
from distrl.judging.judge_thread_pool import Judged, JudgeThreadPool
from distrl.records import Trajectory
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_reader import StoredTrajectory
from distrl.replay.store.trajectory_store import TrajectoryStore

if TYPE_CHECKING:
    from distrl.engine.ingest.delivery import ArrivalQueue


@dataclass(slots=True)
class VerdictCounts:
    """Verdicts, failures and costs so far."""

    verdicts: int = 0
    unavailable: int = 0
    cached: int = 0
    cost: float = 0.0
    seconds: float = 0.0  # of the judge, all questions together

    def __str__(self) -> str:
        return (
            f"judge: {self.verdicts} verdicts ({self.cached} from the cache), {self.unavailable} "
            f"could not be had; cost {self.cost:.4g}, {self.seconds:.1f} s of its time"
        )


@dataclass(slots=True)
class DeferredJudging:
    """Has trajectories judged, then hands them on to the learner."""

    judge_pool: JudgeThreadPool
    store: TrajectoryStore
    arrivals: ArrivalQueue
    episode_log: EpisodeLog
    note: Callable[[JudgeRecord], None]
    say: Callable[[str], None] = lambda sentence: None
    counts: VerdictCounts = field(default_factory=VerdictCounts)
    _failing: bool = False  # was the last verdict one that could not be had?
    _places: dict[str, int] = field(default_factory=dict)  # in the order of submission, by id
    _submitted: int = 0
    _judged: deque[Judged] = field(default_factory=deque)  # and not kept yet

    def __len__(self) -> int:
        """How many wait for a verdict, or for the disk to take it."""
        return len(self._places)

    def submit(self, trajectory: Trajectory) -> None:
        """Queue a stored trajectory for the judge. Never waits."""
        self._places[trajectory.id] = self._submitted
        self._submitted += 1
        self.judge_pool.submit(trajectory)

    def take_off(self) -> None:
        """Store the verdicts that have come by now, and hand the trajectories on. Never waits."""
        self._judged.extend(self.judge_pool.drain())
        try:
            while self._judged:
                self._keep(self._judged[0])
                self._judged.popleft()
        except StorageError:
            self.episode_log.faults["not_stored"] += 1

    def settle(self, seconds: float) -> bool:
        """Wait up to `seconds` for all verdicts and store them in the order of submission.

        True if none is left. Nothing is stored before the last has come, so that runs in one
        process do not depend on which trajectory is judged first.
        """
        end = time.monotonic() + seconds
        while len(self.judge_pool):
            self.judge_pool.wait(max(0.0, end - time.monotonic()))
            self._judged.extend(self.judge_pool.drain())
            if len(self.judge_pool) and time.monotonic() >= end:
                return False
        ordered = sorted(self._judged, key=lambda each: self._places[each.trajectory.id])
        self._judged = deque(ordered)
        self.take_off()
        return not len(self)

    def _keep(self, judged: Judged) -> None:
        trajectory, judgement = judged.trajectory, judged.judgement
        if judgement is not None:
            self.store.correct(trajectory.id, Correction(trajectory.ending, judgement.verdict))
        self._places.pop(trajectory.id, None)
        self.episode_log.judged(trajectory)
        self.arrivals.put(StoredTrajectory(trajectory, self.store.position))
        if judgement is None:
            self.counts.unavailable += 1
            if not self._failing:  # say so once each time that the judge becomes unavailable
                self.say(f"no verdict could be had: {trajectory.notes[-1]}")
            self._failing = True
            return
        self._failing = False
        self.counts.verdicts += 1
        self.counts.cached += judgement.cached
        self.counts.cost += judgement.cost
        self.counts.seconds += judgement.seconds
        try:
            self.note(record_of(trajectory, judgement))
        except StorageError:  # it is stored already; a full disk costs only its line in the log
            self.episode_log.faults["not_stored"] += 1
