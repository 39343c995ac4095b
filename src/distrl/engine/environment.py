"""Play test tasks in any environment: the tasks, devices and judge that settings describe.

`distrl evaluate --on` measures a policy with this code and `distrl play --on` shows it, on
simulated phones, on phones over adb and on web pages. The devices are opened for this and closed
afterwards; the checks made before training are made here before any device is touched. To count
successes, verdicts must come during the episode; for judges of whole trajectories there is
`distrl collect`.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from distrl.config.training_config import TrainingConfig
from distrl.devices.device import Device
from distrl.engine.device_wiring import Sizes, build_device_pool, build_judges, check_phones
from distrl.engine.task_wiring import build_pool
from distrl.episodes.evaluation import PolicyFor, evaluation_tasks, play_on
from distrl.errors import UsageError
from distrl.judging.judge import Judge
from distrl.records import Split, Task, Trajectory
from distrl.runs.run_directory import OWNER_ONLY
from distrl.task_sets.task_pool import TaskPool

MAX_DEVICES = 16  # at once
CheckSizes = Callable[[Sizes], None]  # raises if an agent cannot take screens of these sizes


@dataclass(frozen=True, slots=True)
class Environment:
    """Opened devices, their pool of tasks, and the judge of each episode, as settings say."""

    config: TrainingConfig
    devices: Sequence[Device]
    pool: TaskPool
    judge_for: Callable[[Device], Judge]

    @property
    def stop_on_success(self) -> bool:
        return self.config.collection.stop_on_success

    def tasks(self) -> Iterator[Task]:
        """Yield tasks of the split without end, each template once per round."""
        settings = self.config.tasks
        if settings.source == "simulated":
            names = settings.template_names if settings.templates else ()
            seed = self.config.run.seed
            yield from evaluation_tasks(settings.split, settings.families, names, seed)
        for turn in count():
            for template in self.pool.templates:
                yield self.pool.task(template, turn)


@contextmanager
def open_environment(
    config: TrainingConfig,
    split: Split | None,  # None: `evaluation.split`
    episodes: int,  # to be played; no more devices than that are opened
    seed: int,  # of the tasks; replaces the run's, so that all runs play the same ones
    logs: Path | None = None,  # of emulators; refused actions go beside it; None: not kept
    check_sizes: CheckSizes | None = None,  # None: the agent takes screens of any size
) -> Iterator[Environment]:
    """Check the phones, open as many as the episodes can use, and close them at the end."""
    if config.environments:
        raise UsageError(
            f"these settings have the environments {', '.join(config.environments)}; one is opened "
            "at a time: name the settings that it is made from"
        )
    config = _measured(config, split or config.evaluation.split, episodes, seed)
    with ExitStack() as opened:
        logs = logs or Path(opened.enter_context(tempfile.TemporaryDirectory()), "logs")
        logs.parent.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        logs.mkdir(exist_ok=True)
        sizes = check_phones(config, logs.parent)
        if check_sizes is not None:
            check_sizes(sizes)
        pool = build_device_pool(config, 0, opened, logs)
        for device in pool.devices:
            opened.callback(device.close)
        yield Environment(config, pool.devices, build_pool(config, 0, pool), build_judges(config))


def play_environment(
    config: TrainingConfig,
    policy_for: PolicyFor,
    episodes: int,
    seed: int,
    split: Split,
    check_sizes: CheckSizes | None = None,
) -> Generator[Trajectory]:
    """Play one episode of each of the first tasks of the split; yield trajectories as they end."""
    check_judged(config)
    opened = open_environment(config, split, episodes, seed, check_sizes=check_sizes)
    with opened as environment:
        yield from play_on(
            islice(environment.tasks(), episodes),
            policy_for,
            environment.devices,
            environment.judge_for,
            stop_on_success=environment.stop_on_success,
        )


def check_judged(config: TrainingConfig) -> None:
    """Raise if the judge decides only after the episode."""
    if config.judge.later:
        raise UsageError(
            f"judge.kind={config.judge.kind!r} judges after the episode; play those tasks with "
            "`distrl collect --set tasks.split=test`"
        )


def _measured(config: TrainingConfig, split: Split, episodes: int, seed: int) -> TrainingConfig:
    """Return the settings of a single collector that plays the split and runs no evaluations."""
    return dataclasses.replace(
        config.unmeasured(),
        run=dataclasses.replace(config.run, seed=seed),
        tasks=dataclasses.replace(config.tasks, split=split, rehearsal=0.0),
        devices=dataclasses.replace(
            config.devices, count=min(config.devices.count, episodes, MAX_DEVICES), spares=0
        ),
        collection=dataclasses.replace(config.collection, collectors=1),
    )
