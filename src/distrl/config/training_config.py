"""All settings of a run as one frozen record, and how it is loaded from a TOML file and flags.

Sections are dataclasses; a part of the system that has settings of its own is a field here with its
own class, so that every default is written once. Learner and policy are seeded by run.seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from distrl.bounds import Bounds, Meaning, PartName, check_bounds
from distrl.config import sections
from distrl.config import typed_reader as reader
from distrl.config.config_file import found_config
from distrl.config.renamed import refuse_old_names, take_old_values
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
from distrl.replay.buffer.pacing import PacingSettings
from distrl.replay.buffer.replay_buffer import ReplaySettings
from distrl.replay.store.trajectory_store import TrajectoryStoreSettings
from distrl.toml_file import loads_toml

# Which tasks each kind of device can be given. Simulated tasks are facts on a simulated phone;
# instructions of Android in the Wild and registered tasks go to any; AndroidWorld's need its own
# phones, those on web pages a browser.
TASK_SOURCES: dict[str, tuple[sections.TaskSourceName, ...]] = {
    "simulated": ("simulated", "aitw", "registered"),
    "adb": ("simulated", "aitw", "registered"),
    "emulator": ("aitw", "registered"),
    "android_world": ("android_world",),
    "browser": ("miniwob", "web"),
}
JUDGED_SOURCES: dict[str, tuple[sections.TaskSourceName, ...]] = {  # by judges that know them
    "facts": ("simulated",),
    "android_world": ("android_world",),
    "page": ("miniwob", "web"),
}
OWN_DEVICE_SOURCES: tuple[sections.TaskSourceName, ...] = ("simulated", "aitw", "registered")


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Which algorithm learns, and how; the settings of the others wait beside it."""

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
    tasks: sections.TaskSettings = field(default_factory=sections.TaskSettings)
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

    def __post_init__(self) -> None:
        self._check_devices()
        self._check_judge()
        self._check_evaluation()
        self._check_pace()
        self._check_learner()
        self._check_engine()
        self._check_server()

    @property
    def devices_per_collector(self) -> int:
        """The most that any of them looks after."""
        return -(-self.devices.count // max(1, self.collection.collectors))

    @property
    def one_policy_per_node(self) -> bool:
        """Does one process decide for all collectors of a machine (`engine.policy`)?"""
        if self.collection.mode == "one_process" or self.learning.learner.mode == "offline":
            return False
        if self.engine.policy != "auto":
            return self.engine.policy == "node"
        on_gpu = self.agent.policy.device.startswith("cuda") and not self.agent.server
        needs_critic = self.tasks.curriculum == "instruction_value"  # in each collector
        return self.engine.kind == "local" and on_gpu and not needs_critic

    def _check_devices(self) -> None:
        source, kind, count = self.tasks.source, self.devices.kind, self.devices.count
        if self.collection.collectors > count:
            raise InvalidSetting(
                f"collection.collectors={self.collection.collectors} for devices.count={count}; "
                "some would have no device: give at most that many"
            )
        fits = source in TASK_SOURCES.get(kind, OWN_DEVICE_SOURCES)
        if not fits and (kind == "browser" or source in TASK_SOURCES["browser"]):
            raise InvalidSetting(
                f"devices.kind={kind!r} with tasks.source={source!r}; web pages are played in a "
                "browser: give devices.kind='browser' with tasks.source='miniwob' or 'web'"
            )
        if source == "miniwob" and self.tasks.curriculum == "instruction_value":
            raise InvalidSetting(
                "tasks.curriculum='instruction_value' with tasks.source='miniwob'; its "
                "instructions are known by its pages alone: give uniform or success_rate"
            )
        if not fits and source == "simulated":
            raise InvalidSetting(
                f"devices.kind={kind!r} with tasks.source='simulated'; those tasks are facts on a "
                "simulated phone: give tasks.source='aitw', or devices.kind='simulated'"
            )
        if not fits:
            raise InvalidSetting(
                f"tasks.source={source!r} with devices.kind={kind!r}; AndroidWorld's tasks are "
                "played on its own phones: give android_world for both, or for neither"
            )
        places = len(self.tasks.android_world.urls)
        if kind == "android_world" and places < count + self.devices.spares:
            raise InvalidSetting(
                f"tasks.android_world.urls names {places} containers for devices.count={count} and "
                f"devices.spares={self.devices.spares}; each is one phone"
            )

    def _check_judge(self) -> None:
        """Nobody can judge instructions by facts; verdicts of a model come after the episode."""
        kind, source = self.judge.kind, self.tasks.source
        needs = JUDGED_SOURCES.get(kind)
        if needs is not None and source not in needs:
            own = [name for name, sources in JUDGED_SOURCES.items() if source in sources]
            raise InvalidSetting(
                f"judge.kind={kind!r} with tasks.source={source!r}; only tasks of the "
                f"source {' or '.join(needs)} can be judged by that: give judge.kind='vlm' with "
                "judge.server and judge.model"
                + (f", or {own[0]}" if own else "")
                + ", or a judge that you register"
            )
        if self.judge.later and self.collection.stop_on_success:
            raise InvalidSetting(
                f"collection.stop_on_success=True with judge.kind={self.judge.kind!r}; its "
                "verdicts come after the episode: leave it out"
            )
        if self.judge.later and self.tasks.curriculum == "success_rate":
            raise InvalidSetting(
                f"tasks.curriculum='success_rate' with judge.kind={self.judge.kind!r}; collectors "
                "hear no verdicts that come later: give uniform or instruction_value"
            )

    def _check_evaluation(self) -> None:
        """The phones of evaluations are simulated ones, or pages of a browser on its machine."""
        given, source = self.evaluation, self.tasks.source
        measures = given.before or given.after or given.every_minutes is not None
        if source == "miniwob" and not self.judge.later:
            if measures and given.split not in ("train", "test"):
                raise InvalidSetting(f"evaluation.split={given.split!r} on pages; train or test")
        elif source != "simulated" and measures:
            raise InvalidSetting(
                f"evaluation.before={given.before}, evaluation.after={given.after} and "
                f"evaluation.every_minutes={given.every_minutes} with tasks.source={source!r}; "
                "test phones are simulated ones, or MiniWoB's pages: give 0, 0 and none, and "
                "measure with `distrl collect --set tasks.split=test`"
            )

    def _check_pace(self) -> None:
        """Both sides must be able to move with whole batches, and the replay must hold its fill."""
        batch = self.learning.learner.batch_trajectories
        try:
            self.pacing.new(batch).may_sample(batch)
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
        weight, penalty = self.learning.a_ride.invalid_weight, learner.rewards.invalid_penalty
        if self.learning.algorithm == "a_ride" and weight and penalty:
            raise InvalidSetting(
                f"learning.a_ride.invalid_weight={weight} with learning.learner.rewards."
                f"invalid_penalty={penalty}; an answer that cannot be read would be paid for "
                "twice: give 0 for one of them"
            )
        estimates = set(BUILT_IN["algorithm"]) - {"a_ride", "vtrace"}
        if learner.matched_screens and self.learning.algorithm in estimates:
            raise InvalidSetting(
                f"learning.learner.matched_screens with learning.algorithm="
                f"{self.learning.algorithm!r}, which would not read them: give a_ride or vtrace"
            )

    def _check_engine(self) -> None:
        listen, mode = self.engine.join.listen, self.collection.mode
        if listen and mode != "asynchronous":
            raise InvalidSetting(
                f"engine.join.listen={listen!r} with collection.mode={mode!r}; collectors of other "
                "machines never wait for each other: give asynchronous, or do not listen"
            )
        if not self.collection.collectors and not listen:
            raise InvalidSetting(
                "collection.collectors=0 without engine.join.listen; nobody would play: give 1 or "
                "more, or the HOST:PORT where collectors of other machines join"
            )
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

    def _check_server(self) -> None:
        if not self.agent.server:
            return
        if self.agent.policy.lora is None or self.agent.adapter:
            raise InvalidSetting(
                "agent.server takes new weights as adapters alone, onto the model that it serves: "
                "give agent.policy.lora.rank=16, and leave agent.adapter empty"
            )
        if self.engine.policy == "node" or self.tasks.curriculum == "instruction_value":
            raise InvalidSetting(
                f"agent.server with engine.policy={self.engine.policy!r} and tasks.curriculum="
                f"{self.tasks.curriculum!r}; collectors have no model of their own then: give "
                "engine.policy='collector', and uniform or success_rate"
            )


def load_config(path: Path | None = None, overrides: Sequence[str] = ()) -> TrainingConfig:
    """The settings of a TOML file (none: the defaults), changed by words such as `a.b=c`."""
    return seeded(reader.read_section(TrainingConfig(), _tree(path, overrides)))


def load_run_config(path: Path, overrides: Sequence[str] = ()) -> TrainingConfig:
    """The settings that a run wrote down. All must be there: defaults would be another run."""
    tree, names = _tree(path, overrides), list(reader.setting_names(TrainingConfig))
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
    return seeded(reader.read_section(TrainingConfig(), tree))


# What the machine of a joined collector says itself; everything else is the learner's.
OWN = (
    "devices.", "agent.model", "agent.adapter", "agent.policy.device", "collection.threads",
    "run.directory", "run.free_gigabytes",
)  # fmt: skip
SEED_STEP = 10_000  # between the seeds of joined collectors, which draw different tasks by it


def load_joined_config(
    settings: str, number: int, path: Path | None = None, overrides: Sequence[str] = ()
) -> TrainingConfig:
    """The settings of the joined collector `number`: those of the learner (TOML), and its own.

    It is the only collector of its machine, with all devices there; its own seed draws its tasks.
    """
    own = _tree(path, overrides)
    for name, given in reader.leaves(own):
        if not name.startswith(OWN):
            raise InvalidSetting(
                f"{name}={given.value!r} ({given.source}): the learner sets that; a collector that "
                f"joins sets {', '.join(OWN)} alone"
            )
    tree = {name: reader.plant(each, "the learner") for name, each in _learner_tree(settings)}
    take_old_values(tree)
    for word in ("collection.collectors=1", "collection.mode=asynchronous"):
        _override(tree, word)
    _override(tree, "learning.learner.precision=full")  # nothing is learned here
    for name, given in reader.leaves(own):
        _put(tree, name, given)
    config = reader.read_section(TrainingConfig(), tree)
    seed = (config.run.seed + SEED_STEP * (number + 1)) % 2**31
    return seeded(dataclasses.replace(config, run=dataclasses.replace(config.run, seed=seed)))


def _learner_tree(settings: str) -> list[tuple[str, object]]:
    """Its sections, but for what only its own machine is concerned with."""
    try:
        content = loads_toml(settings)
    except ValueError as error:
        raise InvalidSetting(f"the learner's settings are not valid TOML: {error}") from error
    if isinstance(run := content.get("run"), dict):
        content["run"] = {name: run[name] for name in run.keys() - {"directory", "free_gigabytes"}}
    return [(name, each) for name, each in content.items() if name not in ("devices", "engine")]


def _tree(path: Path | None, overrides: Sequence[str]) -> dict[str, reader.Node]:
    tree = {} if path is None else reader.read_toml(found_config(path))
    for word in overrides:
        _override(tree, word)
    refuse_old_names(TrainingConfig, tree)
    take_old_values(tree)
    return tree


def _override(tree: dict[str, reader.Node], word: str) -> None:
    key, equals, text = (part.strip() for part in word.partition("="))
    if not equals or not all(key.split(".")):
        raise InvalidSetting(
            f"--set {word}: give a setting and its value, such as --set replay.capacity=500"
        )
    _put(tree, key, reader.plant(_value_of(text), f"--set {word}", text))


def _put(tree: dict[str, reader.Node], name: str, value: reader.Node) -> None:
    """Set the setting of that full name."""
    *path, last = name.split(".")
    here = tree
    for place, section in enumerate(path, start=1):
        inside = here.setdefault(section, {})
        if isinstance(inside, reader.Given):
            at = ".".join(path[:place])
            raise InvalidSetting(f"{at}={inside.value!r} ({inside.source}): {at} is a section")
        here = inside
    here[last] = value


def _value_of(text: str) -> object:
    """As TOML has it, and a bare word as a text."""
    try:
        return loads_toml(f"value = {text}")["value"]
    except ValueError:
        return text


def seeded(config: TrainingConfig) -> TrainingConfig:
    """With learner and policy seeded as the run is."""
    learner = dataclasses.replace(config.learning.learner, seed=config.run.seed)
    policy = dataclasses.replace(config.agent.policy, seed=config.run.seed)
    return dataclasses.replace(
        config,
        learning=dataclasses.replace(config.learning, learner=learner),
        agent=dataclasses.replace(config.agent, policy=policy),
    )
