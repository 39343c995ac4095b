"""The protocols of judges, the judge that defers its verdict, and what a verdict changes.

A `Judge` runs during an episode: `phonesim.tasks.fact_judge.FactJudge` reads the facts of a
simulated phone. A `TrajectoryJudge` (a vision-language model) sees a finished trajectory and
nothing else, so it can be asked at once, later, or again. With one, `DeferredJudge` lets the
episode end without a verdict, so that its phone does not wait, and `judge_thread_pool` judges it
later. `judged` puts a verdict into a trajectory; the ending follows from it and from the last
action, as in `episodes.episode`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from distrl.errors import DryRun, JudgeError
from distrl.records import FINAL_ACTIONS, Ending, Impossible, Task, Trajectory, Verdict


class Judge(Protocol):
    """Judges one episode: `begin` before its first screen, `verdict` at any time after."""

    def begin(self, task: Task) -> Task | None:
        """Set the task up; return it with its instruction where only the device knows that."""
        ...

    def verdict(self, answer: str | None) -> Verdict | None:
        """Return the verdict, or None if it comes later from a judge of whole trajectories."""
        ...


NOBODY = "Nobody is there to answer."


@runtime_checkable
class KnowsUser(Protocol):
    """A judge whose tasks come with a user who can be asked."""

    def reply(self, question: str) -> str: ...


@runtime_checkable
class EndsEpisode(Protocol):
    """A judge of tasks that can end by themselves, as a web page does that took a wrong answer."""

    def over(self) -> bool:
        """Whether the task has ended, so that no action can change the verdict any more."""
        ...


class DeferredJudge:
    """Leaves the verdict to a judge of whole trajectories.

    Where tasks need preparation, `preparing` does it; its own verdict is not asked for.
    """

    def __init__(self, preparing: Judge | None = None) -> None:
        self._preparing = preparing

    def begin(self, task: Task) -> Task | None:
        return self._preparing.begin(task) if self._preparing is not None else None

    def verdict(self, answer: str | None) -> None:
        return None


class PreparedJudge:
    """Has `preparing` put the task on the phone; the verdict is the other judge's."""

    def __init__(self, judge: Judge, preparing: Judge) -> None:
        self._judge = judge
        self._preparing = preparing

    def begin(self, task: Task) -> Task | None:
        worded = self._preparing.begin(task) or task
        return self._judge.begin(worded) or worded

    def verdict(self, answer: str | None) -> Verdict | None:
        return self._judge.verdict(answer)


class DryRunJudge:
    """For phones that are looked at and not touched: there is nothing to judge."""

    def begin(self, task: Task) -> None: ...

    def verdict(self, answer: str | None) -> Verdict | None:
        raise DryRun("this is a dry run: nothing was carried out, so nothing is judged")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its time and cost (in the currency of the judge's prices)."""

    verdict: Verdict
    seconds: float = 0.0
    cost: float = 0.0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cached: bool = False
    second: Verdict | None = None  # of another judge, where one was asked


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """A judgement as a line of a log, so that a reward can be traced to its judge."""

    trajectory: str
    task: str
    judge: str
    success: bool
    reason: str
    seconds: float
    cost: float
    prompt_tokens: int
    answer_tokens: int
    cached: bool
    second_judge: str
    second_success: bool | None


class TrajectoryJudge(Protocol):
    """Judges finished trajectories, from many threads; raises `JudgeError` for no verdict."""

    def judge(self, trajectory: Trajectory) -> Judgement: ...


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """Implements `TrajectoryJudge` by a registered function."""

    name: str
    function: Callable[[Trajectory], Verdict]

    def judge(self, trajectory: Trajectory) -> Judgement:
        start = time.perf_counter()
        verdict = self.function(trajectory)
        if not isinstance(verdict, Verdict):
            raise JudgeError(
                f"the judge {self.name!r} gave {verdict!r:.60} for trajectory {trajectory.id}, "
                "which is no distrl.records.Verdict"
            )
        return Judgement(verdict, time.perf_counter() - start)


def may_be_judged(trajectory: Trajectory) -> bool:
    """Whether the episode ended so that it can be judged; a lost device leaves nothing to see."""
    waiting = (Ending.AWAITING_VERDICT, Ending.JUDGE_UNAVAILABLE)
    played = trajectory.ending.judged or trajectory.ending in waiting
    return played and bool(trajectory.decisions)


def judged(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    """The trajectory with that verdict and the ending that follows from it.

    An episode that a judge had stopped in the middle, and that was no success after all, was cut
    off: that is what `STEP_LIMIT` means to a learner.
    """
    last = trajectory.decisions[-1].action if trajectory.decisions else None
    in_the_middle = len(trajectory.decisions) < trajectory.task.step_limit
    stopped_by_judge = in_the_middle or trajectory.ending is Ending.SUCCESS
    if isinstance(last, Impossible):
        ending = Ending.GAVE_UP
    elif isinstance(last, FINAL_ACTIONS) or trajectory.ending is Ending.FAILURE:
        ending = Ending.SUCCESS if verdict.success else Ending.FAILURE
    else:
        ending = Ending.SUCCESS if stopped_by_judge and verdict.success else Ending.STEP_LIMIT
    return dataclasses.replace(trajectory, ending=ending, verdict=verdict)


def record_of(trajectory: Trajectory, judgement: Judgement) -> JudgeRecord:
    verdict, second = judgement.verdict, judgement.second
    return JudgeRecord(
        trajectory=trajectory.id,
        task=trajectory.task.id,
        judge=verdict.judge,
        success=verdict.success,
        reason=verdict.reason,
        seconds=judgement.seconds,
        cost=judgement.cost,
        prompt_tokens=judgement.prompt_tokens,
        answer_tokens=judgement.answer_tokens,
        cached=judgement.cached,
        second_judge=second.judge if second else "",
        second_success=second.success if second else None,
    )
