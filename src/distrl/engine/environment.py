"""Play test tasks in any environment: the tasks, devices and judge that settings describe.

One policy can so be measured on simulated phones, on phones over adb and on web pages by the same
code (`distrl evaluate --on`). Devices are opened for it and closed after it, and play in lockstep.
Verdicts must come during the episode: judges of whole trajectories have `distrl collect`.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path

from distrl.config.training_config import TrainingConfig
from distrl.engine.device_wiring import build_device_pool, build_judges
from distrl.engine.wiring import build_pool
from distrl.episodes.evaluation import PolicyFor, evaluation_tasks, play_on
from distrl.errors import UsageError
from distrl.records import Split, Task, Trajectory
from distrl.task_sets.task_pool import TaskPool

MAX_DEVICES = 16  # at once


def play_environment(
    config: TrainingConfig, policy_for: PolicyFor, episodes: int, seed: int, split: Split
) -> Generator[Trajectory]:
    """Every trajectory as it ends: one episode for each of the first tasks of the split."""
    if config.judge.later:
        raise UsageError(
            f"judge.kind={config.judge.kind!r} judges after the episode; play those tasks with "
            "`distrl collect --set tasks.split=test`"
        )
    config = _measured(config, split, episodes)
    with ExitStack() as opened:
        logs = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        pool = build_device_pool(config, 0, opened, logs)
        for device in pool.devices:
            opened.callback(device.close)
        tasks = islice(environment_tasks(config, build_pool(config, 0, pool), seed), episodes)
        stops = config.collection.stop_on_success
        yield from play_on(
            tasks, policy_for, pool.devices, build_judges(config), stop_on_success=stops
        )


def environment_tasks(config: TrainingConfig, pool: TaskPool, seed: int) -> Iterator[Task]:
    """Tasks of the settings' split without end, each template once a round."""
    settings = config.tasks
    if settings.source == "simulated":
        names = settings.template_names if settings.templates else ()
        yield from evaluation_tasks(settings.split, settings.families, names, seed)
    for turn in count():
        for template in pool.templates:
            yield pool.task(template, turn)


def _measured(config: TrainingConfig, split: Split, episodes: int) -> TrainingConfig:
    """The settings of one collector that plays the split and measures nothing itself."""
    return dataclasses.replace(
        config,
        tasks=dataclasses.replace(config.tasks, split=split),
        devices=dataclasses.replace(
            config.devices, count=min(config.devices.count, episodes, MAX_DEVICES), spares=0
        ),
        collection=dataclasses.replace(config.collection, collectors=1),
        evaluation=dataclasses.replace(config.evaluation, before=0, after=0, every_minutes=None),
    )
