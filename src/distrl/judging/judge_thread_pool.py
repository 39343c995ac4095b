"""Judge finished trajectories on threads of their own, so that phones never wait for a verdict.

    store ─► submit ─► (threads ask the judge) ─► drain ─► correct the store ─► learner

The caller stores a trajectory first (`Ending.AWAITING_VERDICT`), submits it, and drains judged
trajectories; `submit` and `drain` never block. If the judge has no verdict, the trajectory comes
back with the ending `JUDGE_UNAVAILABLE` and can be rescored later. If the process dies, pending
trajectories are still in the store without a verdict, and are submitted again. `drain` raises any
error other than `JudgeError`.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from distrl.errors import InvalidSetting, JudgeError
from distrl.judging.judge import Judgement, TrajectoryJudge, judged
from distrl.records import Ending, Trajectory


@dataclass(frozen=True, slots=True)
class Judged:
    """A trajectory after judging; `judgement` is None if the judge had no verdict."""

    trajectory: Trajectory
    judgement: Judgement | None


class JudgeThreadPool:
    """Asks one judge about many trajectories concurrently. A context manager."""

    def __init__(self, judge: TrajectoryJudge, at_once: int = 16) -> None:
        if at_once < 1:
            raise InvalidSetting(f"at_once={at_once!r}; a judge is asked 1 question or more")
        self._judge = judge
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="judge")
        self._asked: set[Future[Judged]] = set()
        self._done: deque[Future[Judged]] = deque()
        self._changed = threading.Condition()

    def submit(self, trajectory: Trajectory) -> None:
        future = self._threads.submit(self._look_at, trajectory)
        with self._changed:
            self._asked.add(future)
        future.add_done_callback(self._finished)

    def _look_at(self, trajectory: Trajectory) -> Judged:
        try:
            judgement = self._judge.judge(trajectory)
        except JudgeError as error:
            notes = (*trajectory.notes, f"{type(error).__name__}: {error}")
            ending = trajectory.ending if trajectory.ending.judged else Ending.JUDGE_UNAVAILABLE
            return Judged(dataclasses.replace(trajectory, ending=ending, notes=notes), None)
        return Judged(judged(trajectory, judgement.verdict), judgement)

    def _finished(self, future: Future[Judged]) -> None:
        with self._changed:
            self._asked.discard(future)
            self._done.append(future)
            self._changed.notify_all()

    def __len__(self) -> int:
        """Number of trajectories submitted and not drained yet."""
        with self._changed:
            return len(self._asked) + len(self._done)

    def drain(self) -> list[Judged]:
        """Return the trajectories judged since the last call, in order of completion."""
        with self._changed:
            done, self._done = self._done, deque()
        return [future.result() for future in done if not future.cancelled()]

    def wait(self, seconds: float) -> bool:
        """Block until there is something to drain, nothing is pending, or `seconds` have passed."""
        with self._changed:
            self._changed.wait_for(lambda: self._done or not self._asked, seconds)
            return bool(self._done)

    def close(self) -> None:
        """Cancel queued requests; those in flight end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
