"""The public API: train, resume, collect, evaluate and play from a script, and build the parts.

    import distrl

    if __name__ == "__main__":
        config = distrl.load_config("quick_start", ["run.minutes=2"])
        run = distrl.train(config, on_metrics=lambda point: print(point.figures))
        print(run.result.success_after, distrl.evaluate(run.policy, episodes=50))

`distrl` exports these names lazily; docs/api.md describes them. Settings are a `TrainingConfig`, a
TOML file, or the name of a config that comes with DistRL. Collectors are processes that import the
script again, so it needs `if __name__ == "__main__":`, as always with multiprocessing. Runs in one
process (`collection.mode = "one_process"`, or offline) or on a Ray cluster do not need it.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, SupportsIndex

from rich.console import Console

from distrl.agent.policy import Policy
from distrl.config import training_config
from distrl.config.config_file import settings_path
from distrl.config.overrides import Overrides, override_words
from distrl.config.training_config import TrainingConfig, seeded
from distrl.devices.device import Device
from distrl.engine import wiring
from distrl.engine.device_wiring import build_device_pool
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.stop_request import StopRequested
from distrl.engine.task_wiring import build_pool
from distrl.episodes.collector import Collector
from distrl.episodes.episode import run_episode
from distrl.episodes.evaluation import SIMPLE_AGENTS, PolicyFor, evaluation_tasks
from distrl.episodes.evaluation import evaluate as evaluate_tasks
from distrl.episodes.outcome import Outcome, SuccessRate, success_rate
from distrl.errors import UsageError
from distrl.judging.judge import Judge
from distrl.learning.learner import Learner
from distrl.process_environment import check_script
from distrl.records import CORE_FAMILIES, FamilyChoice, Split, Task, Trajectory
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import OnPoint, read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point, RunResult
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

if TYPE_CHECKING:
    from torch import Tensor

    from distrl.agent.vlm_policy import VlmPolicy

Settings = TrainingConfig | str | Path | None  # None: the defaults
PHONES = 16  # number of phones that an evaluation uses at once


class Engine(Protocol):
    """Executes one run in its directory, once; on one machine or on a Ray cluster."""

    directory: RunDirectory

    def train(self, *, resumed: bool = False, accept_losses: bool = False) -> RunResult: ...

    def stop(self) -> None:
        """Request an orderly end, from any thread; the run can be resumed."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """A run and its directory; `result` is None if it was stopped, or only collected."""

    directory: Path
    result: RunResult | None = None

    @property
    def policy(self) -> Path:
        """The path of the trained model, for `evaluate`, `play` and `agent.model`.

        It exists once a run with at least one update has ended or was stopped.
        """
        return RunDirectory(self.directory).policy

    def trajectories(self) -> Iterator[Trajectory]:
        """Yield the collected trajectories, in order of arrival."""
        reader = TrajectoryReader(RunDirectory(self.directory).trajectories)
        return (stored.trajectory for stored in reader.read())

    def metrics(self) -> list[Point]:
        """Return every point that `on_metrics` was called with."""
        return read_points(RunDirectory(self.directory).metrics)


Agent = Policy | Run | str | Path  # a policy, a run, a model, or a simple agent such as monkey


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of every task, and the success rate."""

    outcomes: tuple[Outcome, ...]

    @property
    def success(self) -> SuccessRate:
        return success_rate(self.outcomes)

    def __str__(self) -> str:
        return str(self.success)


# Settings ----------------------------------------------------------------------------------------


def load_config(name: str | Path | None = None, settings: Overrides = ()) -> TrainingConfig:
    """Load the settings of a TOML file, or of a config of ours by name, and change them by words
    such as a.b=c, or by a dict such as {"a.b": c} or {"a": {"b": c}}.
    """
    return training_config.load_config(settings_path(name), override_words(settings))


def _config(given: Settings) -> TrainingConfig:
    return seeded(given) if isinstance(given, TrainingConfig) else load_config(given)


# Whole runs --------------------------------------------------------------------------------------


def train(
    config: Settings = None, *, on_metrics: OnPoint | None = None, quiet: bool = False
) -> Run:
    """Train from scratch, in a new run directory; return when a limit of the run is reached.

    `on_metrics` is called in this process with every `Point` as it is recorded (on a cluster, a
    moment later). If it returns True the run stops in an orderly way, as by Ctrl-C, and `resume`
    can continue it.
    """
    return _trained(build_engine(config, on_metrics=on_metrics, quiet=quiet), resumed=False)


def resume(
    directory: Run | str | Path,
    settings: Overrides = (),
    *,
    on_metrics: OnPoint | None = None,
    quiet: bool = False,
) -> Run:
    """Continue a run that was stopped or has crashed, optionally with changed settings."""
    _check_callback(on_metrics)
    if not isinstance(directory, Run | str | Path):
        raise UsageError(f"{directory!r:.60} is no run: give a Run, or the directory of one")
    path = directory.directory if isinstance(directory, Run) else Path(directory)
    run = RunDirectory.existing(path)
    with run.resuming():
        config = training_config.load_run_config(run.config, override_words(settings))
        if _starts_processes(config):
            check_script()
        with run.held():  # raises if another process holds the directory
            run.write_config(config)
        return _trained(_engine(config, run, on_metrics, quiet=quiet), resumed=True)


def _trained(engine: Engine, *, resumed: bool) -> Run:
    try:
        return Run(engine.directory.path, engine.train(resumed=resumed))
    except StopRequested:
        return Run(engine.directory.path)


def collect(
    config: Settings = None, *, on_metrics: OnPoint | None = None, quiet: bool = False
) -> Run:
    """Collect without learning until a limit of the run is reached."""
    _check_callback(on_metrics)
    loaded = _config(config)
    check_script()
    engine = LocalEngine(loaded, _new_directory(loaded), _console(quiet), on_metrics)
    engine.collect()
    return Run(engine.directory.path)


def evaluate(
    agent: Agent,
    *,
    tasks: Iterable[Task | str] | Task | str | None = None,
    episodes: SupportsIndex = 100,
    split: Split = "test",
    families: FamilyChoice | Sequence[FamilyChoice] = CORE_FAMILIES,
    templates: str | Sequence[str] = (),
    seed: int = 0,
) -> Evaluation:
    """Play each task once on simulated phones: the given `tasks`, or `episodes` tasks of a split,
    of families or of templates (names or patterns such as notes.*).
    """
    if not isinstance(episodes, SupportsIndex):  # NumPy integers are fine
        raise UsageError(f"episodes={episodes!r:.60}: give a whole number of them")
    if tasks is None:
        every = evaluation_tasks(split, families, templates, seed)
        drawn = list(islice(every, max(0, int(episodes))))
    else:
        listed = tasks if isinstance(tasks, Iterable) and not isinstance(tasks, str) else [tasks]
        drawn = [_task(each) for each in listed]
    if not drawn:
        raise UsageError("there is no task to play: give tasks, or 1 episode or more")
    devices = [SimulatedDevice(f"evaluation-{n}") for n in range(min(PHONES, len(drawn)))]
    return Evaluation(tuple(evaluate_tasks(drawn, _policy_for(agent), devices)))


def play(
    task: Task | str, agent: Agent, device: Device | None = None, judge: Judge | None = None
) -> Trajectory:
    """Play one task on a simulated phone, or on your own device with your own judge."""
    chosen = _task(task)
    with ExitStack() as opened:
        phone = device or opened.enter_context(SimulatedDevice("phone"))
        if isinstance(phone, SimulatedDevice):
            facts = FactJudge(phone)
            policy = _policy_for(agent)(chosen, phone, facts)
            return run_episode(chosen, phone, policy, judge or facts)
        if judge is None or isinstance(agent, str | Path | Run) or not _is_policy(agent):
            raise UsageError(
                f"play on the device {phone.name!r}, which has no facts: give a judge of yours, "
                "and an agent that is a policy"
            )
        return run_episode(chosen, phone, agent, judge)


def _task(given: object) -> Task:
    if isinstance(given, Task):
        return given
    if isinstance(given, str):
        return load_task(given)[0]
    raise UsageError(f"{given!r:.60} is no task: give a Task, or an id such as notes.create/test/3")


def _policy_for(agent: Agent) -> PolicyFor:
    if isinstance(agent, Run):
        agent = agent.policy
    if isinstance(agent, str) and agent in SIMPLE_AGENTS:
        return SIMPLE_AGENTS[agent]
    if isinstance(agent, str | Path):
        from distrl.agent.loading import load_policy

        loaded = load_policy(agent)
        return lambda task, device, judge: loaded
    if not _is_policy(agent):
        raise UsageError(f"{agent!r:.60} is no policy: it has no decide(observations)")
    return lambda task, device, judge: agent


def _is_policy(agent: object) -> bool:
    return callable(getattr(agent, "decide", None))


# Parts -------------------------------------------------------------------------------------------


def build_engine(
    config: Settings = None, *, on_metrics: OnPoint | None = None, quiet: bool = False
) -> Engine:
    """Create the engine of a new run with a new run directory; call its `train` and `stop`."""
    _check_callback(on_metrics)
    loaded = _config(config)
    if _starts_processes(loaded):
        check_script()
    return _engine(loaded, _new_directory(loaded), on_metrics, quiet=quiet)


def _check_callback(on_metrics: OnPoint | None) -> None:
    if on_metrics is not None and not callable(on_metrics):
        raise UsageError(f"on_metrics={on_metrics!r:.60} cannot be called; give a function")


def _starts_processes(config: TrainingConfig) -> bool:
    """Return whether multiprocessing starts processes; those of Ray do not import the script."""
    return config.engine.kind == "local" and not config.in_one_process


def _engine(
    config: TrainingConfig, run: RunDirectory, on_metrics: OnPoint | None, *, quiet: bool
) -> Engine:
    if config.engine.kind == "local":
        return LocalEngine(config, run, _console(quiet), on_metrics)
    from distrl.engine.ray.cluster.connection import require_ray

    require_ray()
    from distrl.engine.ray.ray_engine import RayEngine

    return RayEngine(config, run, _console(quiet), on_point=on_metrics)


def _new_directory(config: TrainingConfig) -> RunDirectory:
    run = RunDirectory.new(Path(config.run.directory), config.run.name, datetime.now().astimezone())
    run.write_config(config)
    return run


def _console(quiet: bool) -> Console:
    return Console(quiet=quiet)


@contextmanager
def build_devices(config: Settings = None) -> Iterator[list[Device]]:
    """Create all devices of the settings, in this process; reset a device before you use it."""
    with ExitStack() as opened, tempfile.TemporaryDirectory() as logs:
        pool = build_device_pool(_alone(_config(config)), 0, opened, Path(logs))
        for device in pool.devices:
            opened.callback(device.close)
        yield list(pool.devices)


def build_tasks(config: Settings = None) -> Iterator[Task]:
    """Yield the tasks of the settings endlessly, one of each template in turn."""
    pool = build_pool(_alone(_config(config)), 0)
    return (pool.task(template, turn) for turn in count() for template in pool.templates)


def build_policy(config: Settings = None) -> VlmPolicy:
    """Create the policy of the settings, ready for rollouts and for training."""
    return wiring.build_policy(_config(config))


def build_learner(config: Settings = None, policy: VlmPolicy | None = None) -> Learner:
    """Create a learner for your own loop: call its `step`, and feed it from a collector."""
    alone = _alone(_config(config))
    trained = policy or wiring.build_policy(alone)
    return wiring.build_learner(alone, trained, deque[Trajectory](), PublishedWeights())


@contextmanager
def build_collector(
    config: Settings = None, learner: Learner | None = None
) -> Iterator[Collector[Device]]:
    """Create a collector with its own policy and all devices, in this process: `collect(n)` plays.

    With a `learner`, the trajectories also go to it, and its new weights go to the collector.
    """
    weights = learner.publisher if learner is not None else PublishedWeights()
    arrivals = learner.incoming if learner is not None else deque[Trajectory]()
    if not isinstance(weights, PublishedWeights) or not isinstance(arrivals, deque):
        raise UsageError("build_collector feeds learners that build_learner has made")
    with ExitStack() as opened, tempfile.TemporaryDirectory() as logs:
        yield wiring.build_collector(
            _alone(_config(config)),
            "collector-0",
            0,
            sink=ArrivalSink(arrivals),
            weights=weights,
            admission=None,
            opened=opened,
            logs=Path(logs),
        )


def _alone(config: TrainingConfig) -> TrainingConfig:
    """Return the settings for one process in which collecting and learning take turns."""
    if config.environments:
        raise UsageError(
            f"settings with the environments {', '.join(config.environments)}: give those of one, "
            "config.in_environment(NAME)"
        )
    collection = dataclasses.replace(config.collection, mode="one_process", collectors=1)
    return dataclasses.replace(config, collection=collection)


class PublishedWeights:
    """Implements `Publisher` and `WeightSource` in memory."""

    def __init__(self) -> None:
        self._latest: tuple[Mapping[str, Tensor], int] | None = None

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._latest = weights, version

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        newer = self._latest is not None and self._latest[1] > version
        return self._latest if newer else None


@dataclass(frozen=True, slots=True)
class ArrivalSink:
    """Implements `TrajectorySink` with a deque that a learner reads."""

    arrivals: deque[Trajectory]

    def put(self, trajectory: Trajectory) -> bool:
        self.arrivals.append(trajectory)
        return True
