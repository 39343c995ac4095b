"""Several environments in one run: how they are read, written, refused and shared out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.tiny_runs import mixed_config

from distrl.config.sections import DeviceSettings
from distrl.config.task_settings import TaskSettings
from distrl.config.toml_writer import to_toml, with_checksum
from distrl.config.training_config import (
    TrainingConfig,
    load_config,
    load_joined_config,
    load_run_config,
)
from distrl.errors import InvalidSetting

MIXED = Path("mixed")  # that comes with us


def test_settings_are_taken_from_what_is_named_and_changed_by_what_is_written(
    tmp_path: Path,
) -> None:
    config = mixed_config(tmp_path, tmp_path, "environments.small.devices.count=3")
    small, tall = config.by_environment().values()
    assert small.tasks.templates == ("clock.turn_off_alarm",)
    assert (small.devices.count, small.devices.screen) == (3, "360x720@1")
    assert (tall.devices.count, tall.devices.screen) == (1, "400x800@1")  # both said something
    assert [each.collection.stop_on_success for each in (small, tall)] == [False, True]
    assert tall.tasks.curriculum == "success_rate"
    assert (small.environment, tall.environment) == ("small", "tall")
    assert small.pacing == tall.pacing == config.pacing
    assert (config.collector_count, config.device_count) == (2, 4)


def test_the_phones_and_pages_that_come_with_us() -> None:
    phone, pages = load_config(MIXED).by_environment().values()
    assert (phone.devices.kind, pages.devices.kind) == ("simulated", "browser")
    assert (phone.evaluation.split, pages.evaluation.split) == ("undemonstrated_test", "test")
    assert phone.tasks == load_config(Path("quick_start")).tasks
    assert (pages.tasks, pages.judge) == (
        load_config(Path("miniwob")).tasks,
        load_config(Path("miniwob")).judge,
    )


def test_a_run_has_its_environments_whole_and_needs_no_other_file(tmp_path: Path) -> None:
    config = mixed_config(tmp_path, tmp_path)
    for name in ("small", "tall"):
        (tmp_path / f"{name}.toml").unlink()
    text = to_toml(config)
    written = tmp_path / "config.toml"
    written.write_text(with_checksum(text), "utf-8")
    assert load_run_config(written) == load_config(written) == config
    lines = text.splitlines()
    assert "[environments.tall.devices]" in lines
    assert not {"[tasks]", "[devices]", "[judge]"} & set(lines)  # they would say nothing
    longer = load_run_config(written, ["run.minutes=9", "environments.tall.devices.count=2"])
    assert longer.environments["tall"].devices.count == 2


def test_a_run_without_any_is_written_as_ever() -> None:
    assert "environment" not in to_toml(TrainingConfig())
    config = TrainingConfig()
    assert config.by_environment() == config.measured() == {"": config}
    assert config.of_collector(3) == (config, 3)


def test_a_run_that_lost_a_setting_of_an_environment_is_refused(tmp_path: Path) -> None:
    text = to_toml(mixed_config(tmp_path, tmp_path))
    written = tmp_path / "config.toml"
    start = text.index("[environments.tall.judge]")
    written.write_text(text[:start], "utf-8")
    with pytest.raises(InvalidSetting, match=r"lacks .*environments\.tall\.judge\.kind"):
        load_run_config(written)
    written.write_text(text[: text.index("[environments.small]")], "utf-8")
    with pytest.raises(InvalidSetting, match=r"lacks .*tasks\.source"):
        load_run_config(written)


def test_collectors_keep_their_environments(tmp_path: Path) -> None:
    written = tmp_path / "config.toml"
    config = mixed_config(tmp_path, tmp_path, "environments.small.collectors=2")
    written.write_text(to_toml(config), "utf-8")
    found = [config.of_collector(number) for number in range(3)]
    assert [(each.environment, place) for each, place in found] == [
        ("small", 0), ("small", 1), ("tall", 0),
    ]  # fmt: skip
    with pytest.raises(InvalidSetting, match="collectors keep their environments"):
        load_run_config(written, ["environments.small.collectors=1"])


def test_no_two_environments_have_a_task_or_a_device_name_in_common(tmp_path: Path) -> None:
    small, tall = mixed_config(tmp_path, tmp_path).by_environment().values()
    assert small.run.seed != tall.run.seed
    names = {each.device_name(0, kind) for each in (small, tall) for kind in ("phone", "spare")}
    assert names == {"small-0", "small-spare-0", "tall-0", "tall-spare-0"}
    assert TrainingConfig().device_name(3) == "phone-3"
    assert TrainingConfig().device_name(3, "spare") == "spare-3"


def test_what_is_not_measured_is_not_evaluated(tmp_path: Path) -> None:
    config = mixed_config(tmp_path, tmp_path, "environments.tall.measured=false")
    assert list(config.measured()) == ["small"]
    assert config.by_environment()["tall"].evaluation.before == 0


def test_success_is_of_unseen_tasks_unless_some_environment_plays_that_split(
    tmp_path: Path,
) -> None:
    assert mixed_config(tmp_path, tmp_path).measures_unseen
    words = ("environments.small.evaluation_split=train", "environments.tall.measured=false")
    assert not mixed_config(tmp_path, tmp_path, *words).measures_unseen
    others = ("environments.small.tasks.split=test", "environments.small.measured=false")
    assert not mixed_config(tmp_path, tmp_path, *others).measures_unseen
    assert load_config(MIXED).measures_unseen  # each trains and measures on splits of its own
    reworded = ["tasks.split=test", "evaluation.split=paraphrased"]
    assert not load_config(None, reworded).measures_unseen  # the same tasks in other sentences
    rehearsed = ["tasks.split=undemonstrated", "tasks.rehearsal=0.2", "evaluation.split=train"]
    assert not load_config(None, rehearsed).measures_unseen


ADB = ["environments.{}.devices.kind=adb", "environments.{}.devices.android.safety.dry_run=true"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["devices.count=3"], r"devices.count=3 .*give environments.small.devices.count or env"),
        (["judge.kind=facts"], "each environment of the run has its own"),
        (["collection.collectors=2"], r"environments\.small\.collectors"),
        (["evaluation.split=test"], r"environments\.small\.evaluation_split"),
        (["environments.small.colectors=1"], r"did you mean environments\.small\.collectors"),
        (["environments.small.tasks.source=web"], "docs/browser.md shows one"),
        (["environments.small.devices.kind=browser"], "environments.small: devices.kind='browser'"),
        (["environments.small.devices.count=0"], r"environments\.small\.devices\.count=0"),
        (["environments.small.settings=nowhere"], r"small\.settings='nowhere' .*no config file"),
        (["environments.small.settings=mixed"], "have environments themselves"),
        (["environments.small.settings=3"], "give the name of settings"),
        (["environments.Small.collectors=1"], "is no name of an environment"),
        (["environments.a/b.collectors=1"], "is no name of an environment"),
        (["environments=3"], "give a table, each a section"),
        (["environments.small=3"], "is a section, not a setting"),
        (["environment=small"], "a run has environments.NAME"),
        (
            ["environments.small.collectors=2", "collection.mode=one_process"],
            "environments.small: collectors=2 with mode='one_process'; there is room for 1",
        ),
        (["environments.tall.collectors=2"], "some would have no device"),
        (
            ["environments.small.collectors=600", "environments.tall.collectors=600",
             "environments.small.devices.count=600", "environments.tall.devices.count=600"],
            "1200 collectors together",
        ),
        (
            ["environments.small.devices.kind=adb", "environments.tall.devices.kind=adb"],
            "the environments small, tall all have devices.kind='adb'",
        ),
        ([each.format("small") for each in ADB], "nothing is learned in a dry run"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        mixed_config(tmp_path, tmp_path, *words)


def test_phones_over_adb_may_be_of_two_environments_if_each_is_named_once(tmp_path: Path) -> None:
    kinds = [f"environments.{name}.devices.kind=adb" for name in ("small", "tall")]
    small = "environments.small.devices.serials=a,b"
    mixed_config(tmp_path, tmp_path, *kinds, small, "environments.tall.devices.serials=c")
    with pytest.raises(InvalidSetting, match="name every phone once"):
        mixed_config(tmp_path, tmp_path, *kinds, small, "environments.tall.devices.serials=b")


def test_an_environment_that_cannot_be_measured_says_so_by_its_name(tmp_path: Path) -> None:
    words = [
        "environments.tall.settings=emulators",
        "environments.tall.tasks={source='aitw', aitw={train_file='a', test_file='b'}}",
        "environments.tall.judge={kind='vlm', server='http://here/v1', model='m'}",
    ]
    with pytest.raises(InvalidSetting, match=r"give environments\.tall\.measured=false, and"):
        mixed_config(tmp_path, tmp_path, *words)
    config = mixed_config(tmp_path, tmp_path, *words, "environments.tall.measured=false")
    assert config.in_environment("tall").judge.later


# Joined collectors -------------------------------------------------------------------------------


def test_a_joined_collector_plays_in_an_environment_that_its_devices_can_play() -> None:
    learner = to_toml(load_config(MIXED))
    phone = load_joined_config(learner, 1024, None, ["devices.count=2"])
    assert (phone.environment, phone.devices) == ("phone", DeviceSettings(count=2))
    assert phone.tasks == load_config(MIXED).environments["phone"].tasks
    pages = load_joined_config(learner, 1024, None, ["devices.kind=browser"])
    assert (pages.environment, pages.judge.kind) == ("pages", "page")
    assert pages.collection.stop_on_success
    assert load_joined_config(to_toml(TrainingConfig()), 1024).tasks == TaskSettings()


def test_a_joined_collector_can_say_which_environment() -> None:
    learner = to_toml(load_config(MIXED))
    own = ["devices.kind=browser"]
    assert load_joined_config(learner, 1024, None, own, "pages").environment == "pages"
    with pytest.raises(InvalidSetting, match="phone, pages, and none is called web"):
        load_joined_config(learner, 1024, None, own, "web")
    with pytest.raises(InvalidSetting, match="web pages are played in a browser"):
        load_joined_config(learner, 1024, None, [], "pages")
    with pytest.raises(InvalidSetting, match="has no environments"):
        load_joined_config(to_toml(TrainingConfig()), 1024, None, [], "phone")
    with pytest.raises(InvalidSetting, match="none has tasks for these devices"):
        load_joined_config(learner, 1024, None, ["devices.kind=emulator"])
