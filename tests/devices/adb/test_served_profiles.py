"""Phones of other makers, sizes and speeds, driven over the real adb by the code that trains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS, ServedPhones, served_handsets

from distrl.devices.adb.adb_device import AdbDevice, new_simulation
from distrl.devices.adb.android_phones import open_phone
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.devices.adb.android_state import screen_size
from distrl.devices.adb.device_health import examine
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.adb.stillness import AT_ONCE, StillnessSettings
from distrl.devices.safety.safety import Consent, SafeDevice, SafetySettings
from distrl.episodes.demonstrations import demonstrate
from distrl.episodes.episode import run_episode
from distrl.errors import ActionFailed, DeviceError, DeviceTimeout, ScreenRestless
from distrl.hierarchy import Element
from distrl.records import Action, Decision, Ending, Observation, OpenApp, Tap
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.handset_profile import SAMSUNG, XIAOMI, HandsetProfile
from phonesim.display import Display
from phonesim.latency import LogNormal
from phonesim.simulated_device import SimulatedDevice
from phonesim.state import LAUNCHER
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

pytest.importorskip("adbutils", reason="the adb binary comes with distrl[android]")

SMALL = Display(640, 1280, 2)
PATIENT = replace(AT_ONCE_SETTINGS, launch_seconds=60.0)
SAMSUNG_0, XIAOMI_0, STARTING, NEVER, RESTS_LATER, NEVER_RESTS, UNNAMED = range(7)


class TickingClock:
    """A tenth of a second passes whenever somebody looks: no machine is too slow or too fast."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    takes_its_time = HandsetProfile(launch=LogNormal(4.0))
    unnamed = replace(takes_its_time, packages={"Weather": "org.example.sky"})
    handsets = [
        Handset("samsung", profile=SAMSUNG),
        Handset("xiaomi", profile=XIAOMI, display=SMALL),
        Handset("starting", profile=takes_its_time, clock=TickingClock()),
        Handset("never", profile=HandsetProfile(launch=LogNormal(1e6))),
        Handset("rests later", profile=HandsetProfile(restless_dumps=3)),
        Handset("never rests", profile=HandsetProfile(restless_dumps=10**9)),
        Handset("unnamed", profile=unnamed, clock=TickingClock()),
    ]
    with served_handsets(handsets) as served:
        yield served


def icon(device: AdbDevice, name: str) -> Tap:
    found = next(each for each in device.elements() if each.text == name)
    x, y = found.centre
    screen = device.screen()
    return Tap((x + 0.5) / screen.width, (y + 0.5) / screen.height)


class Replay:
    """Decides what was decided once before."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = iter(actions)

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(next(self._actions)) for _ in observations]


@pytest.mark.parametrize("number", [SAMSUNG_0, XIAOMI_0, STARTING])
def test_a_solution_has_the_same_screens_and_verdict_on_every_phone(
    phones: ServedPhones, number: int
) -> None:
    task, _ = load_task("clock.start_timer/train/0")
    display = phones.handset(number).phone.display
    shown = demonstrate(task, SimulatedDevice("twin", display=display))
    actions = [decision.action for decision in shown.decisions]
    with SimulatedAdbDevice(phones.device(number, PATIENT)) as device:
        played = run_episode(task, device, Replay(actions), FactJudge(device))
    assert played.ending is Ending.SUCCESS
    assert [screen.digest for screen in played.screens] == [s.digest for s in shown.screens]


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [SAMSUNG_0, XIAOMI_0])
def test_every_app_of_a_maker_is_found_by_the_name_under_its_icon(
    phones: ServedPhones, number: int
) -> None:
    """But for Samsung's reminders, whose package no To-do is called."""
    packages = phones.handset(number).profile.packages
    named = {app: package for app, package in packages.items() if app not in (LAUNCHER, "To-do")}
    with phones.device(number) as device:
        device.reset(5)
        assert device.home_package() == packages[LAUNCHER]
        assert {app: device.package_of(app) for app in named} == named
        assert device.package_of("To-do") is None or number == XIAOMI_0
        device.perform(OpenApp("Clock"))
        assert phones.handset(number).phone.state.front == "Clock"
        assert device.front_package() == packages["Clock"]


def test_an_app_of_another_name_is_opened_by_its_icon(phones: ServedPhones) -> None:
    """From within another app; a label that is not on the home screen leaves the phone alone."""
    twin = SimulatedDevice("twin", display=phones.handset(SAMSUNG_0).phone.display)
    twin.reset(5)
    with phones.device(SAMSUNG_0) as device:
        device.reset(5)
        for each in (OpenApp("Settings"), OpenApp("To-do")):
            assert device.perform(each).digest == twin.perform(each).digest
        assert device.front_package() == "com.samsung.android.app.reminder"
        before = phones.handset(SAMSUNG_0).phone.state.actions
        with pytest.raises(ActionFailed, match=r"home screen; name the package in .*app_names"):
            device.perform(OpenApp("To-dos"))
        assert phones.handset(SAMSUNG_0).phone.state.actions == before


def test_an_app_that_is_opened_by_its_icon_is_waited_for(phones: ServedPhones) -> None:
    """No name finds a package here."""
    twin = SimulatedDevice("twin")
    twin.reset(5)
    with phones.device(UNNAMED, PATIENT) as device:
        device.reset(5)
        assert device.package_of("Weather") is None
        assert device.perform(OpenApp("Weather")).digest == twin.perform(OpenApp("Weather")).digest


class SilentPhone(AdbDevice):
    """Its hierarchy never comes, as on an emulator that is short of time."""

    asked = 0

    def _elements(self) -> tuple[Element, ...]:
        self.asked += 1
        raise DeviceTimeout("uiautomator has not answered")


def test_no_reset_fails_because_the_home_screen_cannot_be_read(phones: ServedPhones) -> None:
    with SilentPhone("phone", phones.link(SAMSUNG_0), AT_ONCE_SETTINGS, new_simulation) as device:
        for seed in range(4):
            device.reset(seed)
        assert device.asked == 2
        with pytest.raises(ActionFailed, match=r"called 'To-do'; name the package"):
            device.perform(OpenApp("To-do"))
        device.perform(OpenApp("Settings"))
        assert phones.handset(SAMSUNG_0).phone.state.front == "Settings"


def test_on_a_guarded_phone_no_icon_is_tapped(phones: ServedPhones) -> None:
    consent = Consent("samsung", "Ada", ("com.samsung.android.app.reminder",))
    settings = SafetySettings(apps=consent.apps)
    with SafeDevice(phones.device(SAMSUNG_0), settings, lambda: consent) as device:
        device.reset(5)
        before = phones.handset(SAMSUNG_0).phone.state.actions
        with pytest.raises(ActionFailed, match="app_names"):
            device.perform(OpenApp("To-do"))
        assert phones.handset(SAMSUNG_0).phone.state.actions == before
    named = replace(AT_ONCE_SETTINGS, app_names={"To-do": consent.apps[0]})
    with SafeDevice(phones.device(SAMSUNG_0, named), settings, lambda: consent) as device:
        device.reset(5)
        device.perform(OpenApp("To-do"))
        assert phones.handset(SAMSUNG_0).phone.state.front == "To-do"


def test_a_makers_phone_is_called_what_its_maker_calls_it(phones: ServedPhones) -> None:
    health = examine(phones.link(SAMSUNG_0), 0)
    assert (health.well, health.model, health.handset) == (True, "SM-S918B", False)
    listed = {each.serial: each.model for each in phones.adb.server.devices()}
    assert listed[phones.phones.addresses[XIAOMI_0]] == "23049RAD8C"


# Sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "display"), [(SAMSUNG_0, Display(1080, 2316, 3)), (XIAOMI_0, SMALL)]
)
def test_what_is_seen_and_touched_has_the_size_that_is_drawn(
    phones: ServedPhones, number: int, display: Display
) -> None:
    """Not the panel's, which is larger on the first."""
    twin = SimulatedDevice("twin", display=display)
    twin.reset(5)
    with phones.device(number) as device:
        device.reset(5)
        assert screen_size(device.shell) == (display.width, display.height)
        screen = device.screen()
        assert (screen.width, screen.height) == (display.width, display.height)
        assert [e.bounds for e in device.elements()] == [e.bounds for e in twin.elements()]
        settings = icon(device, "Settings")
        assert device.perform(settings).digest == twin.perform(settings).digest
        assert phones.handset(number).phone.state.front == "Settings"


# Times -------------------------------------------------------------------------------------------


def test_an_app_that_takes_its_time_is_waited_for(phones: ServedPhones) -> None:
    """Android calls it the focused app from the first moment, and has no window of it yet."""
    twin = SimulatedDevice("twin")
    twin.reset(5)
    with phones.device(STARTING, PATIENT) as device:
        device.reset(5)
        opened = device.perform(OpenApp("Settings"))
        assert opened.digest == twin.perform(OpenApp("Settings")).digest


def test_an_app_whose_icon_is_tapped_is_waited_for(phones: ServedPhones) -> None:
    twin = SimulatedDevice("twin")
    twin.reset(5)
    with phones.device(STARTING, PATIENT) as device:
        device.reset(5)
        tap = icon(device, "Settings")
        assert device.perform(tap).digest == twin.perform(tap).digest


def test_an_app_that_never_comes_up_is_waited_for_in_vain(phones: ServedPhones) -> None:
    with phones.device(NEVER, replace(AT_ONCE_SETTINGS, launch_seconds=0.1)) as device:
        device.reset(5)
        before = device.screen().digest
        assert device.perform(OpenApp("Settings")).digest == before
        assert phones.handset(NEVER).phone.state.front == "Settings"


def test_only_a_phone_that_draws_at_once_is_photographed_at_once(phones: ServedPhones) -> None:
    still = {}
    for number in (SAMSUNG_0, STARTING):
        address = phones.phones.addresses[number]
        with open_phone("phone", address, phones.adb.server, AndroidSettings()) as device:
            assert isinstance(device, SimulatedAdbDevice)
            still[number] = device.device.settings.stillness
    assert still == {SAMSUNG_0: AT_ONCE, STARTING: StillnessSettings()}


# Screens that do not rest ------------------------------------------------------------------------


def test_a_screen_that_does_not_rest_is_tried_again(phones: ServedPhones) -> None:
    """Twice for the icons at the reset, which do without, and once more."""
    with phones.device(RESTS_LATER) as device:
        device.reset(5)
        assert "Settings" in [element.text for element in device.elements()]


def test_a_screen_that_never_rests_is_no_lost_device(phones: ServedPhones) -> None:
    with phones.device(NEVER_RESTS) as device:
        device.reset(5)
        with pytest.raises(ScreenRestless, match="idle state"):
            device.elements()
        assert device.perform(OpenApp("Settings")).pixels.any()
    assert not issubclass(ScreenRestless, DeviceError)
