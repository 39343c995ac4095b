"""Play test tasks in any environment: the tasks, devices and judge that settings describe.

One policy can so be measured (`distrl evaluate --on`) and watched (`distrl play --on`) on simulated
phones, on phones over adb and on web pages by the same code. Devices are opened for it and closed
after it; what would be refused before training is refused before any of them is touched. Where
episodes are counted, verdicts must come during the episode: judges of whole trajectories have
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
CheckSizes = Callable[[Sizes], None]  # raises where an agent cannot take screens of these sizes


@dataclass(frozen=True, slots=True)
class Environment:
    """What settings describe, opened: devices, the pool of tasks, and the judge of each episode."""

    config: TrainingConfig
    devices: Sequence[Device]
    pool: TaskPool
    judge_for: Callable[[Device], Judge]

    @property
    def stop_on_success(self) -> bool:
        return self.config.collection.stop_on_success

    def tasks(self) -> Iterator[Task]:
        """Tasks of the split without end, each template once a round."""
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
    split: Split | None,  # None: what the settings evaluate on
    episodes: int,  # that are to be played; never more devices than that
    seed: int,  # of the tasks, in place of the run's: the same for every run that is measured
    logs: Path | None = None,  # of emulators, and beside it what phones refused; None: not kept
    check_sizes: CheckSizes | None = None,  # None: the agent takes all screens
) -> Iterator[Environment]:
    """Check the phones, then open as many as are of use; they are closed in the end."""
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
    """Every trajectory as it ends: one episode for each of the first tasks of the split."""
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
    """Raise where verdicts do not come during the episode."""
    if config.judge.later:
        raise UsageError(
            f"judge.kind={config.judge.kind!r} judges after the episode; play those tasks with "
            "`distrl collect --set tasks.split=test`"
        )


def _measured(config: TrainingConfig, split: Split, episodes: int, seed: int) -> TrainingConfig:
    """The settings of one collector that plays the split and measures nothing itself."""
    return dataclasses.replace(
        config.unmeasured(),
        run=dataclasses.replace(config.run, seed=seed),
        tasks=dataclasses.replace(config.tasks, split=split, rehearsal=0.0),
        devices=dataclasses.replace(
            config.devices, count=min(config.devices.count, episodes, MAX_DEVICES), spares=0
        ),
        collection=dataclasses.replace(config.collection, collectors=1),
    )
