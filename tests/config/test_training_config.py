"""A run's settings: what is read, what is refused and with which words, what is written."""

import dataclasses
import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from distrl.agent.lora import LoraSettings
from distrl.agent.vlm_settings import VlmSettings
from distrl.config.sections import AgentSettings, DeviceSettings, EngineSettings, RunSettings
from distrl.config.toml_writer import to_toml
from distrl.config.training_config import (
    LearningSettings,
    TrainingConfig,
    load_config,
    load_joined_config,
)
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.clipped_objective import ClipSettings
from distrl.learning.learner_settings import LearnerSettings


def written(folder: Path, text: str) -> Path:
    path = folder / "quick.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_defaults_are_a_config() -> None:
    assert load_config() == TrainingConfig()


def test_a_file_and_words_change_what_they_name_and_nothing_else(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '[devices]\ncount = 32\nlatency = "paper_emulator"\n[devices.faults]\nfreeze = 0.01\n'
        '[tasks]\nfamilies = ["shopping"]\n[learning.step]\nlearning_rate = 1\n',
    )
    config = load_config(path, ["devices.count=4", "run.minutes=inf"])
    assert config.devices.count == 4
    assert config.devices.latency == "paper_emulator"
    assert config.devices.faults.freeze == 0.01
    assert config.tasks.families == ("shopping",)
    assert config.run.minutes == math.inf
    assert isinstance(config.learning.step.learning_rate, float)
    assert config.replay == TrainingConfig().replay


def test_words_are_read_as_what_the_setting_is() -> None:
    config = load_config(
        None,
        [
            "run.name=7",
            'run.directory="my runs"',
            "tasks.templates=notes.*, notes.create",
            "learning.learner.staleness.at_start=none",
            "learning.learner.staleness.at_arrival=none",
            "devices.faults.schedule={3='freeze'}",
            "devices.faults.schedule.5=disconnect",
            "collection.stop_on_success=true",
            "learning.ppo.objective.clip_high=0.3",
        ],
    )
    assert config.run.name == "7"
    assert config.run.directory == "my runs"
    assert config.tasks.templates == ("notes.*", "notes.create")
    assert config.learning.learner.staleness.at_start is None
    assert config.devices.faults.schedule == {3: "freeze", 5: "disconnect"}
    assert config.collection.stop_on_success is True
    assert config.learning.ppo.objective.clip_high == 0.3


def test_what_a_section_has_for_a_default_is_kept_when_a_part_of_it_is_given() -> None:
    changed = load_config(None, ["learning.grpo.objective.clip=0.1"])
    assert changed.learning.grpo.objective == ClipSettings(clip=0.1, entropy_weight=0.0)


@pytest.mark.parametrize(
    ("given", "chosen"), [("true", "on"), ("false", "off"), ('"auto"', "auto"), ('"on"', "on")]
)
def test_a_switch_that_got_a_third_choice_is_still_read_as_true_or_false(
    tmp_path: Path, given: str, chosen: str
) -> None:
    file = tmp_path / "old.toml"
    file.write_text(f"[agent.policy]\ngradient_checkpointing = {given}\n", "utf-8")
    word = f"agent.policy.gradient_checkpointing={given}"
    for config in (load_config(file), load_config(None, [word])):
        assert config.agent.policy.gradient_checkpointing == chosen
    with pytest.raises(InvalidSetting, match="give auto, on or off"):
        load_config(None, ["agent.policy.gradient_checkpointing=1"])


def test_templates_are_found_by_pattern_within_the_families() -> None:
    tasks = load_config(None, ["tasks.templates=notes.*,notes.create"]).tasks
    assert "notes.create" in tasks.template_names
    assert len(set(tasks.template_names)) == len(tasks.template_names)
    assert all(name.startswith("notes.") for name in tasks.template_names)
    everything = TrainingConfig().tasks.template_names
    assert set(tasks.template_names) < set(everything)
    assert not any(name.startswith("shopping.") for name in everything)


def test_adapters_are_a_section_that_may_be_left_out() -> None:
    assert load_config().agent.policy.lora is None
    assert load_config(None, ["agent.policy.lora.rank=4"]).agent.policy.lora == LoraSettings(rank=4)
    both = ["agent.policy.lora.rank=4", "agent.policy.lora=none"]
    assert load_config(None, both).agent.policy.lora is None


def test_the_draws_are_seeded_as_the_run_is() -> None:
    config = load_config(None, ["run.seed=5"])
    assert config.learning.learner.seed == config.agent.policy.seed == 5


def test_devices_are_shared_out_among_collectors() -> None:
    config = load_config(None, ["devices.count=10", "collection.collectors=4"])
    assert config.devices_per_collector == 3


# Writing it down ---------------------------------------------------------------------------------


@given(
    name=st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True),
    directory=st.text(
        st.characters(blacklist_categories=["Cs"], blacklist_characters="\r"), min_size=1
    ),
    minutes=st.floats(min_value=0.01),
    seed=st.integers(0, 2**31 - 1),
    limit=st.none() | st.integers(1, 10**9),
)
@example(name="a", directory="\x7f\x00\"\\\n'é", minutes=0.1, seed=1, limit=None)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    directory: str,
    minutes: float,
    seed: int,
    limit: int | None,
) -> None:
    run = RunSettings(name, directory, seed, minutes, trajectories=limit)
    config = TrainingConfig(
        run=run,
        learning=LearningSettings(learner=LearnerSettings(seed=seed)),
        agent=AgentSettings(policy=VlmSettings(seed=seed)),
    )
    path = written(tmp_path_factory.mktemp("config"), to_toml(config))
    assert load_config(path) == config


def test_every_section_is_written_and_read_back(tmp_path: Path) -> None:
    config = load_config(
        None,
        [
            "devices.faults.schedule={2='freeze'}",
            "tasks.templates=notes.create",
            "learning.learner.staleness.at_arrival=none",
            "learning.step.clip=inf",
            "learning.step.learning_rate=1e-7",
            "reporting.wandb=true",
            "agent.policy.lora.rank=8",
        ],
    )
    text = to_toml(config)
    assert load_config(written(tmp_path, text)) == config
    for section in dataclasses.fields(TrainingConfig):
        assert (f"[{section.name}]" in text) is not section.name.startswith("environment")
    assert "count = 8                                 # 1 to 100,000 devices" in text


@pytest.mark.parametrize(
    ("words", "shared"),
    [
        ([], False),
        (["agent.policy.device=cuda"], True),
        (["agent.policy.device=cuda", "engine.policy=collector"], False),
        (["agent.policy.device=cuda", "engine.kind=ray"], False),
        (
            [
                "agent.policy.device=cuda",
                "agent.server=http://here:8000/v1",
                "agent.policy.lora.rank=4",
            ],
            False,
        ),
        (["agent.policy.device=cuda", "tasks.curriculum=instruction_value"], False),
        (["agent.policy.device=cuda", "collection.mode=one_process"], False),
        (["engine.policy=node"], True),
        (["engine.policy=node", "collection.mode=one_process"], False),
    ],
)
def test_collectors_share_a_policy_where_it_is_on_a_gpu_or_where_they_are_told_to(
    words: list[str], shared: bool
) -> None:
    assert load_config(None, words).one_policy_per_node is shared


# Joined collectors --------------------------------------------------------------------------------


def test_a_joined_collector_has_the_learners_settings_and_its_own_devices() -> None:
    learner = load_config(
        None,
        [
            "devices.count=64", "devices.latency=paper_emulator", "collection.collectors=8",
            "collection.stop_on_success=true", "tasks.templates=clock.turn_off_alarm",
            "run.directory=/learner/runs", "run.seed=3", "engine.join.listen=0.0.0.0:7700",
            "agent.policy.device=cuda", "learning.learner.precision=bf16",
        ],
    )  # fmt: skip
    own = ["devices.count=2", "agent.model=here/model", "agent.policy.device=cpu"]
    joined = load_joined_config(to_toml(learner), 1024, None, own)
    assert joined.devices == dataclasses.replace(DeviceSettings(), count=2)
    assert joined.collection == dataclasses.replace(learner.collection, collectors=1)
    assert joined.tasks == learner.tasks
    assert joined.agent.model == "here/model"
    assert joined.engine == EngineSettings()
    assert joined.run.directory == "runs"
    seeds = {load_joined_config(to_toml(learner), n, None, own).run.seed for n in range(1024, 1034)}
    assert len(seeds | {3}) == 11  # each draws other tasks
    assert joined.agent.policy.seed == joined.run.seed


def test_a_joined_collector_cannot_change_what_the_learner_says() -> None:
    with pytest.raises(InvalidSetting, match=r"tasks\.split='test'.*the learner sets that"):
        load_joined_config("", 1024, None, ["tasks.split=test"])
    with pytest.raises(InvalidSetting, match="not valid TOML"):
        load_joined_config("[run", 1024)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["engine.join.listen=nowhere"], "HOST:PORT"),
        (["engine.join.listen=h:1", "engine.kind=ray"], "distrl cluster join"),
        (["engine.join.listen=h:1", "collection.mode=synchronous"], "never wait for each other"),
        (["collection.collectors=0"], "nobody would play"),
    ],
)
def test_settings_of_joining_that_make_no_sense(words: list[str], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        load_config(None, words)
