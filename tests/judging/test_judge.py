"""A verdict decides the ending of a trajectory, together with the agent's last action."""

from __future__ import annotations

import dataclasses

import pytest
from tests.judging.judge_server import played

from distrl.judging.judge import Judgement, judged, may_be_judged, record_of
from distrl.records import Action, Back, Done, Ending, Impossible, Trajectory, Verdict

YES, NO = Verdict(True, "seen", "test"), Verdict(False, "not seen", "test")


def ended_with(action: Action, *, at_the_limit: bool = False) -> Trajectory:
    trajectory = played()
    *before, last = trajectory.decisions
    decisions = (*before, dataclasses.replace(last, action=action))
    limit = len(decisions) if at_the_limit else len(decisions) + 1
    task = dataclasses.replace(trajectory.task, step_limit=limit)
    return dataclasses.replace(trajectory, decisions=decisions, task=task)


@pytest.mark.parametrize(
    ("action", "at_the_limit", "verdict", "ending"),
    [
        (Done(), False, YES, Ending.SUCCESS),
        (Done(), False, NO, Ending.FAILURE),
        (Impossible(), False, YES, Ending.GAVE_UP),
        (Back(), True, YES, Ending.STEP_LIMIT),
        (Back(), True, NO, Ending.STEP_LIMIT),
        (Back(), False, YES, Ending.SUCCESS),  # a judge had stopped it in the middle
        (Back(), False, NO, Ending.STEP_LIMIT),
    ],
)
def test_the_ending_follows_from_verdict_and_last_action(
    action: Action, at_the_limit: bool, verdict: Verdict, ending: Ending
) -> None:
    after = judged(ended_with(action, at_the_limit=at_the_limit), verdict)
    assert (after.ending, after.verdict) == (ending, verdict)


def test_a_lost_device_leaves_nothing_to_judge() -> None:
    trajectory = played()
    assert may_be_judged(trajectory)
    assert not may_be_judged(dataclasses.replace(trajectory, ending=Ending.DEVICE_LOST))


def test_a_record_has_both_judges() -> None:
    record = record_of(played("a"), Judgement(YES, cost=2.0, second=NO))
    assert (record.trajectory, record.judge, record.success, record.cost) == ("a", "test", True, 2)
    assert (record.second_judge, record.second_success) == ("test", False)
    assert record_of(played(), Judgement(YES)).second_success is None
