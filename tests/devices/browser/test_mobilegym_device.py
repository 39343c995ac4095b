"""MobileGym's phone as a device, on a small page that has the same objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.task_sets.small_mobilegym import write_mobilegym

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.browser_settings import BrowserSettings
from distrl.devices.browser.mobilegym_device import MobileGymDevice
from distrl.devices.device import Forkable
from distrl.errors import ActionFailed, CommandRefused, PageTimeout
from distrl.records import (
    Back,
    DragAndDrop,
    Home,
    OpenApp,
    OpenShade,
    Pinch,
    Recents,
    Tap,
    TypeText,
)
from distrl.task_sets.page_server import PageServer

pytestmark = pytest.mark.browser
FIELD, SAVE = Tap(0.4, 130 / 720), Tap(0.4, 210 / 720)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = write_mobilegym(tmp_path_factory.mktemp("mobilegym"))
    with PageServer(folder / "dist") as server:
        yield server.url


@pytest.fixture(scope="module")
def pool(chromium: Path, site: str) -> Iterator[BrowserPool]:
    with BrowserPool(BrowserSettings(), AllowedOrigins.of([site]), on_demand=False) as pool:
        yield pool


@pytest.fixture
def device(pool: BrowserPool, site: str) -> Iterator[MobileGymDevice]:
    with MobileGymDevice("phone", pool, site) as device:
        device.reset(0)
        yield device


def front(device: MobileGymDevice) -> object:
    return device.evaluate("__OS__.getAppRoute()?.app ?? ''")


def notes(device: MobileGymDevice) -> object:
    return device.evaluate("__SIM__.getState().apps.notes.saved")


def write(device: MobileGymDevice, text: str) -> None:
    for action in (OpenApp("notes"), FIELD, TypeText(text), SAVE):
        device.perform(action)


def test_what_a_phone_has_beside_its_screen_is_asked_of_the_page(device: MobileGymDevice) -> None:
    device.perform(Tap(0.4, 130 / 720))
    assert front(device) == "notes"
    assert [each.text for each in device.elements() if each.role == "field"] == ["New note"]
    device.perform(Home())
    assert front(device) == ""
    device.perform(OpenApp("LIGHTS"))
    device.perform(OpenApp("notizen"))  # as it is called on the phone
    assert front(device) == "notes"
    device.perform(Back())
    assert front(device) == ""
    device.perform(OpenShade())
    assert device.evaluate("__SIM__.getState().os.shade") is True
    device.perform(Recents())
    assert device.evaluate("__SIM__.getState().os.isRecentsVisible") is True
    device.perform(DragAndDrop(0.5, 0.5, 0.25, 0.1))
    assert device.evaluate("dragged") == [[180, 360], [90, 72]]


def test_what_it_does_not_have_leaves_it_as_it_was(device: MobileGymDevice) -> None:
    home = device.screen()
    with pytest.raises(ActionFailed, match="no app 'camera'; there are notes, lights"):
        device.perform(OpenApp("camera"))
    with pytest.raises(ActionFailed, match="no Pinch"):
        device.perform(Pinch(0.5, 0.5, 2.0))
    assert np.array_equal(device.screen().pixels, home.pixels)


def test_a_screen_is_taken_when_transitions_have_ended(device: MobileGymDevice) -> None:
    shown = device.perform(OpenApp("lights"))
    assert device.evaluate("document.getElementById('app').getBoundingClientRect().left") == 0
    assert np.array_equal(device.screen().pixels, shown.pixels)


def test_a_reset_leaves_nothing_of_the_episode_before(device: MobileGymDevice) -> None:
    write(device, "milk")
    assert notes(device) == ["milk"]
    device.reset(0)
    assert (notes(device), front(device)) == ([], "")


def test_it_is_put_back_by_its_own_state(device: MobileGymDevice) -> None:
    assert isinstance(device, Forkable)
    device.perform(OpenApp("lights"))
    write(device, "milk")
    before, spent = device.snapshot(), device.seconds
    write(device, "bread")
    device.evaluate("__SIM__.setState({os: {settings: {dark: true}}})")
    device.perform(OpenApp("lights"))
    device.perform(FIELD)  # where the switch is
    device.perform(Home())
    device.restore(before)
    assert (notes(device), front(device)) == (["milk"], "notes")
    assert device.evaluate("__SIM__.getState().apps.lights.on") is False
    assert device.evaluate("__SIM__.getState().os.settings.dark") is False
    assert device.evaluate("__OS__.getState().tasks.length") == 2
    assert device.seconds > spent


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("0", "localStorage.files = JSON.stringify(['a.txt'])", "os.fileSystem"),
        ("document.body.style.background = 'red'", "0", "what the screen shows"),
        ("__OS__.shade.open()", "0", "os.shade"),
        ("__OS__.openApp('lights'); tasks[0].taskId = 'task_0'", "0", "the apps that run"),
    ],
)
def test_what_the_state_does_not_bring_back_is_an_error(
    device: MobileGymDevice, before: str, after: str, lost: str
) -> None:
    device.evaluate(before)
    device.screen()
    state = device.snapshot()
    device.evaluate(after)
    with pytest.raises(CommandRefused, match=lost):
        device.restore(state)
    with pytest.raises(CommandRefused, match="was not reset since"):
        device.screen()
    device.reset(0)
    device.restore(device.snapshot())


def test_a_page_that_is_no_mobilegym_says_so(device: MobileGymDevice) -> None:
    with pytest.raises(PageTimeout, match="is MobileGym served at"):
        device.wait_until("window.__NOTHING__ === 1", 0.1)
