"""Judge stored trajectories again, and store the new verdicts where training finds them.

A new verdict is a correction in the store, durable at once: a resumed run, or one that uses this
run as its corpus, learns from it, and trajectories that had no verdict can be trained on. If the
judge has no verdict, a trajectory stays unchanged. After an interruption all verdicts so far are
kept; a second pass asks only about the others, if the judge has a cache. Unchanged verdicts are
not written. `distrl rescore` uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from distrl.judging.judge import JudgeRecord, may_be_judged, record_of
from distrl.judging.judge_agreement import Confusion
from distrl.judging.judge_thread_pool import Judged, JudgeThreadPool
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_store import TrajectoryStore

MAX_WAITING = 64  # trajectories in memory at once
WAIT_SECONDS = 1.0


@dataclass(slots=True)
class RescoreCounts:
    """The results of a rescoring. `agreement` compares the new verdicts with the stored ones."""

    looked_at: int = 0
    passed_over: int = 0  # cannot be judged: the device was lost, for example
    undecided: int = 0  # the judge had no verdict
    newly_judged: int = 0  # had no verdict before
    to_success: int = 0
    to_failure: int = 0
    cached: int = 0
    cost: float = 0.0
    seconds: float = 0.0  # the judge's time, summed over all trajectories
    agreement: Confusion = field(default_factory=Confusion)

    @property
    def corrected(self) -> int:
        return self.newly_judged + self.to_success + self.to_failure


class Rescoring:
    """Submits trajectories to a judge pool and stores the verdicts."""

    def __init__(
        self,
        store: TrajectoryStore,
        judge_pool: JudgeThreadPool,
        note: Callable[[JudgeRecord], None],
        *,
        dry_run: bool = False,
    ) -> None:
        self.counts = RescoreCounts()
        self._store = store
        self._judge_pool = judge_pool
        self._note = note
        self._dry_run = dry_run
        self._before: dict[str, Trajectory] = {}

    def rescore(self, trajectories: Iterable[Trajectory]) -> RescoreCounts:
        for trajectory in trajectories:
            if not may_be_judged(trajectory):
                self.counts.passed_over += 1
                continue
            self._before[trajectory.id] = trajectory
            self._judge_pool.submit(trajectory)
            self._take_off(max_waiting=MAX_WAITING)
        self._take_off(max_waiting=1)
        return self.counts

    def _take_off(self, max_waiting: int) -> None:
        """Store new verdicts until fewer than `max_waiting` trajectories are pending."""
        while len(self._judge_pool) >= max_waiting:
            self._judge_pool.wait(WAIT_SECONDS)
            for judged in self._judge_pool.drain():
                self._keep(judged)

    def _keep(self, judged: Judged) -> None:
        before = self._before.pop(judged.trajectory.id)
        self.counts.looked_at += 1
        if judged.judgement is None:
            self.counts.undecided += 1
            return
        self._count(before, judged)
        self._note(record_of(judged.trajectory, judged.judgement))
        verdict, ending = judged.judgement.verdict, judged.trajectory.ending
        same = before.verdict is not None and before.verdict.success == verdict.success
        if not self._dry_run and not (same and before.ending is ending):
            self._store.correct(before.id, Correction(ending, verdict))

    def _count(self, before: Trajectory, judged: Judged) -> None:
        counts, judgement = self.counts, judged.judgement
        assert judgement is not None
        counts.cached += judgement.cached
        counts.cost += judgement.cost
        counts.seconds += judgement.seconds
        success = judgement.verdict.success
        if before.verdict is None:
            counts.newly_judged += 1
            return
        counts.agreement.count(said=success, truly=before.verdict.success)
        counts.to_success += success and not before.verdict.success
        counts.to_failure += before.verdict.success and not success


def without_verdict(trajectories: Iterable[Trajectory]) -> Iterable[Trajectory]:
    """Return the trajectories that await a verdict, or whose judge was unavailable."""
    waiting = (Ending.AWAITING_VERDICT, Ending.JUDGE_UNAVAILABLE)
    return (each for each in trajectories if each.ending in waiting)
