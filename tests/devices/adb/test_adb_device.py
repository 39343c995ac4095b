"""A phone behind the real adb server keeps the contract of a device, operation by operation."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS, ServedPhones, served_phones

from distrl.devices.adb.adb_device import AdbDevice, go_home
from distrl.devices.adb.android_state import focus, is_emulated, rotation, screen_size
from distrl.devices.adb.device_health import examine
from distrl.devices.adb.screen_capture import CAPTURES
from distrl.devices.adb.stillness import StillnessSettings
from distrl.devices.adb.unicode_typing import type_plainly
from distrl.errors import ActionFailed, DeviceNotReady
from distrl.hierarchy import Element
from distrl.records import (
    Action,
    Answer,
    Back,
    Done,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Unreadable,
)
from phonesim.simulated_device import SimulatedDevice


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones(2) as served:
        yield served


@pytest.fixture
def device(phones: ServedPhones) -> Iterator[AdbDevice]:
    with phones.device() as device:
        device.reset(5)
        yield device


def middle(element: Element, device: AdbDevice) -> Tap:
    screen = device.screen()
    x, y = element.centre
    return Tap((x + 0.5) / screen.width, (y + 0.5) / screen.height)


def labelled(device: AdbDevice, text: str) -> Tap:
    [found, *_] = [each for each in device.elements() if text in (each.text, each.detail)]
    return middle(found, device)


def test_it_must_be_reset_first_and_after_closing(phones: ServedPhones) -> None:
    device = phones.device()
    for ask in (device.screen, device.elements, device.front_package):
        with pytest.raises(DeviceNotReady):
            ask()
    device.reset(1)
    device.screen()
    device.close()
    with pytest.raises(DeviceNotReady):
        device.perform(Home())


def test_reading_elements_leaves_no_file_on_the_phone(
    device: AdbDevice, phones: ServedPhones
) -> None:
    assert device.elements()
    assert phones.handset().files.names("/data/local/tmp") == []


def test_the_same_seed_gives_the_screen_of_the_simulated_phone(phones: ServedPhones) -> None:
    simulated = SimulatedDevice("twin")
    with phones.device() as device:
        for seed in (5, 6, 5):
            device.reset(seed)
            simulated.reset(seed)
            assert device.screen().digest == simulated.screen().digest


ERRAND: tuple[Action, ...] = (
    OpenApp("Notes"),
    Back(),
    OpenApp("Settings"),
    Swipe(0.5, 0.8, 0.5, 0.2, 0.3),
    Tap(0.5, 0.5),
    Home(),
    LongPress(0.2, 0.4),
    Back(),
    OpenApp("no such app at all"),
)


def test_actions_do_through_adb_what_they_do_without_it(phones: ServedPhones) -> None:
    simulated = SimulatedDevice("twin")
    simulated.reset(5)
    with phones.device() as device:
        device.reset(5)
        for action in ERRAND[:-1]:
            assert device.perform(action).digest == simulated.perform(action).digest, action
        before = device.screen().digest
        with pytest.raises(ActionFailed, match=r"called 'no such app at all'.*app_names"):
            device.perform(ERRAND[-1])
        assert device.screen().digest == before


@pytest.mark.parametrize(
    ("x", "y", "pixel"),
    [(0.0, 0.0, (0, 0)), (1.0, 1.0, (359, 719)), (0.25, 0.75, (90, 540)), (0.999, 0.5, (359, 360))],
)
def test_a_touch_meets_the_pixel_that_the_agent_meant(
    device: AdbDevice,
    phones: ServedPhones,
    monkeypatch: pytest.MonkeyPatch,
    x: float,
    y: float,
    pixel: tuple[int, int],
) -> None:
    touched: list[Action] = []
    monkeypatch.setattr(phones.handset(), "perform", touched.append)
    device.perform(Tap(x, y))
    device.perform(Swipe(0.5, 0.5, x, y, 0.25))
    [tap, swipe] = touched
    assert isinstance(tap, Tap)
    assert (int(tap.x * 360), int(tap.y * 720)) == pixel
    assert isinstance(swipe, Swipe)
    assert (int(swipe.to_x * 360), int(swipe.to_y * 720)) == pixel
    assert swipe.seconds == 0.25


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda each: each.name)
def test_every_way_to_take_a_picture_gives_the_same_one(
    device: AdbDevice, phones: ServedPhones, capture: object
) -> None:
    assert capture in CAPTURES
    [way] = [each for each in CAPTURES if each is capture]
    assert np.array_equal(way.take(phones.link()), device.screen().pixels)


def test_the_fastest_way_was_measured(device: AdbDevice) -> None:
    assert set(device.capture_seconds) == {"framebuffer", "raw", "png"}
    assert device.capture is not None
    assert device.capture_seconds[device.capture.name] == min(device.capture_seconds.values())


@pytest.mark.parametrize("text", ["plain words 100%s & 'more'; $HOME", "Grüße 世界 🎉", 'a"b\\c`d'])
def test_any_text_arrives(device: AdbDevice, phones: ServedPhones, text: str) -> None:
    device.perform(OpenApp("Notes"))
    device.perform(labelled(device, "New note"))
    fields = [each for each in device.elements() if each.role == "field"]
    device.perform(middle(fields[0], device))
    device.perform(TypeText(text))
    assert phones.handset().text == text
    assert text in [each.value for each in device.elements() if each.role == "field"]


def test_without_the_keyboard_app_plain_text_arrives_and_other_text_is_refused(
    phones: ServedPhones,
) -> None:
    handset = phones.handset(1)
    handset.adb_keyboard = handset.clipper = False
    with phones.device(1) as device:
        device.reset(5)
        assert device.typing is type_plainly
        device.perform(OpenApp("Notes"))
        device.perform(labelled(device, "New note"))
        device.perform(middle(next(e for e in device.elements() if e.role == "field"), device))
        device.perform(TypeText("it's 100% fine; yes"))
        assert handset.text == "it's 100% fine; yes"
        before = device.screen().digest
        for _ in range(3):  # that is the agent's doing: the phone is well
            with pytest.raises(ActionFailed, match="ADBKeyboard"):
                device.perform(TypeText("Grüße"))
        assert device.screen().digest == before
        device.perform(TypeText("!"))
        assert handset.text == "it's 100% fine; yes!"
    handset.adb_keyboard = handset.clipper = True


def test_the_clipboard_takes_any_text_where_the_keyboard_app_is_missing(
    phones: ServedPhones,
) -> None:
    handset = phones.handset(1)
    handset.adb_keyboard = False
    with phones.device(1) as device:
        device.reset(5)
        device.perform(OpenApp("Notes"))
        device.perform(labelled(device, "New note"))
        device.perform(middle(next(e for e in device.elements() if e.role == "field"), device))
        device.perform(TypeText("Grüße 'x' 世界"))
        assert handset.text == "Grüße 'x' 世界"
    handset.adb_keyboard = True


def test_what_is_only_said_costs_nothing(device: AdbDevice) -> None:
    before = device.screen()
    spent = device.seconds
    for action in (Done(), Answer("42"), Unreadable("?", "no action")):
        assert device.perform(action).digest == before.digest
    assert device.seconds == spent


def test_time_at_work_is_counted_from_the_reset(device: AdbDevice) -> None:
    first = device.seconds
    assert first > 0.0
    device.screen()
    assert device.seconds > first
    device.reset(5)
    assert device.seconds < 5.0


def test_what_android_says_of_itself(device: AdbDevice, phones: ServedPhones) -> None:
    device.perform(OpenApp("Settings"))
    assert device.front_package() == "com.distrl.settings"
    found = focus(device.shell)
    assert found is not None
    assert found.activity
    assert screen_size(device.shell) == (360, 720)
    assert rotation(device.shell) == 0
    assert is_emulated(phones.link().properties())
    health = examine(device.link, 0)
    assert health.well
    assert health.front == "com.distrl.settings"
    phones.phones.unplug(0)
    try:
        assert not examine(device.link, 0).well
    finally:
        phones.phones.plug_in(0)
        phones.link().connect_again(10.0)


def test_a_sleeping_and_locked_phone_is_woken(phones: ServedPhones) -> None:
    handset = phones.handset()
    device = AdbDevice("phone", phones.link(), AT_ONCE_SETTINGS, go_home)
    with device:
        handset.awake, handset.locked = False, True
        device.reset(0)
        assert handset.awake
        assert not handset.locked
        handset.awake = False  # in the middle of an episode
        assert device.screen().pixels.any()


def test_going_home_stops_apps(phones: ServedPhones) -> None:
    fresh = partial(go_home, stop=("com.distrl.notes",), clear=("com.distrl.notes",))
    with AdbDevice("phone", phones.link(), AT_ONCE_SETTINGS, fresh) as device:
        device.reset(0)
        device.perform(OpenApp("Notes"))
        assert device.front_package() == "com.distrl.notes"
        device.reset(0)
        assert "notes" not in device.front_package()


def test_a_moving_screen_is_waited_for(phones: ServedPhones) -> None:
    handset = phones.handset()
    watching = StillnessSettings(reaction_seconds=0.3, quiet_seconds=0.1, max_seconds=5.0)
    simulated = SimulatedDevice("twin")
    simulated.reset(5)
    with phones.device(settings=replace(AT_ONCE_SETTINGS, stillness=watching)) as device:
        device.reset(5)
        handset.transition = 0.25
        try:
            seen = device.perform(OpenApp("Settings"))
            assert seen.digest == simulated.perform(OpenApp("Settings")).digest
        finally:
            handset.transition = 0.0


def test_files_go_there_and_come_back(phones: ServedPhones) -> None:
    data = bytes(range(256)) * 2000  # several pieces
    phones.link().push(data, "/sdcard/Download/data.bin")
    assert phones.link().pull("/sdcard/Download/data.bin") == data


def test_phones_are_used_side_by_side(phones: ServedPhones) -> None:
    def play(number: int) -> list[str]:
        with phones.device(number) as device:
            device.reset(number)
            return [device.perform(action).digest for action in ERRAND[:-1]]

    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(play, (0, 1)))
    assert together == [play(0), play(1)]


def test_enter_reaches_the_field(device: AdbDevice, phones: ServedPhones) -> None:
    device.perform(OpenApp("Browser"))
    field = next(each for each in device.elements() if each.role == "field")
    device.perform(middle(field, device))
    device.perform(TypeText("weather"))
    before = device.screen().digest
    assert device.perform(Enter()).digest != before
