"""Phones that never block: any number of them on a few threads, with the promises of threads."""

from __future__ import annotations

import threading
import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.episodes.made_up_collectors import (
    POOL,
    Broken,
    ListSink,
    ManualClock,
    Patient,
    TimedPhone,
    collector,
    running,
    wait_until,
)

from distrl.episodes.collector import DELIVERING, Collector
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.episodes.episode import WORKS, Episode
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.records import Action, Decision, OpenApp, Screen, Task, Trajectory
from distrl.task_sets.curriculum import UniformTasks
from phonesim.clock import ScaledClock
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge


def instant_phones(count: int) -> list[SimulatedDevice]:
    return [SimulatedDevice(f"phone-{number}") for number in range(count)]


class Gate:
    """A policy's computation that waits until the test opens it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self, size: int) -> None:
        del size
        self.entered.set()
        assert self.opened.wait(60.0)


def test_only_time_that_really_passes_blocks() -> None:
    assert not SimulatedDevice("phone-0").blocking
    assert SimulatedDevice("phone-0", clock=ScaledClock(50.0)).blocking
    mixed = [*instant_phones(2), SimulatedDevice("phone-2", clock=ScaledClock(50.0))]
    assert DevicePool(mixed).blocking
    assert not DevicePool(mixed[:2]).blocking


def test_many_phones_play_at_once_on_a_few_threads() -> None:
    before, gate, sink = threading.active_count(), Gate(), ListSink()
    collecting = collector(PolicyBatcher(Patient(compute=gate)), sink, instant_phones(24))
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(collecting.run, 36)
        wait_until(lambda: collecting.report().in_flight == 24)
        assert (
            threading.active_count() <= before + 3 + DELIVERING
        )  # one starts, one advances, and `beside`
        gate.opened.set()
        run.result(60.0)
    report = collecting.report()
    assert (len(sink.all), len(sink.sent), report.started, report.abandoned) == (36, 36, 36, 0)
    assert report.stages["decide"] > 0.0


def test_a_stop_abandons_what_waits_for_a_decision_and_keeps_its_task() -> None:
    before, gate, sink = threading.active_count(), Gate(), ListSink()
    collecting = collector(PolicyBatcher(Patient(compute=gate)), sink, instant_phones(20))
    with running(collecting):
        assert gate.entered.wait(60.0)
        wait_until(lambda: collecting.report().in_flight == 20)
        collecting.stop()
        gate.opened.set()
    report = collecting.report()
    assert (report.in_flight, report.stuck) == (0, ())
    assert report.abandoned == 20  # one batch was decided; what it asked for is not carried out
    assert len(collecting.state()["tasks"]["waiting"]) == 20
    assert sink.sent == []
    assert threading.active_count() == before


def test_a_mistake_in_a_worker_ends_the_run_and_is_raised() -> None:
    before = threading.active_count()
    devices = [*instant_phones(3), Broken("phone-3")]
    collecting = collector(PolicyBatcher(Patient()), ListSink(), devices)
    with pytest.raises(ZeroDivisionError, match="a mistake of ours"):
        collecting.run()
    assert threading.active_count() == before


def test_a_spare_is_no_further_slot() -> None:
    gate = Gate()
    pool = DevicePool(instant_phones(3), spares=[SimulatedDevice("spare-0")])
    collecting = collector(PolicyBatcher(Patient(compute=gate)), ListSink(), pool)
    with running(collecting):
        assert gate.entered.wait(60.0)
        wait_until(lambda: collecting.report().in_flight == 3)
        assert pool.ready(0.0) == ["spare-0"]
        gate.opened.set()


def test_the_time_of_all_slots_is_accounted_for() -> None:
    clock, gate = ManualClock(), Gate()
    collecting = collector(
        PolicyBatcher(Patient(waits=0, compute=gate)), ListSink(), instant_phones(4), clock=clock
    )
    with running(collecting):
        wait_until(lambda: collecting.report().in_flight == 4)
        assert gate.entered.wait(60.0)
        clock.advance(5.0)
        collecting.stop(finish_within=1e6)
        gate.opened.set()
    stages = collecting.report().stages
    assert stages["decide"] >= 5.0  # of one at least: the others may have asked later
    assert sum(stages.values()) >= 4 * 5.0 - 1e-6
    on_devices = sum(stages[work] for work in WORKS)  # which have a clock of their own
    assert sum(stages.values()) - on_devices <= 4 * 5.0 + 1e-6


def test_waiting_for_a_thread_of_the_collector_is_a_stage_of_its_own() -> None:
    """The policy decides for all at once; the workers are busy with the sink meanwhile."""
    clock, count = ManualClock(), DELIVERING + 5
    at_sink, opened = threading.Semaphore(0), threading.Event()

    class Held(ListSink):
        def put(self, trajectory: Trajectory) -> bool:
            at_sink.release()
            assert opened.wait(60.0)
            return super().put(trajectory)

    batcher = PolicyBatcher(Patient(waits=0))
    collecting = collector(batcher, Held(), instant_phones(count), clock=clock)
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(collecting.run, count)
        for _ in range(DELIVERING):
            assert at_sink.acquire(timeout=60.0)
        wanted = {"deliver": DELIVERING, "queue": 5}  # five are decided, and nobody is free
        wait_until(lambda: slots_in_stages(collecting) == wanted)
        clock.advance(5.0)
        stages = collecting.report().stages
        opened.set()
        run.result(60.0)
    assert stages["deliver"] == 5.0 * DELIVERING
    assert stages["queue"] == 5.0 * 5
    assert stages["own"] == 0.0
    after = collecting.report().stages
    clock.advance(100.0)
    assert collecting.report().stages == after  # nothing is under way any more


def slots_in_stages(collecting: Collector[SimulatedDevice]) -> Counter[str]:
    found: Counter[str] = Counter()
    for stage, slots, _ in list(collecting._metrics._stages._under_way.values()):
        found[stage] += slots
    return +found


def test_slots_that_wait_while_another_is_started_are_in_the_queue() -> None:
    clock, gate = ManualClock(), Gate()
    devices: list[SimulatedDevice] = [TimedPhone(f"phone-{n}", clock) for n in range(3)]
    pool = DevicePool(devices, clock=clock)
    collecting = collector(
        PolicyBatcher(Patient(waits=0, compute=gate)), ListSink(), pool, clock=clock
    )
    with running(collecting):
        assert gate.entered.wait(60.0)
        wait_until(lambda: collecting.report().in_flight == 3)
        wait_until(lambda: collecting.report().stages["reset"] == 3 * 2.0)
        queued = collecting.report().stages["queue"]
        collecting.stop()
        gate.opened.set()
    assert queued == 2 * 2.0 + 1 * 2.0


def test_a_quarantined_phone_is_not_in_the_queue_while_another_is_started() -> None:
    clock, gate = ManualClock(), Gate()
    opened = threading.Event()

    class Held(TimedPhone):
        def reset(self, seed: int) -> None:
            assert opened.wait(60.0)
            with collecting._changed:  # the clock moves in no moment between two stages
                super().reset(seed)

    devices: list[SimulatedDevice] = [Held(f"phone-{n}", clock) for n in range(3)]
    pool = DevicePool(devices, settings=HealthSettings(1, quarantine_seconds=1000.0), clock=clock)
    pool.take("phone-2")
    pool.give_back("phone-2", clock.now, fault=True)
    collecting = collector(
        PolicyBatcher(Patient(waits=0, compute=gate)), ListSink(), pool, clock=clock
    )
    with running(collecting):
        wait_until(lambda: slots_in_stages(collecting) == {"queue": 1, "device": 1})
        opened.set()
        assert gate.entered.wait(60.0)
        wait_until(lambda: collecting.report().stages["reset"] == 2 * 2.0)
        stages = collecting.report().stages
        collecting.stop()
        gate.opened.set()
    assert stages["queue"] == 2.0
    assert stages["device"] == 2 * 2.0


def test_a_thread_that_was_in_the_sink_when_the_run_failed_ends_as_well() -> None:
    before, at_sink, opened = threading.active_count(), threading.Event(), threading.Event()

    class Held(ListSink):
        def put(self, trajectory: Trajectory) -> bool:
            if not at_sink.is_set():
                at_sink.set()
                assert opened.wait(60.0)
            return super().put(trajectory)

    class BrokenLater(Broken):
        def perform(self, action: Action) -> Screen:
            return super().perform(action) if at_sink.is_set() else working.perform(self, action)

    working = SimulatedDevice
    collecting = collector(
        PolicyBatcher(Patient(waits=1)),
        Held(),
        [BrokenLater("phone-0"), BrokenLater("phone-1")],
        settings=CollectorSettings(patience_seconds=1.0),
    )
    with pytest.raises(ZeroDivisionError, match="a mistake of ours"):
        collecting.run()
    assert collecting.report().stuck
    opened.set()
    wait_until(lambda: threading.active_count() == before)


def test_what_was_played_and_not_delivered_when_a_run_ended_is_played_again() -> None:
    """The sink takes nothing more: its tasks are in the state, those of what it has are not."""
    at_sink, opened = threading.Semaphore(0), threading.Event()

    class HeldAfterTwo(ListSink):
        def put(self, trajectory: Trajectory) -> bool:
            if len(self.sent) >= 2:
                at_sink.release()
                assert opened.wait(60.0)
            return super().put(trajectory)

    sink, count = HeldAfterTwo(), DELIVERING + 5
    settings = CollectorSettings(patience_seconds=0.1)
    batcher = PolicyBatcher(Patient(waits=0))
    collecting = collector(batcher, sink, instant_phones(count), settings=settings)
    with running(collecting):
        for _ in range(DELIVERING):
            assert at_sink.acquire(timeout=60.0)
        wait_until(lambda: slots_in_stages(collecting) == {"deliver": DELIVERING, "queue": 5})
    report, kept = collecting.report(), collecting.state()["tasks"]["waiting"]
    delivered = {each.task.id for each in sink.all}
    assert (report.in_flight, len(delivered)) == (0, 2)
    assert len({task for task, _, _ in kept}) == len(kept) == count
    assert {attempt for _, attempt, _ in kept} == {1}
    assert not delivered & {task for task, _, _ in kept}
    opened.set()
    wait_until(lambda: len(sink.all) == 2 + DELIVERING)
    wait_until(lambda: not any("collector-0/" in each.name for each in threading.enumerate()))
    assert collecting.report().in_flight == 0


def test_one_thread_plays_on_all_phones_that_never_block() -> None:
    """Others wait for the sink meanwhile."""
    playing: set[int] = set()

    class Noted(SimulatedDevice):
        def reset(self, seed: int) -> None:
            playing.add(threading.get_ident())
            super().reset(seed)

        def perform(self, action: Action) -> Screen:
            playing.add(threading.get_ident())
            return super().perform(action)

    class Slow(ListSink):
        def put(self, trajectory: Trajectory) -> bool:
            assert threading.get_ident() not in playing
            return super().put(trajectory)

    sink = Slow()
    collector(PolicyBatcher(Patient()), sink, [Noted(f"phone-{n}") for n in range(9)]).run(18)
    assert (len(sink.sent), len(playing)) == (18, 1)


def test_what_was_leased_but_not_started_when_a_stop_came_leaves_its_phone_alone() -> None:
    resetting, opened, resets = threading.Event(), threading.Event(), list[str]()

    class Held(SimulatedDevice):
        def reset(self, seed: int) -> None:
            resets.append(self.name)
            resetting.set()
            assert opened.wait(60.0)
            super().reset(seed)

    collecting = collector(PolicyBatcher(Patient()), ListSink(), [Held(f"p-{n}") for n in range(5)])
    with running(collecting):
        assert resetting.wait(60.0)
        wait_until(lambda: collecting.report().in_flight == 5)
        collecting.stop()
        opened.set()
    assert len(resets) == 1
    assert collecting.report().abandoned == 5
    assert len(collecting.state()["tasks"]["waiting"]) == 5


def test_a_phone_that_waits_holds_no_pixels() -> None:
    tasks = UniformTasks(POOL)

    def begin(number: int) -> Episode:
        task: Task = tasks.next_task()
        device = SimulatedDevice(f"phone-{number}")
        episode = Episode.begin(task, device, FactJudge(device))
        for app in ("Clock", "Notes", "Settings"):
            episode.take(Decision(OpenApp(app), weight_version=0))
        return episode

    begin(0)
    tracemalloc.start()
    try:
        held = [begin(number) for number in range(1, 5)]
        taken = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    pixels = ("*/phonesim/phone.py", "*/replay/compressed_screen.py")
    kept = taken.filter_traces(
        [tracemalloc.Filter(inclusive=True, filename_pattern=each) for each in pixels]
    )
    per_phone = sum(each.size for each in kept.statistics("filename")) / len(held)
    assert 10_000 < per_phone < 400_000  # four packed screens; the pixels of one are 777,600 bytes
