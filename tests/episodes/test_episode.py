"""The loop, and every way in which it can end."""

from collections.abc import Sequence

import pytest

from distrl.episodes.demonstrations import ScriptedPolicy, demonstrate
from distrl.episodes.episode import run_episode
from distrl.errors import ActionFailed, JudgeError
from distrl.judging.judge import DryRunJudge, judged, may_be_judged
from distrl.records import (
    Action,
    Decision,
    Done,
    Ending,
    Impossible,
    Observation,
    OpenApp,
    Screen,
    Task,
    TypeText,
    Unreadable,
    Verdict,
    Wait,
)
from phonesim.faults import Faults
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASK, _ = load_task("notes.create/train/1")


class Recital:
    """Says its lines, then waits. Keeps what it saw."""

    def __init__(self, *actions: Action) -> None:
        self._actions = list(actions)
        self.seen: list[Observation] = []

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.seen.extend(observations)
        return [Decision(self._actions.pop(0) if self._actions else Wait())]


class SilentJudge:
    """A judge that cannot be reached."""

    def begin(self, task: Task) -> None:
        pass

    def verdict(self, answer: str | None) -> Verdict:
        raise JudgeError("no line to the judge")


def run(*actions: Action, faults: Faults | None = None) -> tuple[Ending, Recital]:
    device = SimulatedDevice("test", faults=faults or Faults())
    policy = Recital(*actions)
    trajectory = run_episode(TASK, device, policy, FactJudge(device))
    assert len(trajectory.screens) == len(trajectory.decisions) + 1
    return trajectory.ending, policy


def test_the_solution_succeeds_and_the_trajectory_says_who_judged() -> None:
    trajectory = demonstrate(TASK, SimulatedDevice("test"))
    assert trajectory.ending is Ending.SUCCESS
    assert trajectory.verdict == Verdict(True, "", "facts", progress=1.0)


def test_saying_done_too_early_is_a_failure_with_a_reason() -> None:
    device = SimulatedDevice("test")
    trajectory = run_episode(TASK, device, Recital(Done()), FactJudge(device))
    assert trajectory.ending is Ending.FAILURE
    assert trajectory.verdict
    assert "new Note" in trajectory.verdict.reason


class MutePhone(SimulatedDevice):
    """A phone that cannot type."""

    def perform(self, action: Action) -> Screen:
        if isinstance(action, TypeText):
            raise ActionFailed("5 characters could not be typed")
        return super().perform(action)


def test_an_action_that_the_phone_cannot_do_is_the_agents_result_and_not_a_lost_device() -> None:
    device = MutePhone("test")
    policy = Recital(Wait(), TypeText("Grüße"), Done())
    trajectory = run_episode(TASK, device, policy, FactJudge(device))
    assert trajectory.ending is Ending.FAILURE
    assert len(trajectory.decisions) == 3
    assert trajectory.screens[2].digest == trajectory.screens[1].digest
    assert trajectory.notes == ("step 2: ActionFailed: 5 characters could not be typed",)


def test_a_dry_run_is_neither_judged_nor_broken() -> None:
    trajectory = run_episode(TASK, SimulatedDevice("test"), Recital(Done()), DryRunJudge())
    assert (trajectory.ending, trajectory.verdict) == (Ending.DRY_RUN, None)
    assert not trajectory.ending.judged  # so that no learner takes it,
    assert not may_be_judged(trajectory)  # no judge is asked about it later,
    assert not trajectory.ending.broken  # and its task is not tried again


def test_giving_up_waiting_too_long_and_babbling_are_endings_of_their_own() -> None:
    assert run(Impossible())[0] is Ending.GAVE_UP
    assert run()[0] is Ending.STEP_LIMIT
    ending, policy = run(*[Unreadable("?", "no such word")] * 50)
    assert ending is Ending.STEP_LIMIT
    assert len(policy.seen) == TASK.step_limit
    assert len({observation.screen.digest for observation in policy.seen}) == 1


def test_the_policy_sees_its_past_actions_and_the_newest_screen() -> None:
    _, policy = run(OpenApp("Notes"), Done())
    first, second = policy.seen
    assert first.past_actions == ()
    assert second.past_actions == (OpenApp("Notes"),)
    assert first.screen.digest != second.screen.digest
    assert first.past_screens == ()
    assert second.past_screens == (first.screen,)


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("disconnect", Ending.DEVICE_LOST),
        ("freeze", Ending.DEVICE_LOST),
        ("app_crash", Ending.APP_CRASH),
    ],
)
def test_a_fault_ends_the_episode_as_a_fault_and_not_as_a_failure(
    kind: str, ending: Ending
) -> None:
    faults = Faults(schedule={2: kind})  # type: ignore[dict-item]
    device = SimulatedDevice("test", faults=faults)
    policy = Recital(OpenApp("Notes"), Wait(), Done())
    trajectory = run_episode(TASK, device, policy, FactJudge(device))
    assert trajectory.ending is ending
    assert trajectory.verdict is None
    assert not trajectory.ending.judged
    assert [d.action for d in trajectory.decisions] == [OpenApp("Notes")]
    assert trajectory.notes


def test_no_verdict_is_made_up_when_the_judge_is_out_of_reach() -> None:
    device = SimulatedDevice("test")
    trajectory = run_episode(TASK, device, Recital(Done()), SilentJudge())
    assert trajectory.ending is Ending.JUDGE_UNAVAILABLE
    assert trajectory.verdict is None


def test_with_stop_on_success_the_episode_ends_when_the_task_is_done() -> None:
    device = SimulatedDevice("test")
    judge = FactJudge(device)
    trajectory = run_episode(
        TASK, device, ScriptedPolicy(device, judge), judge, stop_on_success=True
    )
    assert trajectory.ending is Ending.SUCCESS
    assert not isinstance(trajectory.decisions[-1].action, Done)


class PageJudge:
    """Judges a page that ends by itself after so many actions."""

    def __init__(self, steps: int, *, success: bool) -> None:
        self._left, self._success = steps, success

    def begin(self, task: Task) -> None:
        pass

    def over(self) -> bool:
        self._left -= 1
        return self._left == 0

    def verdict(self, answer: str | None) -> Verdict:
        return Verdict(self._success and self._left == 0, "", "page")


@pytest.mark.parametrize("success", [False, True])
@pytest.mark.parametrize("stop_on_success", [False, True])
def test_a_task_that_ends_by_itself_ends_the_episode(success: bool, stop_on_success: bool) -> None:
    judge = PageJudge(3, success=success)
    device = SimulatedDevice("test")
    trajectory = run_episode(TASK, device, Recital(), judge, stop_on_success=stop_on_success)
    assert len(trajectory.decisions) == 3 < TASK.step_limit
    assert trajectory.ending is (Ending.SUCCESS if success else Ending.FAILURE)
    assert trajectory.verdict == Verdict(success, "", "page")
    assert trajectory.ending.terminated  # nothing follows that a critic could estimate
    assert judged(trajectory, Verdict(False, "", "again")).ending in (
        [Ending.STEP_LIMIT] if success else [Ending.FAILURE]
    )


def test_a_judge_out_of_reach_in_the_middle_ends_the_episode_too() -> None:
    device = SimulatedDevice("test")
    trajectory = run_episode(TASK, device, Recital(), SilentJudge(), stop_on_success=True)
    assert trajectory.ending is Ending.JUDGE_UNAVAILABLE
    assert len(trajectory.decisions) == 1
    assert "no line to the judge" in trajectory.notes[0]
