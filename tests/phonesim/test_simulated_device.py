"""The simulated phone behind the device's contract, and the time that it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from distrl.devices.device import Device
from distrl.errors import DeviceDisconnected, DeviceNotReady, InvalidSetting
from distrl.records import (
    Action,
    Answer,
    Back,
    Done,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    Screen,
    Swipe,
    Tap,
    TypeText,
    Unreadable,
    Wait,
)
from phonesim.clock import ScaledClock, VirtualClock
from phonesim.drift import NO_DRIFT
from phonesim.faults import Faults
from phonesim.latency import NONE, PAPER_EMULATOR, Latency, LogNormal, ResetLatency
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice

EPISODE: tuple[Action, ...] = (
    OpenApp("Notes"),
    Swipe(0.5, 0.7, 0.5, 0.4),
    Tap(0.5, 0.12),
    TypeText("gar"),
    Back(),
    LongPress(0.5, 0.3),
    Wait(3.0),
    Home(),
)
# A digit for each wait, so that a sum shows which of them were paid
DIGITS = Latency(
    reset=ResetLatency(boot=LogNormal(10_000.0)),
    screencap=LogNormal(1_000.0),
    settle=LogNormal(100.0),
    page_load=LogNormal(10.0),
    action=LogNormal(1.0),
    typing=LogNormal(0.5),
)
OTHER_CALLS: tuple[Callable[[SimulatedDevice], object], ...] = (
    lambda device: device.screen(),
    lambda device: device.elements(),
    lambda device: device.perform(Home()),
    lambda device: device.perform(Done()),
    lambda device: device.snapshot(),
    lambda device: device.fork("other"),
)


def ready(
    latency: Latency = NONE, faults: Faults | None = None, *, seed: int = 5, name: str = "one"
) -> SimulatedDevice:
    device = SimulatedDevice(name, NO_DRIFT, latency, faults or Faults())
    device.reset(seed)
    return device


def same(left: Screen, right: Screen) -> bool:
    return left.digest == right.digest


def cost(device: SimulatedDevice, action: Action) -> float:
    before = device.seconds
    device.perform(action)
    return device.seconds - before


# The contract -----------------------------------------------------------------------------------


def test_it_is_a_device() -> None:
    device: Device = SimulatedDevice("one")
    with device:
        device.reset(1)
        assert device.name == "one"
        assert device.screen().pixels.shape == (720, 360, 3)


@pytest.mark.parametrize("call", OTHER_CALLS)
def test_before_its_first_reset_it_cannot_be_used(
    call: Callable[[SimulatedDevice], object],
) -> None:
    with pytest.raises(DeviceNotReady, match=r"device one: call reset\(seed\)"):
        call(SimulatedDevice("one"))


@pytest.mark.parametrize("call", OTHER_CALLS)
def test_closed_it_cannot_be_used_until_reset(call: Callable[[SimulatedDevice], object]) -> None:
    with SimulatedDevice("one") as device:
        device.reset(1)
    with pytest.raises(DeviceNotReady):
        call(device)
    device.reset(1)
    call(device)


def test_its_screens_are_those_of_the_phone() -> None:
    device, phone = SimulatedDevice("one", latency=PAPER_EMULATOR), Phone(9)
    device.reset(9)
    assert np.array_equal(device.screen().pixels, phone.frame())
    for action in EPISODE:
        phone.perform(action)
        assert np.array_equal(device.perform(action).pixels, phone.frame())
        assert device.elements() == phone.elements()


def test_a_reset_leaves_nothing_of_the_episode_before() -> None:
    device = ready()
    first, facts = device.screen(), list(device.phone.facts.tables())
    for action in (*EPISODE, OpenApp("Notes"), Tap(0.9, 0.88), TypeText("x")):
        device.perform(action)
    assert not same(device.screen(), first)
    device.reset(5)
    assert same(device.screen(), first)
    assert list(device.phone.facts.tables()) == facts


def test_seeds_give_different_phones_and_bad_ones_change_nothing() -> None:
    device = SimulatedDevice("one")
    device.reset(1)
    first = device.screen()
    with pytest.raises(InvalidSetting, match="seed=-1"):
        device.reset(-1)
    assert same(device.screen(), first)
    device.reset(2)
    assert not same(device.screen(), first)


@pytest.mark.parametrize("said", [Answer("4"), Done(), Impossible(), Unreadable("?", "no verb")])
def test_what_is_only_said_touches_nothing_and_costs_nothing(said: Action) -> None:
    device = ready(DIGITS, Faults(schedule={1: "disconnect"}))
    before, state, seconds = device.screen(), device.snapshot(), device.seconds
    assert same(device.perform(said), before)
    assert device.seconds == seconds
    assert device.snapshot().actions == state.actions
    with pytest.raises(DeviceDisconnected):
        device.perform(Home())  # which is still the first action


def test_a_fork_goes_on_alone() -> None:
    device = ready(PAPER_EMULATOR)
    device.perform(OpenApp("Notes"))
    seconds = device.seconds
    other = device.fork("two")
    assert (other.name, other.seconds) == ("two", 0.0)
    assert same(other.screen(), device.screen())
    other.perform(Home())
    assert other.phone.state.front == "Launcher"
    assert device.phone.state.front == "Notes"
    assert device.seconds > seconds


def test_a_snapshot_brings_the_phone_back_without_time() -> None:
    device = ready(DIGITS)
    kept, first, seconds = device.snapshot(), device.screen(), device.seconds
    device.perform(OpenApp("Notes"))
    after = device.seconds
    device.restore(kept)
    assert device.seconds == after > seconds
    assert same(device.screen(), first)


# Time -------------------------------------------------------------------------------------------


def test_every_wait_is_paid_where_it_belongs() -> None:
    device = ready(DIGITS)
    assert device.seconds == 10_000.0
    device.screen()
    assert device.seconds == 11_100.0  # settled and captured
    device.screen()
    assert device.seconds == 12_100.0  # settled already
    device.elements()
    assert device.seconds == 13_100.0
    assert cost(device, OpenApp("Notes")) == 1_111.0
    assert cost(device, Tap(0.5, 0.12)) == 1_101.0  # into the search field: the same page
    assert cost(device, TypeText("gar")) == 1_101.5
    assert cost(device, Swipe(0.5, 0.5, 0.5, 0.4)) == 1_101.0
    assert cost(device, Wait(7.0)) == 1_108.0
    assert cost(device, Home()) == 1_111.0
    device.reset(5)
    assert device.seconds == 10_000.0


def test_a_page_loads_within_an_app_too() -> None:
    device = ready(DIGITS)
    device.perform(OpenApp("Notes"))
    note = next(e for e in device.elements() if e.role == "row" and e.clickable)
    x, y = note.centre
    assert cost(device, Tap(x / 360, y / 720)) == 1_111.0
    assert device.phone.routes[-1].page == "edit"
    assert cost(device, Back()) == 1_111.0


def test_the_same_seed_takes_the_same_time() -> None:
    def episode(name: str, seed: int) -> float:
        device = ready(PAPER_EMULATOR, name=name, seed=seed)
        for action in EPISODE:
            device.perform(action)
        return device.seconds

    assert episode("one", 5) == episode("one", 5)
    assert len({episode("one", 5), episode("two", 5), episode("one", 6)}) == 3


def test_a_device_that_never_failed_repeats_itself() -> None:
    device, taken = ready(PAPER_EMULATOR), []
    for _ in range(2):
        device.reset(5)
        for action in EPISODE:
            device.perform(action)
        taken.append(device.seconds)
    assert taken[0] == taken[1]


def test_faults_that_never_come_change_no_latency() -> None:
    calm = ready(PAPER_EMULATOR)
    risky = ready(PAPER_EMULATOR, Faults(freeze=1e-9))
    for action in EPISODE:
        calm.perform(action)
        risky.perform(action)
    assert calm.seconds == risky.seconds


def test_without_latency_only_waits_take_time() -> None:
    device = ready()
    for action in EPISODE:
        device.perform(action)
    assert device.seconds == 3.0  # the Wait among them


def test_virtual_time_is_the_clocks_time() -> None:
    clock = VirtualClock()
    device = SimulatedDevice("one", NO_DRIFT, DIGITS, clock=clock)
    device.reset(1)
    device.screen()
    device.reset(2)
    assert clock.now == 21_100.0
    assert device.seconds == 10_000.0


def test_scaled_time_is_measured() -> None:
    latency = replace(DIGITS, reset=ResetLatency(boot=LogNormal(20.0)))
    device = SimulatedDevice("one", NO_DRIFT, latency, clock=ScaledClock(speed=50_000.0))
    begun = time.monotonic()
    device.reset(1)
    device.screen()
    real = time.monotonic() - begun
    assert real >= 1_120.0 / 50_000.0
    assert 1_120.0 <= device.seconds <= real * 50_000.0
