"""All settings of a run as one frozen record, and how it is loaded from a TOML file and flags.

Sections are dataclasses; a part of the system that has settings of its own is a field here with its
own class, so that every default is written once. Learner and policy are seeded by run.seed.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.config.judge_fit import check_judge_fit
from distrl.config.judge_section import JudgeSettings
from distrl.config.renamed import refuse_old_names
from distrl.config.sections import (
    AgentSettings,
    CollectionSettings,
    DeviceSettings,
    EngineSettings,
    EvaluationSettings,
    PacingSettings,
    ReportingSettings,
    RunSettings,
)
from distrl.config.task_section import TaskSettings
from distrl.config.typed_reader import Given, Node, plant, read_section, read_toml
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.a_ride import ARideSettings
from distrl.learning.algorithms.digirl import DigirlSettings
from distrl.learning.algorithms.filtered_bc import FilteredBcSettings
from distrl.learning.algorithms.grpo import GrpoSettings
from distrl.learning.algorithms.ppo import PpoSettings
from distrl.learning.algorithms.vtrace import VTraceSettings
from distrl.learning.gradient_step import StepSettings
from distrl.learning.learner_settings import LearnerSettings
from distrl.replay.buffer.replay_buffer import ReplaySettings
from distrl.replay.store.trajectory_store import TrajectoryStoreSettings

AlgorithmName = Literal["a_ride", "digirl", "filtered_bc", "vtrace", "ppo", "grpo"]


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Which algorithm learns, and how; the settings of the others wait beside it."""

    algorithm: AlgorithmName = "a_ride"
    corpus: Annotated[
        str, Meaning("a directory of stored trajectories to preload; offline training needs it")
    ] = ""
    threads: Annotated[int | None, Bounds(1, 1024, "threads; none: one for each core")] = None
    gpus: Annotated[int, Bounds(1, 64, "GPUs that share each update; on a CPU: processes")] = 1
    learner: LearnerSettings = field(default_factory=LearnerSettings)
    step: StepSettings = field(default_factory=StepSettings)
    a_ride: ARideSettings = field(default_factory=ARideSettings)
    digirl: DigirlSettings = field(default_factory=DigirlSettings)
    filtered_bc: FilteredBcSettings = field(default_factory=FilteredBcSettings)
    vtrace: VTraceSettings = field(default_factory=VTraceSettings)
    ppo: PpoSettings = field(default_factory=PpoSettings)
    grpo: GrpoSettings = field(default_factory=GrpoSettings)

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """All settings of a run."""

    run: RunSettings = field(default_factory=RunSettings)
    tasks: TaskSettings = field(default_factory=TaskSettings)
    devices: DeviceSettings = field(default_factory=DeviceSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
    store: TrajectoryStoreSettings = field(default_factory=TrajectoryStoreSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    pacing: PacingSettings = field(default_factory=PacingSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    reporting: ReportingSettings = field(default_factory=ReportingSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)

    def __post_init__(self) -> None:
        self._check_devices()
        check_judge_fit(self.tasks, self.devices, self.judge, self.collection, self.evaluation)
        self._check_pace()
        self._check_learner()
        self._check_engine()

    @property
    def devices_per_collector(self) -> int:
        """The most that any of them looks after."""
        return -(-self.devices.count // self.collection.collectors)

    def _check_devices(self) -> None:
        if self.collection.collectors > self.devices.count:
            raise InvalidSetting(
                f"collection.collectors={self.collection.collectors} for devices.count="
                f"{self.devices.count}; some would have no device: give at most that many"
            )

    def _check_pace(self) -> None:
        """Both sides must be able to move with whole batches, and the replay must hold its fill."""
        batch = self.learning.learner.batch_trajectories
        try:
            self.pacing.new().may_sample(batch)
        except InvalidSetting as error:
            raise InvalidSetting(
                f"pacing.{error} (learning.learner.batch_trajectories={batch})"
            ) from error
        if self.pacing.minimum_fill > self.replay.capacity:
            raise InvalidSetting(
                f"pacing.minimum_fill={self.pacing.minimum_fill} is more than replay.capacity="
                f"{self.replay.capacity}: the replay would never be full enough to begin"
            )

    def _check_learner(self) -> None:
        learner = self.learning.learner
        if learner.precision == "bf16" and self.agent.policy.device == "cpu":
            raise InvalidSetting(
                "learning.learner.precision='bf16' with agent.policy.device='cpu'; give full, or "
                "cuda"
            )
        if learner.mode != "online" and not self.learning.corpus:
            raise InvalidSetting(
                f"learning.learner.mode={learner.mode!r} without learning.corpus; name the "
                "directory of trajectories to learn from"
            )

    def _check_engine(self) -> None:
        if self.engine.kind == "ray" and self.collection.mode != "asynchronous":
            raise InvalidSetting(
                f"collection.mode={self.collection.mode!r} with engine.kind='ray'; collectors on a "
                "cluster never wait for each other: give asynchronous, or the engine local"
            )
        if self.engine.policy == "node" and self.tasks.curriculum == "instruction_value":
            raise InvalidSetting(
                "tasks.curriculum='instruction_value' with engine.policy='node'; collectors have "
                "no critic of their own then: give uniform or success_rate, or the policy collector"
            )


def load_config(path: Path | None = None, overrides: Sequence[str] = ()) -> TrainingConfig:
    """The settings of a TOML file (none: the defaults), changed by words such as `a.b=c`."""
    tree = {} if path is None else read_toml(path)
    for word in overrides:
        _override(tree, word)
    refuse_old_names(TrainingConfig, tree)
    return _seeded(read_section(TrainingConfig(), tree))


def _override(tree: dict[str, Node], word: str) -> None:
    key, equals, text = (part.strip() for part in word.partition("="))
    if not equals or not all(key.split(".")):
        raise InvalidSetting(
            f"--set {word}: give a setting and its value, such as --set replay.capacity=500"
        )
    *sections, last = key.split(".")
    here = tree
    for place, section in enumerate(sections, start=1):
        inside = here.setdefault(section, {})
        if isinstance(inside, Given):
            at = ".".join(sections[:place])
            raise InvalidSetting(f"{at}={inside.value!r} ({inside.source}): {at} is a section")
        here = inside
    here[last] = plant(_value_of(text), f"--set {word}", text)


def _value_of(text: str) -> object:
    """As TOML has it, and a bare word as a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _seeded(config: TrainingConfig) -> TrainingConfig:
    """With learner and policy seeded as the run is."""
    learner = dataclasses.replace(config.learning.learner, seed=config.run.seed)
    policy = dataclasses.replace(config.agent.policy, seed=config.run.seed)
    return dataclasses.replace(
        config,
        learning=dataclasses.replace(config.learning, learner=learner),
        agent=dataclasses.replace(config.agent, policy=policy),
    )
