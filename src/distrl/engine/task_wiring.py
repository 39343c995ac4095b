"""Build the task source of one collector, from the settings.

    task pool (of `tasks.source`) ─► curriculum ─► rehearsal ─► attempts together ─► collector

Each collector draws from its own share of the tasks; the curriculum chooses the next one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from distrl import plugins
from distrl.config.task_settings import TaskSettings
from distrl.config.training_config import TrainingConfig
from distrl.devices.device import Device
from distrl.engine.browser_wiring import page_task_words, web_tasks
from distrl.episodes.device_pool import DevicePool
from distrl.errors import InvalidSetting, UsageError
from distrl.records import Task
from distrl.task_sets.aitw import AitwTasks, load_aitw
from distrl.task_sets.android_world import AndroidWorldPhone, android_world_tasks
from distrl.task_sets.curriculum import (
    InstructionCritic,
    InstructionValueTasks,
    RehearsedTasks,
    RepeatedTasks,
    SuccessRateTasks,
    TaskSource,
    UniformTasks,
)
from distrl.task_sets.miniwob import find_pages, load_task
from distrl.task_sets.mobilegym import find_mobilegym
from distrl.task_sets.task_pool import ListedTasks, NumberedTasks, SimulatedTasks, TaskPool


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
        assert critic is not None  # settings that lack one are refused earlier
        source = InstructionValueTasks(pool, critic.critic, critic.lock)
    else:
        source = UniformTasks(pool)
    if config.tasks.rehearsal:
        known = UniformTasks(_known_tasks(config, number))
        source = RehearsedTasks(source, known, config.tasks.rehearsal, f"{pool.seed}/{pool.share}")
    together = config.learning.learner.attempts_together
    return RepeatedTasks(source, together) if together > 1 else source


def build_pool(
    config: TrainingConfig, number: int, device_pool: DevicePool[Device] | None = None
) -> TaskPool:
    """Return this collector's share of all tasks; AndroidWorld's are read from its devices."""
    settings, seed, shares = config.tasks, config.run.seed, config.collection.collectors
    if settings.source == "aitw":
        found = read_aitw(settings)
        listed = found.train if settings.split == "train" else found.test
        return ListedTasks(listed, seed, number, shares)
    if settings.source == "android_world":
        if device_pool is None:
            raise UsageError("AndroidWorld's tasks are known by its phones alone: build them first")
        return ListedTasks(_android_world(settings, device_pool), seed, number, shares)
    if settings.source == "miniwob":
        templates = find_pages().named(settings.templates)
        return NumberedTasks(templates, load_task, settings.split, seed, number, shares)
    if settings.source == "mobilegym":
        folder = find_mobilegym(settings.mobilegym_folder)
        templates = folder.templates(settings.split, settings.templates)
        return NumberedTasks(templates, folder.load, settings.split, seed, number, shares)
    if settings.source in ("web", "registered"):
        read = web_tasks if settings.source == "web" else registered_tasks
        return ListedTasks(read(settings), seed, number, shares)
    return SimulatedTasks(settings.template_names, settings.split, seed, number, shares)


def _known_tasks(config: TrainingConfig, number: int) -> TaskPool:
    """Return the pool for rehearsal: all templates of the same families in the split `train`."""
    settings = replace(config.tasks, split="train", templates=(), rehearsal=0.0)
    shares = config.collection.collectors
    return SimulatedTasks(settings.template_names, "train", config.run.seed, number, shares)


def registered_tasks(settings: TaskSettings) -> list[Task]:
    """Return the wanted tasks of the split that plugins registered; raise if there are none."""
    parts = [plugin.part for plugin in plugins.plugins("task")]
    tasks = [each for each in parts if isinstance(each, Task) and each.split == settings.split]
    wanted = [each for each in tasks if settings.wants(each.template)]
    if not wanted:
        raise InvalidSetting(
            f"tasks.source='registered' with tasks.templates={list(settings.templates)}; none of "
            f"{len(tasks)} registered tasks of the split {settings.split} is of a template like "
            "that: hand a distrl.records.Task to distrl.register_task"
        )
    return wanted


def task_words(config: TrainingConfig) -> str:
    """Describe the tasks in a sentence shown before a run; raise if they cannot be read."""
    if config.tasks.source == "registered":
        return f"{len(registered_tasks(config.tasks))} registered tasks"
    if config.tasks.source in ("miniwob", "mobilegym", "web"):
        return page_task_words(config)
    if config.tasks.source != "aitw":
        return ""
    return f"Android in the Wild, {config.tasks.aitw.subset}: {read_aitw(config.tasks)}"


def read_aitw(settings: TaskSettings) -> AitwTasks:
    aitw = settings.aitw
    return load_aitw(aitw.subset, Path(aitw.train_file), Path(aitw.test_file))


def _android_world(settings: TaskSettings, device_pool: DevicePool[Device]) -> list[Task]:
    """Read the tasks from the first device: all devices have the same suite."""
    phone = device_pool.devices[0]
    assert isinstance(phone, AndroidWorldPhone)
    tasks = list(android_world_tasks(phone.host, settings.split))
    wanted = [each for each in tasks if settings.wants(each.template)]
    if not wanted:
        raise InvalidSetting(
            f"tasks.templates={list(settings.templates)}; none of AndroidWorld's {len(tasks)} "
            "tasks is of a template like that: they are called android_world.TYPE"
        )
    return wanted
