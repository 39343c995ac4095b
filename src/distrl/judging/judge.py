"""The protocols of judges, the judge that defers its verdict, and what a verdict changes.

A `Judge` runs during an episode: `phonesim.tasks.fact_judge.FactJudge` reads the facts of a
simulated phone. A `TrajectoryJudge` (a vision-language model) sees only a finished trajectory, so
it can judge at once, later, or again. With a `TrajectoryJudge`, `DeferredJudge` lets the episode
end without a verdict, so that the phone does not wait, and `judge_thread_pool` judges the episode
later. `judged` puts a verdict into a trajectory and derives the ending from the verdict and the
last action, as `episodes.episode` does.
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
        """Set up the task; return it with its instruction if only the device knows it, or None."""
        ...

    def verdict(self, answer: str | None) -> Verdict | None:
        """Return the verdict, or None if it comes later from a judge of whole trajectories."""
        ...


NOBODY = "Nobody is there to answer."


@runtime_checkable
class KnowsUser(Protocol):
    """A judge whose tasks have a user who answers questions (`AskUser`)."""

    def reply(self, question: str) -> str: ...


@runtime_checkable
class EndsEpisode(Protocol):
    """A judge of tasks that can end by themselves, as a web page does after a wrong answer."""

    def over(self) -> bool:
        """Whether the task has ended, so that no action can change the verdict any more."""
        ...


class DeferredJudge:
    """Implements `Judge` without a verdict; a `TrajectoryJudge` gives it later.

    If tasks need preparation, the judge `preparing` does it; its verdict is not used.
    """

    def __init__(self, preparing: Judge | None = None) -> None:
        self._preparing = preparing

    def begin(self, task: Task) -> Task | None:
        return self._preparing.begin(task) if self._preparing is not None else None

    def verdict(self, answer: str | None) -> None:
        return None


class PreparedJudge:
    """Implements `Judge`: `preparing` sets up the task on the phone, `judge` gives the verdict."""

    def __init__(self, judge: Judge, preparing: Judge) -> None:
        self._judge = judge
        self._preparing = preparing

    def begin(self, task: Task) -> Task | None:
        worded = self._preparing.begin(task) or task
        return self._judge.begin(worded) or worded

    def verdict(self, answer: str | None) -> Verdict | None:
        return self._judge.verdict(answer)


class DryRunJudge:
    """Implements `Judge` for dry runs: no action was carried out, so `verdict` raises `DryRun`."""

    def begin(self, task: Task) -> None: ...

    def verdict(self, answer: str | None) -> Verdict | None:
        raise DryRun("this is a dry run: nothing was carried out, so nothing is judged")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its duration and its cost (in the currency of the judge's prices)."""

    verdict: Verdict
    seconds: float = 0.0
    cost: float = 0.0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cached: bool = False
    second: Verdict | None = None  # the verdict of a second judge, if one was asked


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """A judgement as a log line, so that a reward can be traced back to its judge."""

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
    """Judges finished trajectories, in many threads; raises `JudgeError` if it has no verdict."""

    def judge(self, trajectory: Trajectory) -> Judgement: ...


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """Implements `TrajectoryJudge` with a registered function."""

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
    """Return whether the episode can be judged; after a lost device, for example, it cannot."""
    waiting = (Ending.AWAITING_VERDICT, Ending.JUDGE_UNAVAILABLE)
    played = trajectory.ending.judged or trajectory.ending in waiting
    return played and bool(trajectory.decisions)


def judged(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    """Return the trajectory with that verdict and the ending that follows from it.

    If an earlier verdict stopped the episode before its step limit and the new verdict is no
    success, the episode was truncated: `STEP_LIMIT` means just that to the learner.
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
