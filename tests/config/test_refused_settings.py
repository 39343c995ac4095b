"""Refused settings, one by one: each names its key, its value, the range and the source."""

import os
from pathlib import Path

import pytest

from distrl.config.sections import DeviceSettings
from distrl.config.training_config import load_config
from distrl.errors import InvalidSetting


def written(folder: Path, text: str) -> Path:
    path = folder / "quick.toml"
    path.write_text(text, "utf-8")
    return path


IN_FILE = [
    (
        "[replay]\ncapasity = 3",
        "unknown setting replay.capasity (in FILE); did you mean replay.capacity?",
    ),
    ("[reply]\ncapacity = 3", "unknown setting reply (in FILE); did you mean replay?"),
    (
        "learning_rate = 1e-3",
        ("unknown setting learning_rate (in FILE); did you mean learning.step.learning_rate?"),
    ),
    (
        "[pacing]\nzzz = 3",
        (
            "unknown setting pacing.zzz (in FILE); there are samples_per_insert, minimum_fill, "
            "tolerance"
        ),
    ),
    (
        "[devices]\ncount = true",
        "devices.count=True (in FILE): give a whole number, 1 to 100,000 devices",
    ),
    (
        "[devices]\ncount = 8.0",
        "devices.count=8.0 (in FILE): give a whole number, 1 to 100,000 devices",
    ),
    (
        '[devices]\ncount = "8"',
        "devices.count='8' (in FILE): give a whole number, 1 to 100,000 devices",
    ),
    (
        "[devices]\ncount = 0",
        "devices.count=0 (in FILE): give a whole number, 1 to 100,000 devices",
    ),
    ("[run]\nname = 7", "run.name=7 (in FILE): give a text"),
    (
        '[run]\nname = "a/b"',
        "run.name='a/b' (in FILE): give a text: 1 to 80 letters, digits, hyphens and underscores",
    ),
    (
        "[collection]\nstop_on_success = 1",
        "collection.stop_on_success=1 (in FILE): give true or false",
    ),
    (
        '[devices]\nlatency = "emulator"',
        (
            "devices.latency='emulator' (in FILE): give none, paper_emulator, snapshot_emulator or "
            "event_driven"
        ),
    ),
    (
        "[evaluation]\nevery_minutes = 0",
        'evaluation.every_minutes=0 (in FILE): give a number or "none", 0.1 to 100,000 minutes',
    ),
    (
        "[pacing]\nsamples_per_insert = nan",
        "pacing.samples_per_insert=nan (in FILE): give a number, 0.001 to 1,000,000 draws",
    ),
    (
        "[agent.policy]\nlora = 16",
        (
            "agent.policy.lora=16 (in FILE): agent.policy.lora is a section, not a setting; give "
            "agent.policy.lora.rank"
        ),
    ),
    (
        '[tasks]\nfamilies = "shopping"',
        "tasks.families='shopping' (in FILE): give a list, each general, shopping or everyday",
    ),
    (
        '[tasks]\nfamilies = ["garden"]',
        "tasks.families[0]='garden' (in FILE): give general, shopping or everyday",
    ),
    ("replay = 3", "replay=3 (in FILE): replay is a section, not a setting; give replay.capacity"),
    (
        "[devices.count]\nx = 1",
        (
            "devices.count is a single setting, but in FILE has a section of that name; "
            "give a whole number, 1 to 100,000 devices"
        ),
    ),
    (
        '[devices.faults.schedule]\nx = "freeze"',
        "devices.faults.schedule.x (in FILE): 'x' is no whole number",
    ),
    (
        '[devices.faults.schedule]\n3 = "melt"',
        "devices.faults.schedule.3='melt' (in FILE): give freeze, disconnect",
    ),
    (
        "[replay]\ncapacity = 2026-01-05",
        "replay.capacity=datetime.date(2026, 1, 5) (in FILE): give",
    ),
    (
        "[replay]\nalpha = 1.5",
        "replay.alpha=1.5 (in FILE): give a number, 0 to 1 (0 draws uniformly",
    ),
    ("[replay]\ncapacity 3", "config file PATH is not valid TOML: Expected '='"),
    ("[replay]\nalpha = 0.1\nalpha = 0.2", "config file PATH is not valid TOML: Cannot overwrite"),
]


@pytest.mark.parametrize(("text", "said"), IN_FILE)
def test_a_file_is_refused_with_key_value_range_and_name(
    tmp_path: Path, text: str, said: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidSetting) as refused:
        load_config(path)
    assert str(refused.value).startswith(said.replace("FILE", str(path)).replace("PATH", str(path)))


AS_WORDS = [
    (["replay"], "--set replay: give a setting and its value, such as --set replay.capacity=500"),
    (["=3"], "--set =3: give a setting and its value"),
    (["a..b=3"], "--set a..b=3: give a setting and its value"),
    (["replay=3"], "replay=3 (--set replay=3): replay is a section, not a setting; give"),
    (
        ["capacity=3"],
        "unknown setting capacity (--set capacity=3); did you mean replay.capacity?",
    ),
    (
        ["replay.capacity.x=3"],
        "replay.capacity is a single setting, but --set replay.capacity.x=3 has a section",
    ),
    (
        ["devices.count=many"],
        "devices.count='many' (--set devices.count=many): give a whole number, 1 to 100,000",
    ),
    (
        ["devices.count="],
        "devices.count='' (--set devices.count=): give a whole number, 1 to 100,000 devices",
    ),
    (
        ["collection.stop_on_success=True"],
        "collection.stop_on_success='True' (--set collection.stop_on_success=True): give true or",
    ),
    (
        ["learning.a_ride.discount=1.5"],
        (
            "learning.a_ride.discount=1.5 (--set learning.a_ride.discount=1.5): "
            "give a number, 0 to 1 (γ, per step)"
        ),
    ),
    (
        ["learning.step.learning_rate=-1"],
        (
            "learning.step.learning_rate=-1 (--set learning.step.learning_rate=-1): give a number, "
            "above 0"
        ),
    ),
    (
        ["learning.learner.mode=sometimes"],
        (
            "learning.learner.mode='sometimes' (--set learning.learner.mode=sometimes): give "
            "online, offline or offline_to_online"
        ),
    ),
    (
        ["learning.learner.staleness.at_start=40"],
        (
            "learning.learner.staleness.at_start=40 (--set learning.learner.staleness.at_start=40)"
            ": staleness.at_start=40 is above at_arrival=32"
        ),
    ),
    (
        ["learning.learner.staleness.at_start=9", "learning.learner.staleness.at_arrival=4"],
        "learning.learner.staleness: staleness.at_start=9 is above at_arrival=4",
    ),
    (
        ["devices.faults.freeze=0.6", "devices.faults.disconnect=0.6"],
        "devices.faults: the chances of all faults add up to 1.2",
    ),
    (
        ["tasks.templates=notes.creat"],
        (
            "tasks.templates='notes.creat' (--set tasks.templates=notes.creat): no template of "
            "general in the split train is called 'notes.creat'"
        ),
    ),
    (
        ["run.seed=3", "learning.learner.seed=4"],
        (
            "learning.learner.seed is no longer a setting: draws are seeded by run.seed "
            "(--set learning.learner.seed=4)"
        ),
    ),
    (
        ["collection.collectors=9"],
        (
            "collection.collectors=9 (--set collection.collectors=9): collection.collectors=9 for "
            "devices.count=8; some would have no device"
        ),
    ),
    (
        ["collection.mode=one_process", "collection.collectors=2"],
        "collection: collectors=2 with mode='one_process'; there is room for 1",
    ),
    (
        ["pacing.tolerance=3"],
        (
            "pacing.tolerance=3 (--set pacing.tolerance=3): pacing.tolerance=3.0 is too small "
            "for 16 samples"
        ),
    ),
    (
        ["replay.capacity=8"],
        (
            "replay.capacity=8 (--set replay.capacity=8): pacing.minimum_fill=16 is more than "
            "replay.capacity=8"
        ),
    ),
    (
        ["agent.policy.weights=bfloat16"],
        "agent.policy.weights='bfloat16' (--set agent.policy.weights=bfloat16): policy.weights=",
    ),
    (
        ["collection.forks=2", "learning.learner.rewards.success=0.5"],
        "learning.learner.rewards.kind='terms', success=0.5 with forks or matched screens",
    ),
    (
        ["learning.learner.mode=offline"],
        (
            "learning.learner.mode='offline' (--set learning.learner.mode=offline): "
            "learning.learner.mode='offline' without learning.corpus"
        ),
    ),
    (["agent.policy.lora.targets=("], "agent.policy.lora.targets='(' (--set"),
    (["agent.policy.lora.rank=0"], "agent.policy.lora.rank=0 (--set agent.policy.lora.rank=0): "),
    (
        ["devices.kind=adb", "devices.count=2", "devices.serials=a,a"],
        "devices.serials='a,a' (--set devices.serials=a,a): serials=['a', 'a']; name each phone",
    ),
    (["devices.serials=one"], "devices.serials='one' (--set devices.serials=one): serials=['one']"),
]


@pytest.mark.parametrize(("words", "said"), AS_WORDS)
def test_words_are_refused_with_key_value_range_and_flag(words: list[str], said: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        load_config(None, words)
    assert str(refused.value).startswith(said)
    assert "--set" in str(refused.value)


def test_a_word_over_a_broken_file_blames_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "replay = 3")
    with pytest.raises(InvalidSetting, match=r"replay=3 \(in .*quick\.toml\): replay is a section"):
        load_config(path, ["replay.capacity=5"])


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"no config file .*nowhere\.toml; check its name"):
        load_config(tmp_path / "nowhere.toml")
    with pytest.raises(InvalidSetting, match="cannot be read: Is a directory"):
        load_config(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(InvalidSetting, match="is not UTF-8 text"):
        load_config(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 100_000, "is not valid TOML: it is nested too deeply"),
        ("a" + ".a" * 2000 + " = 1", "is not valid TOML: it is nested too deeply"),
        ("[run]\nseed = " + "1" * 5000, "is not valid TOML: Exceeds the limit"),
        ("# " + "a" * 1_000_000, "has more than 1,000,000 bytes"),
    ],
)
def test_a_file_of_unreasonable_size_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        load_config(written(tmp_path, text))


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, "1" * 4000])
def test_a_word_of_unreasonable_size_is_refused(text: str) -> None:
    for name in ("run.seed", "run.minutes", "pacing.tolerance"):
        with pytest.raises(InvalidSetting, match=name):
            load_config(None, [f"{name}={text}"])


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.chmod(0)
    with pytest.raises(InvalidSetting, match="Permission denied"):
        load_config(path)


def test_a_section_made_in_code_checks_its_range_too() -> None:
    with pytest.raises(
        InvalidSetting, match=r"DeviceSettings\.count=0; give a whole number, 1 to 100,000 devices"
    ):
        DeviceSettings(count=0)
