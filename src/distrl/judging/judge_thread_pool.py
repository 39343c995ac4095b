"""Trajectories wait here for their verdict, so that phones do not: they play on meanwhile.

    store ─► submit ─► (threads ask the judge) ─► drain ─► correct the store ─► learner

Whoever receives trajectories stores them first (`Ending.AWAITING_VERDICT`), submits them, and takes
off what has been judged whenever it comes by; `submit` and `drain` never wait. A verdict that could
not be had is an answer too: the trajectory comes back with the ending `JUDGE_UNAVAILABLE`, and can
be rescored later. What the bench holds when a process dies is in the store still, without a
verdict, and is submitted again. An error that we did not foresee is raised from `drain`.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from distrl.errors import InvalidSetting, JudgeError
from distrl.judging.judge import Judgement, TrajectoryJudge, judged
from distrl.records import Ending, Trajectory


@dataclass(frozen=True, slots=True)
class Judged:
    """A trajectory after its turn; without a judgement where none could be had."""

    trajectory: Trajectory
    judgement: Judgement | None


class JudgeThreadPool:
    """Asks one judge about many trajectories at once. A context manager."""

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
        """How many were submitted and not taken off yet."""
        with self._changed:
            return len(self._asked) + len(self._done)

    def drain(self) -> list[Judged]:
        """What has been judged since this was last asked, in the order in which it was."""
        with self._changed:
            done, self._done = self._done, deque()
        return [future.result() for future in done if not future.cancelled()]

    def wait(self, seconds: float) -> bool:
        """Until there is something to take off, or nothing to wait for; so long at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._done or not self._asked, seconds)
            return bool(self._done)

    def close(self) -> None:
        """Ask no more. What is being asked ends by itself, at the latest with its judge."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
