"""MobileGym itself, where a built checkout of it is named: MOBILEGYM=/path make test-browser."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.browser.mobilegym_device import MobileGymDevice
from distrl.engine.browser_wiring import build_pages
from distrl.errors import NotInstalled
from distrl.records import Enter, Home, OpenApp, Swipe, Tap, TypeText
from distrl.task_sets.mobilegym import MobileGymFolder, MobileGymJudge, find_mobilegym

pytestmark = [pytest.mark.browser, pytest.mark.slow]
VARIABLE = "MOBILEGYM"


@pytest.fixture(scope="module")
def config() -> TrainingConfig:
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        pytest.skip(f"left out: the environment variable {VARIABLE} names no folder of MobileGym")
    given = [
        "devices.kind=browser", "tasks.source=mobilegym", f"tasks.mobilegym_folder={Path(folder)}",
        "judge.kind=page", "devices.browser.height=800", "evaluation.before=0",
        "evaluation.after=0",
    ]  # fmt: skip
    return load_config(None, given)


@pytest.fixture(scope="module")
def folder(config: TrainingConfig) -> MobileGymFolder:
    return find_mobilegym(config.tasks.mobilegym_folder)


@pytest.fixture
def device(config: TrainingConfig) -> Iterator[MobileGymDevice]:
    with ExitStack() as opened:
        try:
            [device] = build_pages(config, ("phone",), opened)
        except NotInstalled as error:
            pytest.skip(f"left out: {error}")
        opened.callback(device.close)
        assert isinstance(device, MobileGymDevice)
        device.reset(0)
        yield device


def test_training_and_testing_have_no_template_in_common(folder: MobileGymFolder) -> None:
    train, test = folder.templates("train"), folder.templates("test")
    assert len(train) > 100
    assert len(test) > 200
    assert not set(train) & set(test)
    for template in (*train, *test):
        assert folder.load(f"{template}/train/0").step_limit >= 15


def test_a_finger_and_keys_operate_its_apps(device: MobileGymDevice) -> None:
    device.perform(OpenApp("settings"))
    top = device.screen()
    scrolled = device.perform(Swipe(0.5, 0.8, 0.5, 0.3))
    assert (scrolled.pixels != top.pixels).mean() > 0.1
    device.perform(OpenApp("wechat"))
    device.perform(Tap(0.5, 0.12))  # the first chat
    device.perform(Tap(0.4, 0.95))  # its field
    device.perform(TypeText("hello 你好"))
    device.perform(Enter())
    assert "hello 你好" in json.dumps(
        device.evaluate("__SIM__.getState().apps.wechat"), ensure_ascii=False
    )
    assert device.elements()


def test_its_judge_passes_what_is_done_and_nothing_else(
    device: MobileGymDevice, folder: MobileGymFolder
) -> None:
    judge = MobileGymJudge(device, folder)
    task = judge.begin(folder.load("mobilegym.ebay.SwitchTheme/train/3"))
    assert "eBay" in task.instruction
    assert not judge.verdict(None).success
    wanted = device.evaluate("__SIM__.getState().apps.ebay.settings.themeId") == "dark"
    theme = "light" if wanted else "dark"
    device.evaluate(f"__SIM__.setState({{apps: {{ebay: {{settings: {{themeId: '{theme}'}}}}}}}})")
    assert judge.verdict(None).success
    device.evaluate("__SIM__.setState({apps: {wechat: {user: {name: 'somebody else'}}}})")
    spoiled = judge.verdict(None)
    assert (spoiled.success, spoiled.progress) == (False, 1.0)
    assert spoiled.collateral == ("apps.wechat.user.name",)


def test_it_is_put_back_where_its_json_has_all_of_it(
    device: MobileGymDevice, folder: MobileGymFolder
) -> None:
    judge = MobileGymJudge(device, folder)
    judge.begin(folder.load("mobilegym.ebay.SwitchTheme/train/3"))
    device.perform(Home())
    before, verdict = device.snapshot(), judge.verdict(None)
    device.evaluate("__SIM__.setState({apps: {wechat: {user: {name: 'somebody else'}}}})")
    device.perform(OpenApp("clock"))
    assert judge.verdict(None).collateral
    device.restore(before)
    assert judge.verdict(None) == verdict
