"""One policy is measured on simulated phones and on web pages by the same code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pytest

from distrl.agent.simple_policies import ConstantPolicy
from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.device import Device
from distrl.engine.environment import open_environment, play_environment
from distrl.episodes.evaluation import SIMPLE_AGENTS
from distrl.errors import UsageError
from distrl.judging.judge import Judge
from distrl.records import Decision, Done, Ending, Observation, Tap, Task

MINIWOB = [
    "devices.kind=browser", "devices.count=2", "tasks.source=miniwob", "judge.kind=page",
    "tasks.templates=['miniwob.click-test']", "collection.stop_on_success=true",
]  # fmt: skip


def test_simulated_tasks_are_those_of_any_evaluation() -> None:
    config = load_config(None, ["tasks.templates=['clock.*']", "devices.count=2"])
    played = list(play_environment(config, SIMPLE_AGENTS["scripted"], 4, 0, "test"))
    assert [each.ending for each in played] == [Ending.SUCCESS] * 4
    assert {each.task.split for each in played} == {"test"}
    assert all(each.task.template.startswith("clock.") for each in played)


def test_judges_that_come_later_are_refused() -> None:
    words = ["judge.kind=vlm", "judge.server=http://localhost:1/v1", "judge.model=m"]
    with pytest.raises(UsageError, match="distrl collect"):
        next(play_environment(load_config(None, words), SIMPLE_AGENTS["done"], 1, 0, "test"))


class Finder:
    """Taps the button that the page has; knows its device."""

    def __init__(self, device: BrowserDevice) -> None:
        self._device = device

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        [button] = [each for each in self._device.elements() if each.role == "button"]
        x, y = button.centre
        return [Decision(Tap(x / 360, y / 720))]


def finder(task: Task, device: Device, judge: Judge) -> Finder:
    assert isinstance(device, BrowserDevice)
    return Finder(device)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("needs_pages")
def test_pages_are_played_and_judged() -> None:
    config = load_config(None, MINIWOB)
    played = list(play_environment(config, finder, 3, 0, "test"))
    assert [each.ending for each in played] == [Ending.SUCCESS] * 3
    assert {each.task.instruction for each in played} == {"Click the button."}
    lazy = list(play_environment(config, lambda *_: ConstantPolicy(Done()), 2, 0, "test"))
    assert [each.ending for each in lazy] == [Ending.FAILURE] * 2
    with pytest.raises(UsageError, match="no scripted solution"):
        list(play_environment(config, SIMPLE_AGENTS["scripted"], 1, 0, "test"))


@pytest.mark.usefixtures("needs_pages")
def test_every_template_comes_once_a_round() -> None:
    config = load_config(None, [*MINIWOB, "tasks.templates=['miniwob.click-test*']"])
    ids = tasks_of(config, 6)
    assert len(set(ids)) == 6
    assert [task.split("/")[0] for task in ids[:3]] == [task.split("/")[0] for task in ids[3:]]


def tasks_of(config: TrainingConfig, number: int, seed: int = 0) -> list[str]:
    with open_environment(config, "test", 1, seed) as environment:
        return [task.id for task in islice(environment.tasks(), number)]


def test_a_seed_decides_on_the_tasks_and_not_the_run_that_is_measured() -> None:
    words = ["tasks.families=['shopping']", "devices.count=1"]
    runs = [load_config(None, [*words, f"run.seed={seed}"]) for seed in (1, 2)]
    first, second = (tasks_of(config, 5) for config in runs)
    assert first == second != tasks_of(runs[0], 5, seed=1)
