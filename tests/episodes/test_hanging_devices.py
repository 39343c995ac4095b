"""A device that never answers is taken back, and costs its own episode alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from tests.episodes.made_up_collectors import (
    POOL,
    ListSink,
    ManualClock,
    Patient,
    collector,
    phone,
    running,
    wait_until,
)

from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.errors import DeviceTimeout
from distrl.records import Action, Ending, Screen, Task, Wait
from distrl.task_sets.curriculum import UniformTasks
from phonesim.clock import RealClock
from phonesim.simulated_device import SimulatedDevice
from phonesim.state import PhoneState


class Hanging(SimulatedDevice):
    """A phone that never answers an action until it is let go."""

    def __init__(self, name: str) -> None:
        super().__init__(name, clock=RealClock())
        self.let_go = threading.Event()
        self.hangs = threading.Event()

    def perform(self, action: object) -> Screen:
        self.hangs.set()
        self.let_go.wait()
        return super().perform(Wait(0.0))


def test_a_device_that_hangs_is_left_behind_and_sends_nothing_afterwards() -> None:
    device, sink = Hanging("phone-0"), ListSink()
    settings = CollectorSettings(patience_seconds=0.2)
    collecting = collector(PolicyBatcher(Patient(waits=0)), sink, [device], settings=settings)
    with running(collecting):
        assert device.hangs.wait(60.0)
    [stuck] = collecting.report().stuck
    assert len(collecting.state()["tasks"]["waiting"]) == 1  # it is played again
    device.let_go.set()
    wait_until(lambda: not any(each.name == stuck for each in threading.enumerate()))
    assert sink.sent == []
    assert len(collecting.state()["tasks"]["waiting"]) == 1
    assert collecting.report().in_flight == 0


def test_a_device_that_hangs_is_taken_back_and_its_task_is_played_on_another() -> None:
    hanging, other, sink, clock = Hanging("phone-0"), phone("phone-1"), ListSink(), ManualClock()
    settings = CollectorSettings(episode_seconds=100.0, patience_seconds=0.2)
    devices = DevicePool([hanging, other])
    collecting = collector(
        PolicyBatcher(Patient(waits=0)), sink, devices, settings=settings, clock=clock
    )
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(collecting.run, 4)
        assert hanging.hangs.wait(60.0)
        wait_until(lambda: len(sink.all) == 3)  # the other one plays on
        clock.advance(99.0)
        assert not run.done()
        clock.advance(1.0)
        run.result(60.0)
    report = collecting.report()
    assert len({each.task.id for each in sink.all}) == len(sink.sent) == 4
    assert (report.in_flight, report.retried, report.failed_starts) == (0, 1, {"DeviceTimeout": 1})
    assert "longer than collection.episode_seconds" in report.troubles["phone-0"]
    hanging.let_go.set()
    wait_until(lambda: devices.ready(clock.now) == ["phone-0", "phone-1"])
    assert len(sink.sent) == 4  # what came after the deadline is dropped
    wait_until(no_device_thread)


class HangsWhenPutBack(Hanging):
    """A phone that plays, and never answers when it is to be put back for a continuation."""

    def perform(self, action: object) -> Screen:
        return SimulatedDevice.perform(self, cast("Action", action))

    def restore(self, state: PhoneState) -> None:
        self.hangs.set()
        self.let_go.wait()
        super().restore(state)


class HeardTasks(UniformTasks):
    """Remembers the ending of every attempt."""

    def __init__(self) -> None:
        super().__init__(POOL)
        self.heard: list[tuple[str, Ending]] = []

    def hear(self, task: Task, ending: Ending) -> None:
        self.heard.append((task.id, ending))


def test_a_device_that_hangs_in_a_continuation_is_taken_back_and_its_attempt_counts() -> None:
    hanging, sink, clock = HangsWhenPutBack("phone-0"), ListSink(), ManualClock()
    settings = CollectorSettings(episode_seconds=100.0, patience_seconds=0.2, forks=1)
    devices, source = DevicePool([hanging, phone("phone-1")]), HeardTasks()
    batcher = PolicyBatcher(Patient(waits=0))
    collecting = collector(batcher, sink, devices, source=source, settings=settings, clock=clock)
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(collecting.run, 3)
        assert hanging.hangs.wait(60.0)
        wait_until(lambda: len(sink.all) == 5)  # the other one: two attempts, each with its own
        clock.advance(100.0)
        run.result(60.0)
    report = collecting.report()
    assert len({each.task.id for each in sink.all}) == 3
    assert (report.in_flight, report.retried, report.failed_starts) == (0, 0, {"DeviceTimeout": 1})
    assert "a continuation of collector-0/" in report.troubles["phone-0"]
    attempts = {(each.task.id, each.ending) for each in sink.all if each.branch is None}
    assert sorted(source.heard) == sorted(attempts)  # each once, that of the hanging one too
    hanging.let_go.set()
    wait_until(lambda: devices.ready(clock.now) == ["phone-0", "phone-1"])
    assert len(sink.sent) == 5  # what came after the deadline is dropped
    wait_until(no_device_thread)


def test_when_all_devices_hang_the_run_ends_and_says_so() -> None:
    hanging, clock = Hanging("phone-0"), ManualClock()
    settings = CollectorSettings(episode_seconds=100.0, patience_seconds=0.2)
    collecting = collector(
        PolicyBatcher(Patient(waits=0)), ListSink(), [hanging], settings=settings, clock=clock
    )
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(collecting.run)
        assert hanging.hangs.wait(60.0)
        clock.advance(101.0)
        with pytest.raises(DeviceTimeout, match="all devices of collector-0 hang"):
            run.result(60.0)
    hanging.let_go.set()
    wait_until(no_device_thread)


def no_device_thread() -> bool:
    return not any("collector-0/device" in each.name for each in threading.enumerate())
