"""A scripted solution is played to a success, step by step as the script has it."""

from __future__ import annotations

import pytest

from distrl.episodes.demonstrations import ScriptedPolicy, demonstrate
from distrl.episodes.episode import Episode
from distrl.records import Ending, OpenApp
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASK = load_task("notes.create/train/3")[0]


@pytest.mark.parametrize("open_by_name", [False, True])
def test_the_solution_succeeds_and_apps_are_opened_by_name_if_asked(open_by_name: bool) -> None:
    trajectory = demonstrate(TASK, SimulatedDevice("a"), open_by_name=open_by_name)
    assert trajectory.ending is Ending.SUCCESS
    actions = [decision.action for decision in trajectory.decisions]
    assert any(isinstance(action, OpenApp) for action in actions) == open_by_name


def test_the_script_is_read_only_once_the_phone_is_set_up() -> None:
    device = SimulatedDevice("a")
    judge = FactJudge(device)
    policy = ScriptedPolicy(device, judge)  # before there is a task
    episode = Episode.begin(TASK, device, judge)
    while not episode.ended:
        [decision] = policy.decide([episode.observation])
        episode.take(decision)
    assert episode.trajectory().decisions == demonstrate(TASK, SimulatedDevice("b")).decisions
