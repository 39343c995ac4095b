"""All settings of a run as one frozen dataclass, loaded from a TOML file and flags.

Sections are dataclasses; a component that has its own settings is a field here of its own settings
class, so that every default is written once. Learner and policy are seeded from run.seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from distrl.bounds import Bounds, Fixed, Meaning, PartName, check_bounds
from distrl.config import sections
from distrl.config import typed_reader as reader
from distrl.config.config_file import found_config
from distrl.config.contradictions import (
    OWN_DEVICE_SOURCES,
    TASK_SOURCES,
    check_environments,
    check_settings,
)
from distrl.config.environments import (
    OF_ENVIRONMENTS,
    EnvironmentSettings,
    join_environment,
    merged,
    resolve_environments,
)
from distrl.config.renamed import refuse_old_names, take_old_values
from distrl.config.setting_words import put_word
from distrl.config.task_settings import TaskSettings, TaskSourceName
from distrl.config.toml_writer import is_as_written
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.a_ride import ARideSettings
from distrl.learning.algorithms.digirl import DigirlSettings
from distrl.learning.algorithms.filtered_bc import FilteredBcSettings
from distrl.learning.algorithms.grpo import GrpoSettings
from distrl.learning.algorithms.ppo import PpoSettings
from distrl.learning.algorithms.vtrace import VTraceSettings
from distrl.learning.gradient_step import StepSettings
from distrl.learning.learner_settings import LearnerSettings
from distrl.plugin_shape import BUILT_IN
from distrl.records import tasks_split
from distrl.replay.buffer.pacing import PacingSettings
from distrl.replay.buffer.replay_buffer import ReplaySettings
from distrl.replay.store.trajectory_store import TrajectoryStoreSettings
from distrl.toml_file import loads_toml

SEED_STEP = 10_000  # distance between seeds of joined collectors, so that they draw other tasks
ENVIRONMENT_SEED_STEP = 1_000_000  # the same for environments


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """The algorithm and its settings; the sections of the other algorithms are unused."""

    algorithm: Annotated[str, PartName("algorithm")] = "a_ride"
    options: Annotated[
        Mapping[str, float], Meaning("what a registered algorithm is made with, by name")
    ] = field(default_factory=dict)
    corpus: Annotated[
        str, Meaning("a directory of stored trajectories to preload; offline training needs it")
    ] = ""
    any_corpus: Annotated[
        bool, Meaning("a corpus of another model, or of tasks that are evaluated on, will do too")
    ] = False
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
        if self.options and self.algorithm in BUILT_IN["algorithm"]:
            raise InvalidSetting(
                f"options={dict(self.options)} with algorithm={self.algorithm!r}; they are for "
                f"algorithms that others have registered: give learning.{self.algorithm}.NAME"
            )


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """All settings of a run."""

    run: sections.RunSettings = field(default_factory=sections.RunSettings)
    tasks: TaskSettings = field(default_factory=TaskSettings)
    devices: sections.DeviceSettings = field(default_factory=sections.DeviceSettings)
    judge: sections.JudgeSettings = field(default_factory=sections.JudgeSettings)
    agent: sections.AgentSettings = field(default_factory=sections.AgentSettings)
    collection: sections.CollectionSettings = field(default_factory=sections.CollectionSettings)
    store: TrajectoryStoreSettings = field(default_factory=TrajectoryStoreSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    pacing: PacingSettings = field(default_factory=PacingSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    evaluation: sections.EvaluationSettings = field(default_factory=sections.EvaluationSettings)
    reporting: sections.ReportingSettings = field(default_factory=sections.ReportingSettings)
    engine: sections.EngineSettings = field(default_factory=sections.EngineSettings)

    environments: Annotated[
        Mapping[str, EnvironmentSettings], Meaning("several in one run, by name")
    ] = field(default_factory=dict)
    environment: Annotated[str, Fixed("a run has environments.NAME")] = ""  # `in_environment`

    def __post_init__(self) -> None:
        if self.environments:
            check_environments(self)
        else:
            check_settings(self)

    # Environments -------------------------------------------------------------------------------

    def in_environment(self, name: str) -> TrainingConfig:
        """Return one environment's settings as a run of its own, with a seed for other tasks."""
        place, own = list(self.environments).index(name), self.environments[name]
        seed = (self.run.seed + ENVIRONMENT_SEED_STEP * place) % 2**31
        evaluation = dataclasses.replace(self.evaluation, split=own.evaluation_split)
        if not own.measured:
            evaluation = dataclasses.replace(evaluation, before=0, after=0, every_minutes=None)
        return dataclasses.replace(
            self,
            environments={},
            environment=name,
            run=dataclasses.replace(self.run, seed=seed),
            tasks=own.tasks,
            devices=own.devices,
            judge=own.judge,
            collection=dataclasses.replace(
                self.collection,
                collectors=own.collectors,
                stop_on_success=own.stop_on_success,
            ),
            evaluation=evaluation,
        )

    def by_environment(self) -> dict[str, TrainingConfig]:
        """Return the settings of every environment; without environments, those of the run."""
        if not self.environments:
            return {self.environment: self}
        return {name: self.in_environment(name) for name in self.environments}

    def measured(self) -> dict[str, TrainingConfig]:
        """Return the settings of the environments in which success is evaluated."""
        every = self.by_environment()
        return {
            name: each
            for name, each in every.items()
            if not self.environments or self.environments[name].measured
        }

    def unmeasured(self) -> TrainingConfig:
        """Return the same settings without evaluations."""
        none = dataclasses.replace(self.evaluation, before=0, after=0, every_minutes=None)
        return dataclasses.replace(self, evaluation=none)

    @property
    def measures_unseen(self) -> bool:
        """Whether success is measured only on tasks that training does not play."""
        played = {
            (each.tasks.source, tasks_split(split))
            for each in self.by_environment().values()
            for split in each.tasks.played_splits
        }
        measured = {
            (each.tasks.source, tasks_split(each.evaluation.split))
            for each in self.measured().values()
        }
        return played.isdisjoint(measured)

    def of_collector(self, number: int) -> tuple[TrainingConfig, int]:
        """Return the settings of a collector's environment, and the collector's number in it."""
        for each in self.by_environment().values() if self.environments else ():
            if number < each.collection.collectors:
                return each, number
            number -= each.collection.collectors
        return self, number

    def device_name(self, number: int, kind: str = "phone") -> str:
        """Return the name of a phone or a spare, unique in the run."""
        words = [self.environment, "" if self.environment and kind == "phone" else kind]
        return "-".join([*filter(None, words), str(number)])

    @property
    def unused(self) -> frozenset[str]:
        """Unused sections and settings: those that environments define, or `environments`."""
        return OF_ENVIRONMENTS if self.environments else frozenset({"environments"})

    @property
    def collector_count(self) -> int:
        """The number of collectors in all environments together."""
        return sum(each.collection.collectors for each in self.by_environment().values())

    @property
    def device_count(self) -> int:
        return sum(each.devices.count for each in self.by_environment().values())

    @property
    def device_words(self) -> str:
        """The devices in words, such as "8 × simulated, 2 × browser"."""
        every = self.by_environment().values()
        return ", ".join(f"{each.devices.count} × {each.devices.kind}" for each in every)

    @property
    def devices_per_collector(self) -> int:
        """The largest number of devices that any collector has."""
        every = self.by_environment().values()
        return max(-(-e.devices.count // max(1, e.collection.collectors)) for e in every)

    @property
    def in_one_process(self) -> bool:
        """Whether no collector or evaluation runs in a process of its own."""
        return self.collection.mode == "one_process" or self.learning.learner.mode == "offline"

    @property
    def one_policy_per_node(self) -> bool:
        """Whether one process per machine runs the policy for all collectors (`engine.policy`)."""
        if self.in_one_process:
            return False
        if self.engine.policy != "auto":
            return self.engine.policy == "node"
        on_gpu = self.agent.policy.device.startswith("cuda") and not self.agent.server
        curricula = {each.tasks.curriculum for each in self.by_environment().values()}
        needs_critic = "instruction_value" in curricula  # a critic in each collector
        return self.engine.kind == "local" and on_gpu and not needs_critic


def load_config(path: Path | None = None, overrides: Sequence[str] = ()) -> TrainingConfig:
    """Load settings from a TOML file (None: the defaults), changed by words such as `a.b=c`."""
    return seeded(reader.read_section(TrainingConfig(), _tree(path, overrides)))


def load_run_config(path: Path, overrides: Sequence[str] = ()) -> TrainingConfig:
    """Load the settings that a run wrote. Raise if any is missing, since a default may differ."""
    tree = _tree(path, overrides)
    names = _required_names(tree)
    if missing := [name for name in names if not reader.is_given(tree, name)]:
        listed = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        raise InvalidSetting(
            f"{path} lacks {len(missing)} of {len(names)} settings ({listed}): it was cut or "
            "emptied, or another version wrote it, and the run would not be what it was begun as; "
            "restore the file, or give each of them as it was: --set NAME=VALUE"
        )
    if not is_as_written(path.read_bytes()):
        raise InvalidSetting(
            f"{path} is not as the run wrote it: its checksum does not match. If you have changed "
            "it, take out its first line; if a disk damaged it, restore the file"
        )
    config = seeded(reader.read_section(TrainingConfig(), tree))
    _check_collectors(config, path)
    return config


def _required_names(tree: dict[str, reader.Node]) -> list[str]:
    """Return all settings that a run writes: those of its environments replace its own."""
    named = tree.get("environments")
    environments = named if isinstance(named, dict) else {}
    unused = OF_ENVIRONMENTS if environments else frozenset[str]()
    whole = [
        name
        for name in reader.setting_names(TrainingConfig)
        if not {name, name.partition(".")[0]} & unused
    ]
    for each in environments:
        whole += reader.setting_names(EnvironmentSettings, f"environments.{each}")
    return whole


def _check_collectors(config: TrainingConfig, path: Path) -> None:
    """Refuse changed collector counts: a resumed collector must be in the environment it was in."""
    if not config.environments:
        return
    written = reader.read_section(TrainingConfig(), _tree(path, ())).environments
    before, now = (
        {name: each.collectors for name, each in every.items()}
        for every in (written, config.environments)
    )
    if before != now:
        raise InvalidSetting(
            f"environments have these collectors: {now}, and the run was begun with {before}; "
            "collectors keep their environments: begin another run for that"
        )


# Settings that the machine of a joined collector sets itself; all others are the learner's.
OWN = (
    "devices.", "agent.model", "agent.adapter", "agent.policy.device", "collection.threads",
    "run.directory", "run.free_gigabytes",
)  # fmt: skip


def load_joined_config(
    settings: str,
    number: int,
    path: Path | None = None,
    overrides: Sequence[str] = (),
    environment: str = "",
) -> TrainingConfig:
    """Load the settings of the joined collector `number`: those of the learner (TOML) and its own.

    It is the only collector of its machine, with all devices there; it draws tasks with its own
    seed. If the learner has several environments it plays in the named one, or in the first whose
    tasks its devices can play.
    """
    own = _tree(path, overrides)
    for name, given in reader.leaves(own):
        if not name.startswith(OWN):
            raise InvalidSetting(
                f"{name}={given.value!r} ({given.source}): the learner sets that; a collector that "
                f"joins sets {', '.join(OWN)} alone"
            )
    tables, joined = join_environment(_learner_tables(settings), environment, _sources(own))
    tree = {name: reader.plant(each, "the learner") for name, each in tables.items()}
    take_old_values(tree)
    for word in ("collection.collectors=1", "collection.mode=asynchronous"):
        put_word(tree, word)
    put_word(tree, "learning.learner.precision=full")  # a collector does not learn
    config = reader.read_section(TrainingConfig(), merged(tree, own))
    seed = (config.run.seed + SEED_STEP * (number + 1)) % 2**31
    run = dataclasses.replace(config.run, seed=seed)
    return seeded(dataclasses.replace(config, run=run, environment=joined))


def _learner_tables(settings: str) -> dict[str, Any]:
    """Parse the learner's settings, without those that concern only the learner's machine."""
    try:
        content = loads_toml(settings)
    except ValueError as error:
        raise InvalidSetting(f"the learner's settings are not valid TOML: {error}") from error
    if isinstance(run := content.get("run"), dict):
        content["run"] = {name: run[name] for name in run.keys() - {"directory", "free_gigabytes"}}
    return {name: each for name, each in content.items() if name not in ("devices", "engine")}


def _sources(own: dict[str, reader.Node]) -> tuple[TaskSourceName, ...]:
    """Return the task sources that the devices of a joined collector support."""
    kinds = [given.value for name, given in reader.leaves(own) if name == "devices.kind"]
    kind = str(kinds[0]) if kinds else sections.DeviceSettings().kind
    return TASK_SOURCES.get(kind, OWN_DEVICE_SOURCES)


def _tree(path: Path | None, overrides: Sequence[str]) -> dict[str, reader.Node]:
    tree = {} if path is None else reader.read_toml(found_config(path))
    for word in overrides:
        put_word(tree, word)
    refuse_old_names(TrainingConfig, tree)
    take_old_values(tree)
    return resolve_environments(tree, lambda name: _tree(Path(name), ()))


def seeded(config: TrainingConfig) -> TrainingConfig:
    """Return the settings with learner and policy seeded from run.seed."""
    learner = dataclasses.replace(config.learning.learner, seed=config.run.seed)
    policy = dataclasses.replace(config.agent.policy, seed=config.run.seed)
    return dataclasses.replace(
        config,
        learning=dataclasses.replace(config.learning, learner=learner),
        agent=dataclasses.replace(config.agent, policy=policy),
    )
