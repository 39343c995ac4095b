"""From settings to the tasks of one collector: its pool, and the curriculum that draws from it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from distrl.config.sections import TaskSettings
from distrl.config.training_config import TrainingConfig
from distrl.devices.device import Device
from distrl.episodes.device_pool import DevicePool
from distrl.errors import InvalidSetting
from distrl.records import Task
from distrl.task_sets.aitw import AitwTasks, load_aitw
from distrl.task_sets.android_world import AndroidWorldPhone, android_world_tasks
from distrl.task_sets.curriculum import (
    InstructionCritic,
    InstructionValueTasks,
    RepeatedTasks,
    SuccessRateTasks,
    TaskSource,
    UniformTasks,
)
from distrl.task_sets.task_pool import ListedTasks, SimulatedTasks, TaskPool


@dataclass(frozen=True, slots=True)
class LockedCritic:
    """A critic, and the lock to hold while it computes."""

    critic: InstructionCritic
    lock: AbstractContextManager[object]


def build_tasks(
    config: TrainingConfig,
    number: int,
    critic: LockedCritic | None,  # None: there is no critic in this process
    device_pool: DevicePool[Device],
) -> TaskSource:
    """The task source of one collector."""
    pool = build_pool(config, number, device_pool)
    source: TaskSource
    if config.tasks.curriculum == "success_rate":
        source = SuccessRateTasks(pool)
    elif config.tasks.curriculum == "instruction_value":
        assert critic is not None  # settings that have none are refused
        source = InstructionValueTasks(pool, critic.critic, critic.lock)
    else:
        source = UniformTasks(pool)
    together = config.learning.learner.attempts_together
    return RepeatedTasks(source, together) if together > 1 else source


def build_pool(config: TrainingConfig, number: int, device_pool: DevicePool[Device]) -> TaskPool:
    """This collector's share of all tasks."""
    settings, seed, shares = config.tasks, config.run.seed, config.collection.collectors
    if settings.source == "aitw":
        found = read_aitw(settings)
        listed = found.train if settings.split == "train" else found.test
        return ListedTasks(listed, seed, number, shares)
    if settings.source == "android_world":
        return ListedTasks(_android_world(settings, device_pool), seed, number, shares)
    return SimulatedTasks(settings.template_names, settings.split, seed, number, shares)


def task_words(config: TrainingConfig) -> str:
    """A sentence about the tasks to show before a run; raises if they cannot be read."""
    if config.tasks.source != "aitw":
        return ""
    return f"Android in the Wild, {config.tasks.aitw.subset}: {read_aitw(config.tasks)}"


def read_aitw(settings: TaskSettings) -> AitwTasks:
    aitw = settings.aitw
    return load_aitw(aitw.subset, Path(aitw.train_file), Path(aitw.test_file))


def _android_world(settings: TaskSettings, device_pool: DevicePool[Device]) -> list[Task]:
    """The tasks of the first device: all have the same suite."""
    phone = device_pool.devices[0].device
    assert isinstance(phone, AndroidWorldPhone)
    tasks = list(android_world_tasks(phone.host, settings.split))
    patterns = settings.templates or ("*",)
    wanted = [each for each in tasks if any(fnmatchcase(each.template, p) for p in patterns)]
    if not wanted:
        raise InvalidSetting(
            f"tasks.templates={list(patterns)}; none of AndroidWorld's {len(tasks)} tasks is of a "
            "template like that: they are called android_world.TYPE"
        )
    return wanted
