"""Devices are kept busy, nothing is lost or doubled, and an end is an end."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence

import pytest
from tests.episodes.made_up_collectors import (
    ListSink,
    Patient,
    Versions,
    collector,
    phone,
    phones,
    running,
    wait_until,
)

from distrl.episodes.collector import CollectorSettings
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings
from distrl.records import Decision, Ending, Observation, Screen, Trajectory, Wait
from distrl.weights.weight_updater import WeightUpdater
from phonesim.simulated_device import SimulatedDevice


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
    """Eight devices whose steps take from 60 ms to 1 s, and a quick policy."""
    slowness = [3, 3, 6, 6, 12, 24, 48, 48]
    devices = [phone(f"phone-{n}", slow) for n, slow in enumerate(slowness)]
    for device in devices:
        device.reset(0)  # so that the phone is drawn once before the time is taken
    sink, policy = ListSink(), Patient(waits=3)
    collecting = collector(PolicyBatcher(policy), sink, devices)
    with running(collecting):
        wait_until(lambda: collecting.report().seconds > 0.5)
        before = collecting.report()
        time.sleep(3.0)
        after = collecting.report()
    spent = (after.seconds - before.seconds) * after.slots
    busy = (sum(after.busy.values()) - sum(before.busy.values())) / spent
    assert busy >= 0.95
    played = Counter(each.device for each in collecting.drain_finished())
    assert played["phone-0"] >= 4 * played["phone-5"]  # whose steps take 8 times as long
    assert after.device_busy <= 1.0 + 1e-6


def test_batches_form_while_the_policy_thinks() -> None:
    """Eight phones of 20 ms and a policy of 30 ms: while it answers some, the others come."""
    policy = Patient(waits=3, seconds=0.03)
    collecting = collector(PolicyBatcher(policy), ListSink(), phones(8))
    collecting.run(episodes=24)
    report = collecting.report().batcher
    assert report.mean_batch > 2.5
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
    thread.join(20.0)
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


class Hanging(SimulatedDevice):
    """A phone that never answers an action until it is let go."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
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
        assert device.hangs.wait(20.0)
    [stuck] = collecting.report().stuck
    device.let_go.set()
    wait_until(lambda: not any(each.name == stuck for each in threading.enumerate()))
    assert sink.sent == []


class Broken(SimulatedDevice):
    """A phone with a mistake of ours in it."""

    def perform(self, action: object) -> Screen:
        raise ZeroDivisionError("a mistake of ours")


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
    class SlowSink(ListSink):
        def put(self, trajectory: Trajectory) -> bool:
            time.sleep(0.2)
            return super().put(trajectory)

    collecting = collector(PolicyBatcher(Patient()), SlowSink(), phones(2))
    collecting.run(episodes=4)
    report = collecting.report()
    assert 0.8 <= report.stages["deliver"] < 1.6
    assert report.stages["act"] >= 4 * 2 * 0.02
    assert report.stages["reset"] >= 4 * 0.02
    assert sum(report.stages.values()) <= 2 * report.seconds + 1e-6
    assert report.gauges()["device_busy"] == report.device_busy < 0.7


def test_endings_are_typed_and_the_step_limit_is_one() -> None:
    sink = ListSink()
    collector(PolicyBatcher(Patient(waits=99)), sink, phones(3)).run(episodes=3)
    assert {each.ending for each in sink.all} == {Ending.STEP_LIMIT}
