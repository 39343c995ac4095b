"""Which task source is built of which settings."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config

from distrl.config.training_config import TrainingConfig
from distrl.devices.device import Device
from distrl.engine.device_wiring import build_device_pool
from distrl.engine.task_wiring import LockedCritic, build_pool, build_tasks, task_words
from distrl.episodes.device_pool import DevicePool
from distrl.errors import InvalidSetting
from distrl.task_sets.curriculum import (
    InstructionValueTasks,
    RepeatedTasks,
    SuccessRateTasks,
    TaskSource,
    UniformTasks,
)


def devices(config: TrainingConfig, folder: Path) -> DevicePool[Device]:
    with ExitStack() as opened:
        return build_device_pool(config, 0, opened, folder)


class Sure:
    """A critic that expects success of every instruction."""

    def instruction_values(self, instructions: list[str]) -> list[float]:
        return [1.0] * len(instructions)


@pytest.mark.parametrize(
    ("curriculum", "kind"),
    [
        ("uniform", UniformTasks),
        ("success_rate", SuccessRateTasks),
        ("instruction_value", InstructionValueTasks),
    ],
)
def test_the_curriculum_is_that_of_the_settings(
    tmp_path: Path, curriculum: str, kind: type[TaskSource]
) -> None:
    config = tiny_config(tmp_path, tmp_path, f"tasks.curriculum={curriculum}")
    critic = LockedCritic(Sure(), nullcontext())  # type: ignore[arg-type]
    assert isinstance(build_tasks(config, 0, critic, devices(config, tmp_path)), kind)


def test_attempts_together_repeat_each_task(tmp_path: Path) -> None:
    words = ("learning.algorithm=grpo", "learning.learner.attempts_together=2")
    config = tiny_config(tmp_path, tmp_path, *words)
    assert isinstance(build_tasks(config, 0, None, devices(config, tmp_path)), RepeatedTasks)


def test_collectors_play_different_tasks(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "collection.collectors=2", "devices.count=2")
    pool = devices(config, tmp_path)
    first, second = (build_pool(config, number, pool) for number in range(2))
    template = config.tasks.template_names[0]
    mine = {first.task(template, turn).id for turn in range(20)}
    theirs = {second.task(template, turn).id for turn in range(20)}
    assert len(mine) == len(theirs) == 20
    assert not mine & theirs


def test_simulated_tasks_need_no_words(tmp_path: Path) -> None:
    assert task_words(tiny_config(tmp_path, tmp_path)) == ""


def test_what_was_demonstrated_is_rehearsed(tmp_path: Path) -> None:
    words = ("tasks.split=undemonstrated", "tasks.templates=[]", "tasks.rehearsal=0.5")
    config = tiny_config(tmp_path, tmp_path, *words)
    source = build_tasks(config, 0, None, devices(config, tmp_path))
    splits = {source.next_task().split for _ in range(50)}
    assert splits == {"undemonstrated", "train"}


def test_rehearsal_of_what_is_trained_anyway_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="split='undemonstrated'"):
        tiny_config(tmp_path, tmp_path, "tasks.split=train", "tasks.rehearsal=0.5")
