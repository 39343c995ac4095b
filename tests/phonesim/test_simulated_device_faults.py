"""Every fault of a simulated device: the error it raises, what it costs, and the way back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distrl.errors import (
    AppCrashed,
    BlankScreen,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
    PageTimeout,
    TypingFailed,
)
from distrl.records import Action, Back, Done, Home, OpenApp, Screen, Tap, TypeText, Wait
from phonesim.drift import NO_DRIFT
from phonesim.faults import FaultKind, Faults
from phonesim.latency import NONE, PAPER_EMULATOR, Latency, LogNormal, ResetLatency
from phonesim.simulated_device import SimulatedDevice

# A digit for each wait, so that a sum shows which of them were paid
DIGITS = Latency(
    reset=ResetLatency(boot=LogNormal(10_000.0)),
    screencap=LogNormal(1_000.0),
    settle=LogNormal(100.0),
    page_load=LogNormal(10.0),
    action=LogNormal(1.0),
)
CALLS: tuple[Callable[[SimulatedDevice], object], ...] = (
    lambda device: device.screen(),
    lambda device: device.elements(),
    lambda device: device.perform(Home()),
    lambda device: device.perform(Done()),
    lambda device: device.snapshot(),
    lambda device: device.fork("other"),
)


def ready(
    latency: Latency = NONE, faults: Faults | None = None, *, seed: int = 5
) -> SimulatedDevice:
    device = SimulatedDevice("one", NO_DRIFT, latency, faults or Faults())
    device.reset(seed)
    return device


def same(left: Screen, right: Screen) -> bool:
    return left.digest == right.digest


def cost(device: SimulatedDevice, action: Action) -> float:
    before = device.seconds
    device.perform(action)
    return device.seconds - before


ERRORS: dict[FaultKind, type[DeviceError]] = {
    "freeze": DeviceTimeout,
    "disconnect": DeviceDisconnected,
    "app_crash": AppCrashed,
    "black_screen": BlankScreen,
    "white_screen": BlankScreen,
    "stuck_keyboard": TypingFailed,
    "slow_page": PageTimeout,
}
LONG = {"page_takes": LogNormal(1e6), "blank_lasts": LogNormal(1e6)}
# Each of these can strike the second action below
SECOND: dict[FaultKind, Action] = {
    "app_crash": Tap(0.5, 0.5),
    "stuck_keyboard": TypeText("my secret"),
    "slow_page": Home(),
}


def broken(kind: FaultKind) -> tuple[SimulatedDevice, DeviceError]:
    """A device whose second action met a fault."""
    device = ready(faults=Faults(schedule={2: kind}, **LONG))  # type: ignore[arg-type]
    device.perform(OpenApp("Notes"))
    with pytest.raises(ERRORS[kind]) as caught:
        device.perform(SECOND.get(kind, Tap(0.5, 0.5)))
    return device, caught.value


@pytest.mark.parametrize("kind", ERRORS)
def test_a_scheduled_fault_is_the_error_of_its_kind(kind: FaultKind) -> None:
    _, error = broken(kind)
    assert type(error) is ERRORS[kind]
    assert "device one" in str(error)
    assert "action 2 of the episode" in str(error)
    assert "reset the device" in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize("kind", ERRORS)
def test_a_certain_fault_is_the_error_of_its_kind(kind: FaultKind) -> None:
    device = ready(faults=Faults(**{kind: 1.0}, **LONG))  # type: ignore[arg-type]
    phone = device.phone
    phone.perform(OpenApp("Notes"))  # behind the device's back: opening it would be struck as well
    with pytest.raises(ERRORS[kind]):
        device.perform(SECOND.get(kind, Tap(0.5, 0.5)))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ERRORS)
def test_a_failed_device_stays_failed_until_it_is_reset(
    kind: FaultKind, call: Callable[[SimulatedDevice], object]
) -> None:
    device, _ = broken(kind)
    seconds = device.seconds
    for _ in range(2):
        with pytest.raises(ERRORS[kind], match="not reset since"):
            call(device)
    assert device.seconds == seconds
    device.reset(5)
    assert device.seconds == 0.0
    call(device)


@pytest.mark.parametrize("kind", ERRORS)
def test_a_phone_that_was_reset_after_a_fault_is_like_new(kind: FaultKind) -> None:
    device, _ = broken(kind)
    device.reset(5)
    assert same(device.screen(), ready().screen())
    assert same(device.perform(OpenApp("Notes")), ready().perform(OpenApp("Notes")))


def test_a_frozen_phone_costs_the_whole_deadline() -> None:
    device = ready(faults=Faults(schedule={1: "freeze"}))
    with pytest.raises(DeviceTimeout, match="no answer within 300 s"):
        device.perform(OpenApp("Notes"))
    assert device.seconds == 300.0
    assert device.phone.state.front == "Launcher"
    quick = ready(faults=Faults(schedule={1: "freeze"}, step_deadline=12.0))
    with pytest.raises(DeviceTimeout, match="within 12 s"):
        quick.perform(Home())
    assert quick.seconds == 12.0


def test_a_lost_connection_shows_at_once() -> None:
    device = ready(DIGITS, Faults(schedule={1: "disconnect"}))
    with pytest.raises(DeviceDisconnected):
        device.perform(OpenApp("Notes"))
    assert device.seconds == 10_000.0


def test_a_crashed_app_is_gone_and_the_phone_says_so() -> None:
    device, error = broken("app_crash")
    assert "the app Notes stopped" in str(error)
    assert device.phone.state.front == "Launcher"
    assert "Notes" not in device.phone.state.running
    assert "Notes keeps stopping" in [element.text for element in device.phone.elements()]


def test_the_home_screen_does_not_crash() -> None:
    device = ready(faults=Faults(app_crash=1.0))
    device.perform(Home())
    device.perform(OpenApp("Notes"))
    with pytest.raises(AppCrashed):
        device.perform(Back())


@pytest.mark.parametrize("kind", ["black_screen", "white_screen"])
@pytest.mark.parametrize(("lasts", "paid"), [(0.1, 5.0), (5.0, 5.0), (5.1, 10.0), (20.0, 20.0)])
def test_a_screen_that_is_blank_for_a_while_only_costs_time(
    kind: FaultKind, lasts: float, paid: float
) -> None:
    device = ready(faults=Faults(schedule={1: kind}, blank_lasts=LogNormal(lasts)))
    assert same(device.perform(OpenApp("Notes")), ready().perform(OpenApp("Notes")))
    assert device.seconds == paid
    device.perform(Home())
    assert device.seconds == paid


@pytest.mark.parametrize("color", ["black", "white"])
def test_a_screen_that_stays_blank_is_given_up(color: str) -> None:
    schedule: dict[int, FaultKind] = {1: "black_screen" if color == "black" else "white_screen"}
    device = ready(faults=Faults(schedule=schedule, blank_lasts=LogNormal(20.1)))
    with pytest.raises(BlankScreen, match=f"stayed {color} through 4 more looks, 5 s apart"):
        device.perform(OpenApp("Notes"))
    assert device.seconds == 20.0


def test_a_stuck_keyboard_types_nothing() -> None:
    device = ready(faults=Faults(schedule={1: "stuck_keyboard"}))
    device.perform(OpenApp("Notes"))  # cannot be struck, so the fault waits
    device.perform(Tap(0.5, 0.12))
    with pytest.raises(TypingFailed, match="TypeText of 3 characters, action 3"):
        device.perform(TypeText("gar"))
    assert "query" not in device.phone.routes[-1].memory


def test_a_slow_page_only_costs_time_before_its_deadline() -> None:
    faults = Faults(schedule={1: "slow_page"}, page_takes=LogNormal(40.0))
    device = ready(DIGITS, faults)
    device.perform(Wait(0.0))  # loads no page, so the fault waits
    assert cost(device, OpenApp("Notes")) == 1_151.0
    assert cost(device, Home()) == 1_111.0


def test_a_page_past_its_deadline_is_given_up() -> None:
    faults = Faults(schedule={1: "slow_page"}, page_takes=LogNormal(51.0))
    device = ready(DIGITS, faults)  # 10 s of loading, 51 s more, but 60 s are the deadline
    with pytest.raises(PageTimeout, match="a page of Notes was still loading after 60 s"):
        device.perform(OpenApp("Notes"))
    assert device.seconds == 10_000.0 + 1.0 + 60.0


def test_chances_hold_for_whole_devices() -> None:
    faults = Faults(disconnect=0.1, freeze=0.2)
    seen = {"lost": 0, "frozen": 0}
    for number in range(1500):  # devices differ in their faults; few phones are cheaper to furnish
        device = SimulatedDevice(f"device {number}", NO_DRIFT, faults=faults)
        device.reset(number % 16)
        try:
            device.perform(Wait(0.0))
        except DeviceDisconnected:
            seen["lost"] += 1
        except DeviceTimeout:
            seen["frozen"] += 1
    assert seen["lost"] / 1500 == pytest.approx(0.1, abs=0.03)
    assert seen["frozen"] / 1500 == pytest.approx(0.2, abs=0.04)


def test_a_retry_is_not_doomed_to_the_same_fault() -> None:
    device = SimulatedDevice("one", NO_DRIFT, faults=Faults(disconnect=0.5))

    def tries(seed: int) -> int:
        for number in range(1, 40):
            device.reset(seed)
            try:
                device.perform(Home())
            except DeviceDisconnected:
                continue
            return number
        return 40

    counted = [tries(seed) for seed in range(30)]
    assert max(counted) < 40
    assert 1.5 < sum(counted) / 30 < 2.6  # two on average, as for a coin


def test_the_same_seed_fails_in_the_same_way_on_a_new_device() -> None:
    faults = Faults(freeze=0.1, disconnect=0.1, app_crash=0.1, white_screen=0.2, slow_page=0.1)

    def story(seed: int) -> tuple[str, float]:
        device = ready(PAPER_EMULATOR, faults, seed=seed)
        try:
            for action in (OpenApp("Notes"), Tap(0.5, 0.12), TypeText("gar"), Back(), Home()):
                device.perform(action)
        except DeviceError as error:
            return str(error), device.seconds
        return "fine", device.seconds

    stories = [story(seed) for seed in range(25)]
    assert stories == [story(seed) for seed in range(25)]
    assert len({text for text, _ in stories}) > 5
