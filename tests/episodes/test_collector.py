"""Devices are kept busy, nothing is lost or doubled, and an end is an end."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise

import pytest
from tests.episodes.made_up_collectors import (
    POOL,
    STEP,
    Broken,
    GatedPhone,
    ListSink,
    ManualClock,
    Patient,
    TimedPhone,
    Versions,
    collector,
    phone,
    phones,
    running,
    wait_until,
)

from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings, WeightUpdater
from distrl.records import Action, Decision, Ending, Observation, Screen, Task, Trajectory, Wait
from distrl.task_sets.curriculum import UniformTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge


def test_so_many_tasks_are_played_and_each_trajectory_is_acknowledged_once() -> None:
    sink, policy = ListSink(), Patient()
    collecting = collector(PolicyBatcher(policy), sink, phones(4))
    collecting.run(episodes=10)
    assert len(sink.sent) == len(set(sink.sent)) == 10
    assert all(len(each.decisions) == 3 for each in sink.all)
    assert len({each.task.id for each in sink.all}) == 10
    report = collecting.report()
    assert (report.trajectories, report.started, report.in_flight) == (10, 10, 0)
    assert sum(report.endings.values()) == 10
    assert report.batcher.decisions == sum(policy.batches) == 30
    finished = collecting.drain_finished()
    assert {each.id for each in finished} == set(sink.sent)
    assert all(each.began < each.ended and each.device.startswith("phone-") for each in finished)
    assert collecting.drain_finished() == []


def test_the_policy_works_in_the_thread_that_runs_the_collector() -> None:
    policy = Patient()
    collector(PolicyBatcher(policy), ListSink(), phones(3)).run(episodes=5)
    assert policy.threads == {threading.get_ident()}


def test_fast_devices_are_not_held_up_by_slow_ones_and_all_are_busy() -> None:
    """Eight phones whose calls take from 3 to 48 s of a clock that runs only while all work."""
    slowness = [3, 3, 6, 6, 12, 24, 48, 48]
    devices = [GatedPhone(f"phone-{n}") for n in range(len(slowness))]
    clock, sink, policy = ManualClock(), ListSink(), Patient(waits=3)
    pool: DevicePool[SimulatedDevice] = DevicePool(devices, clock=clock)
    collecting = collector(PolicyBatcher(policy, clock=clock), sink, pool, clock=clock)
    next_end = dict(zip(devices, slowness, strict=True))
    with running(collecting):
        while clock.now < 240.0:
            # If a phone had to wait for another one, it would not get back to work here.
            wait_until(lambda: all(device.at_work for device in devices))
            device, end = min(next_end.items(), key=lambda item: item[1])
            clock.advance(end - clock.now)
            next_end[device] += slowness[devices.index(device)]
            device.let_through()
        wait_until(lambda: all(device.at_work for device in devices))
        report = collecting.report()
        collecting.stop()
        for device in devices:
            device.open_gate()
    assert report.seconds == clock.now
    assert report.device_busy == pytest.approx(1.0)
    played = Counter(each.device for each in collecting.drain_finished())
    assert played["phone-0"] >= 4 * played["phone-5"] > 0  # whose steps take 8 times as long
    # An episode is a reset, 3 waits and "done", 15 s of the fastest phone.
    assert played["phone-0"] == pytest.approx(240 / 15, abs=1)


def test_batches_form_while_the_policy_computes() -> None:
    """The policy answers only once all other phones wait for it, until tasks run out."""
    sizes: list[int] = []

    def compute(size: int) -> None:
        if sum(sizes) <= 56:  # all 8 have a task until 16 of 24 episodes, of 4 decisions, ended
            wait_until(lambda: batcher.waiting == 8 - size)
        sizes.append(size)

    batcher = PolicyBatcher(Patient(waits=3, compute=compute))
    collecting = collector(batcher, ListSink(), [SimulatedDevice(f"phone-{n}") for n in range(8)])
    collecting.run(episodes=24)
    report = collecting.report().batcher
    gated = [size for size, before in zip(sizes, accumulate(sizes), strict=True) if before <= 56]
    assert len(gated) > 5
    assert all(one + other >= 8 for one, other in pairwise(gated))
    assert max(report.batches) <= 8
    assert report.decisions == 24 * 4


def test_an_orderly_stop_lets_episodes_end_and_leaves_no_thread() -> None:
    before = threading.active_count()
    sink = ListSink()
    collecting = collector(PolicyBatcher(Patient(waits=4)), sink, phones(4))
    thread = threading.Thread(target=collecting.run)
    thread.start()
    wait_until(lambda: len(sink.sent) >= 4)
    collecting.stop(finish_within=20.0)
    thread.join(60.0)
    report = collecting.report()
    assert report.abandoned == 0
    assert report.started == report.trajectories == len(sink.sent)
    assert threading.active_count() == before


def test_a_stop_at_once_abandons_episodes_and_keeps_their_tasks() -> None:
    before = threading.active_count()
    sink, slow = ListSink(), [phone(f"phone-{n}", 2.0) for n in range(3)]
    collecting = collector(PolicyBatcher(Patient(waits=9)), sink, slow)
    with running(collecting):
        wait_until(lambda: collecting.report().batcher.decisions > 3)
    report = collecting.report()
    assert report.abandoned == 3
    assert report.started == report.trajectories + 3
    assert threading.active_count() == before
    fresh = ListSink()
    going_on = collector(PolicyBatcher(Patient()), fresh, phones(1))
    going_on.load_state(collecting.state())
    going_on.run(episodes=0)  # no fresh ones, only what was left
    kept = {task for task, _, _ in collecting.state()["tasks"]["waiting"]}
    assert {each.task.id for each in fresh.all} == kept
    assert len(kept) == 3


def test_a_mistake_in_a_devices_thread_ends_the_run_and_is_raised() -> None:
    before = threading.active_count()
    sink = ListSink()
    collecting = collector(PolicyBatcher(Patient()), sink, [*phones(3), Broken("phone-3")])
    with pytest.raises(ZeroDivisionError, match="a mistake of ours"):
        collecting.run()
    assert threading.active_count() == before


class Confused:
    """Answers all but one."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(Wait(0.0))] * (len(observations) - 1)


def test_a_mistake_of_the_policy_ends_the_run_and_is_raised() -> None:
    before = threading.active_count()
    with pytest.raises(ValueError, match="zip"):
        collector(PolicyBatcher(Confused()), ListSink(), phones(3)).run()
    assert threading.active_count() == before


class FullDisk(ListSink):
    """Takes two trajectories, and no more."""

    def put(self, trajectory: Trajectory) -> bool:
        if len(self.sent) >= 2:
            raise OSError("no space left")
        return super().put(trajectory)


def test_what_a_sink_raises_is_raised_and_what_it_took_is_counted() -> None:
    sink = FullDisk()
    collecting = collector(PolicyBatcher(Patient()), sink, phones(1))
    with pytest.raises(OSError, match="no space left"):
        collecting.run()
    assert collecting.report().trajectories == len(sink.sent) == 2


class Closed:
    """An admission that opens when it is told to, and for these weights alone."""

    def __init__(self, from_version: int) -> None:
        self._from_version = from_version
        self.max_in_flight = 0

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        self.max_in_flight = max(self.max_in_flight, in_flight)
        return weight_version >= self._from_version and in_flight < 2


def test_nothing_starts_that_would_be_too_old_and_new_weights_come_while_nobody_plays() -> None:
    sink, policy, versions, admission = ListSink(), Patient(), Versions(), Closed(3)
    batcher = PolicyBatcher(policy, updater=WeightUpdater(policy, versions))
    collecting = collector(batcher, sink, phones(4), admission=admission)
    with running(collecting):
        wait_until(lambda: versions.asked > 3)
        report = collecting.report()
        assert report.started == 0
        assert report.stages["admission"] > 0.0
        versions.newest = 3
        wait_until(lambda: len(sink.sent) >= 6)
    assert all(each.weight_version == 3 for each in sink.all)
    assert admission.max_in_flight == 2  # of four devices, two may play


@pytest.mark.parametrize("swap", ["between_decisions", "between_episodes"])
def test_new_weights_are_taken_while_devices_play(swap: str) -> None:
    sink, policy, versions = ListSink(), Patient(waits=5), Versions()
    settings = PolicyBatcherSettings(swap=swap)  # type: ignore[arg-type]
    batcher = PolicyBatcher(policy, settings, WeightUpdater(policy, versions))
    collecting = collector(batcher, sink, [phone(f"phone-{n}", 1 + n) for n in range(3)])
    with running(collecting):
        for number in range(1, 6):
            versions.newest = number
            wait_until(lambda number=number: policy.weight_version == number)  # type: ignore[misc]
            enough = len(sink.sent) + 2
            wait_until(lambda enough=enough: len(sink.sent) >= enough)  # type: ignore[misc]
    played = [[each.weight_version for each in one.decisions] for one in sink.all]
    assert all(versions == sorted(versions) for versions in played)
    assert policy.loaded == [1, 2, 3, 4, 5]
    mixed = sum(len(set(versions)) > 1 for versions in played)
    assert mixed == 0 if swap == "between_episodes" else mixed > 0
    assert all(each.weight_version == each.decisions[0].weight_version for each in sink.all)
    assert collecting.report().batcher.swaps == 5


def test_who_waits_for_whom_is_seen_in_the_stages() -> None:
    clock = ManualClock()

    class SlowSink(ListSink):
        def put(self, trajectory: Trajectory) -> bool:
            clock.advance(7.0)
            return super().put(trajectory)

    policy = Patient(waits=2, compute=lambda size: clock.advance(5.0))
    pool: DevicePool[SimulatedDevice] = DevicePool([TimedPhone("phone-0", clock)], clock=clock)
    collecting = collector(PolicyBatcher(policy, clock=clock), SlowSink(), pool, clock=clock)
    collecting.run(episodes=4)
    report = collecting.report()
    assert report.stages == {
        "reset": 4 * 2.0,
        "begin": 0.0,
        "pack": 0.0,
        "act": 4 * 3 * 3.0,
        "decide": 4 * 3 * 5.0,
        "judge": 0.0,
        "deliver": 4 * 7.0,
        "queue": 0.0,
        "admission": 0.0,
        "device": 0.0,
        "task": 0.0,
        "own": 0.0,
    }
    assert sum(report.stages.values()) == report.seconds
    assert report.batcher.deciding_seconds == 60.0
    assert report.device_busy == 44.0 / 132.0


def test_setting_up_and_packing_are_stages_of_their_own_and_no_work_of_the_phone() -> None:
    clock = ManualClock()

    class SlowJudge(FactJudge):
        def begin(self, task: Task) -> Task:
            clock.advance(11.0)
            return super().begin(task)

    class SlowScreen(Screen):
        """Who packs it asks for its height."""

        @property
        def height(self) -> int:
            clock.advance(13.0)
            return super().height

    class Phone(TimedPhone):
        def perform(self, action: Action) -> Screen:
            return SlowScreen(super().perform(action).pixels)

    pool: DevicePool[SimulatedDevice] = DevicePool([Phone("phone-0", clock)], clock=clock)
    batcher = PolicyBatcher(Patient(waits=1), clock=clock)
    collecting = Collector(
        "collector-0", batcher, pool, UniformTasks(POOL), ListSink(), SlowJudge, clock=clock
    )
    collecting.run(episodes=2)
    report = collecting.report()
    assert report.stages["begin"] == 2 * 11.0
    assert report.stages["pack"] >= 2 * 2 * 13.0
    assert (report.stages["reset"], report.stages["act"]) == (2 * 2.0, 2 * 2 * 3.0)
    assert report.busy == {"phone-0": 2 * 2.0 + 2 * 2 * 3.0}
    assert report.stages["own"] == 0.0
    assert sum(report.stages.values()) == report.seconds


def test_stages_are_parts_of_the_time_of_all_slots() -> None:
    collecting = collector(PolicyBatcher(Patient()), ListSink(), phones(2))
    collecting.run(episodes=4)
    report = collecting.report()
    assert report.stages["act"] >= 4 * 2 * STEP
    assert report.stages["reset"] >= 4 * STEP
    assert sum(report.stages.values()) <= 2 * report.seconds + 1e-6
    assert report.device_busy <= 1.0 + 1e-6


def test_endings_are_typed_and_the_step_limit_is_one() -> None:
    sink = ListSink()
    collector(PolicyBatcher(Patient(waits=99)), sink, phones(3)).run(episodes=3)
    assert {each.ending for each in sink.all} == {Ending.STEP_LIMIT}
