"""MobileGym's tasks and judge, on a small folder that is laid out as its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.task_sets.small_mobilegym import write_mobilegym

from distrl.agent.simple_policies import ConstantPolicy
from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.browser.mobilegym_device import MobileGymDevice
from distrl.engine.browser_wiring import build_page_judges, build_pages, check_pages
from distrl.engine.environment import play_environment
from distrl.engine.task_wiring import build_pool
from distrl.errors import (
    BrowserStopped,
    InvalidSetting,
    JudgeError,
    NotInstalled,
    UnknownTask,
)
from distrl.records import Answer, OpenApp, Tap, Task, TypeText
from distrl.task_sets.mobilegym import MobileGymFolder, MobileGymJudge, find_mobilegym
from distrl.task_sets.mobilegym_bench import load_bench

FIELD, SAVE = Tap(0.4, 130 / 720), Tap(0.4, 210 / 720)


@pytest.fixture(autouse=True)
def no_package_of_another_test() -> Iterator[None]:
    """A process has one package of the name."""
    forget_package()
    yield
    forget_package()


def forget_package() -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "bench_env"]:
        del sys.modules[name]
    load_bench.cache_clear()
    find_mobilegym.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> MobileGymFolder:
    return find_mobilegym(str(write_mobilegym(tmp_path / "mobilegym")))


def config_of(folder: MobileGymFolder, *words: str) -> TrainingConfig:
    given = [
        "devices.kind=browser", "tasks.source=mobilegym", f"tasks.mobilegym_folder={folder.path}",
        "judge.kind=page", "devices.count=1", "evaluation.before=0", "evaluation.after=0",
    ]  # fmt: skip
    return load_config(None, [*given, *words])


def test_its_splits_say_which_templates_there_are(folder: MobileGymFolder) -> None:
    assert folder.templates("train") == ("mobilegym.notes.WriteNote", "mobilegym.notes.Broken")
    assert folder.templates("train", ("*.Write*",)) == ("mobilegym.notes.WriteNote",)
    with pytest.raises(InvalidSetting, match="none of MobileGym's 1 tasks for test"):
        folder.templates("test", ("clock.*",))


def test_a_task_is_a_number_of_a_template(folder: MobileGymFolder) -> None:
    task = folder.load("mobilegym.notes.WriteNote/train/17")
    assert (task.template, task.split, task.seed) == ("mobilegym.notes.WriteNote", "train", 17)
    assert (task.apps, task.difficulty, task.step_limit) == (("notes",), "medium", 12)
    for bad in (
        "mobilegym.notes.None/train/0",
        "notes.WriteNote/train/0",
        "mobilegym.notes/train/",
    ):
        with pytest.raises(UnknownTask):
            folder.load(bad)


def test_a_collector_draws_its_own_numbers(folder: MobileGymFolder) -> None:
    config = config_of(folder, "collection.collectors=2", "devices.count=2", "run.seed=3")
    first, second = (build_pool(config, number) for number in (0, 1))
    [template, _] = first.templates
    ids = [pool.task(template, turn).id for pool in (first, second) for turn in range(5)]
    assert len(set(ids)) == 10
    assert first.find(ids[2]) == first.task(template, 2)


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("dist/index.html", "built as its own instructions say"),
        ("bench_env/splits/test.txt", "test.txt"),
    ],
)
def test_a_folder_that_is_not_whole_says_what_it_lacks(
    tmp_path: Path, missing: str, said: str
) -> None:
    place = write_mobilegym(tmp_path / "mobilegym")
    (place / missing).unlink()
    with pytest.raises(InvalidSetting, match=said):
        find_mobilegym(str(place))


def test_a_package_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    for name, line, error, said in (
        ("needy", "import no_such_package", NotInstalled, "'no_such_package'.*requirements.txt"),
        ("other", "MobileGymEnv = None\ndel MobileGymEnv", InvalidSetting, "not of a version"),
    ):
        place = write_mobilegym(tmp_path / name)
        (place / "bench_env" / "env.py").write_text(line)
        with pytest.raises(error, match=said):
            find_mobilegym(str(place)).load("mobilegym.notes.WriteNote/train/0")
        forget_package()


def test_two_folders_in_one_process_are_refused(folder: MobileGymFolder, tmp_path: Path) -> None:
    folder.load("mobilegym.notes.WriteNote/train/0")
    other = find_mobilegym(str(write_mobilegym(tmp_path / "other")))
    with pytest.raises(InvalidSetting, match="one folder in a process"):
        other.load("mobilegym.notes.WriteNote/train/0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tasks.mobilegym_folder="], "docs/mobilegym.md"),
        (["tasks.curriculum=instruction_value"], "known by its pages alone"),
        (["devices.kind=simulated", "judge.kind=facts"], "devices.kind='browser'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    folder: MobileGymFolder, words: list[str], said: str
) -> None:
    with pytest.raises(InvalidSetting, match=said):
        config_of(folder, *words)


# In Chromium -------------------------------------------------------------------------------------


@pytest.fixture
def device(folder: MobileGymFolder) -> Iterator[MobileGymDevice]:
    with ExitStack() as opened:
        try:
            [device] = build_pages(config_of(folder), ("phone",), opened)
        except NotInstalled as error:
            pytest.skip(f"left out: {error}")
        opened.callback(device.close)
        assert isinstance(device, MobileGymDevice)
        yield device


def begun(
    device: MobileGymDevice, folder: MobileGymFolder, name: str
) -> tuple[Task, MobileGymJudge]:
    task = folder.load(f"mobilegym.notes.{name}/train/1")
    judge = build_page_judges(config_of(folder).tasks)(device)
    assert isinstance(judge, MobileGymJudge)
    device.reset(task.seed)
    return judge.begin(task), judge


@pytest.mark.browser
def test_a_task_is_set_up_worded_and_judged_by_its_own_code(
    device: MobileGymDevice, folder: MobileGymFolder
) -> None:
    task, judge = begun(device, folder, "WriteNote")
    word = task.instruction.removeprefix("Write a note that says ").removesuffix(".")
    assert word in ("milk", "bread")
    assert device.evaluate("__SIM__.getState().apps.notes.saved") == ["eggs"]
    verdict = judge.verdict(None)
    assert not verdict.success
    assert verdict.missing == (f"saved is 'eggs', not '{word}'",) == (verdict.reason,)
    assert verdict.progress == 0.0
    for action in (OpenApp("notes"), FIELD, TypeText(word), SAVE):
        device.perform(action)
    assert judge.verdict(None).success
    device.perform(OpenApp("lights"))
    device.perform(FIELD)  # where the switch is
    spoiled = judge.verdict(None)
    assert (spoiled.success, spoiled.progress) == (False, 1.0)
    assert spoiled.collateral == ("apps.lights.on",)


@pytest.mark.browser
def test_answers_are_handed_over(device: MobileGymDevice, folder: MobileGymFolder) -> None:
    _, judge = begun(device, folder, "SayLights")
    assert judge.verdict("on").reason == "say off"
    assert judge.verdict("off").success


@pytest.mark.browser
def test_what_its_code_raises_is_no_verdict_and_the_phone_stays_well(
    device: MobileGymDevice, folder: MobileGymFolder
) -> None:
    with pytest.raises(JudgeError, match=r"could not set up notes\.Broken: KeyError"):
        begun(device, folder, "Broken")
    device.screen()
    with pytest.raises(JudgeError, match="before a task was begun"):
        MobileGymJudge(device, folder).verdict(None)


@pytest.mark.browser
def test_a_browser_that_ends_is_a_failure_of_the_device(
    device: MobileGymDevice, folder: MobileGymFolder
) -> None:
    task, judge = begun(device, folder, "WriteNote")
    device.pool.browsers[0].kill()
    with pytest.raises(JudgeError, match="gave no state"):
        judge.verdict(None)
    with pytest.raises(BrowserStopped):
        judge.begin(task)
    device.reset(0)  # starts another one
    assert judge.begin(task) == task


@pytest.mark.browser
def test_a_policy_is_measured_on_it(folder: MobileGymFolder) -> None:
    config = config_of(folder)
    try:
        assert check_pages(config) == {"a page": (360, 720)}
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")
    policy = ConstantPolicy(Answer("off"))
    [played] = play_environment(config, lambda *_: policy, 1, 0, "test")
    assert played.success
    assert played.task.instruction.startswith("Write a note")
