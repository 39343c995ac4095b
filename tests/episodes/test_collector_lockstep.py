"""The same without threads: bit by bit the same from the same seeds, also from a saved state."""

from __future__ import annotations

import json

from benchmarks.tabular_policy import TabularPolicy
from tests.episodes.made_up_collectors import POOL, ListSink, Patient, Versions, collector

from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.episodes.policy_batcher import PolicyBatcher, WeightUpdater
from distrl.records import Action, Back, Done, Ending, Home, Tap, Trajectory
from distrl.task_sets.curriculum import SuccessRateTasks
from phonesim.faults import Faults
from phonesim.latency import EVENT_DRIVEN
from phonesim.simulated_device import SimulatedDevice

ANSWERS: dict[tuple[int, ...], Action] = {
    (0,): Tap(0.3, 0.4),
    (1, 0): Tap(0.7, 0.6),
    (1, 1): Back(),
    (2, 0): Done(),
    (2, 1): Home(),
}
FAULTS = Faults(disconnect=0.08, freeze=0.04)


def lockstep(sink: ListSink, seed: int = 0) -> Collector[SimulatedDevice]:
    policy = TabularPolicy(256, 3, ANSWERS, seed=seed)
    devices = [SimulatedDevice(f"phone-{n}", None, EVENT_DRIVEN, FAULTS) for n in range(3)]
    health = HealthSettings(quarantine_after=1, quarantine_seconds=40.0)
    device_pool = DevicePool(devices[:2], devices[2:], health)
    source = SuccessRateTasks(POOL)
    return collector(PolicyBatcher(policy), sink, device_pool, source=source)


def bits(trajectories: list[Trajectory]) -> list[tuple[object, ...]]:
    return [
        (
            each.id,
            each.ending,
            each.decisions,
            [screen.digest for screen in each.screens],
            each.device_seconds,
            each.notes,
        )
        for each in trajectories
    ]


def test_the_same_seeds_give_the_same_trajectories_bit_by_bit_with_faults_and_quarantine() -> None:
    first, second = (lockstep(ListSink()) for _ in range(2))
    one, other = first.collect(12), second.collect(12)
    assert bits(one) == bits(other)
    assert bits(one) != bits(lockstep(ListSink(), seed=1).collect(12))
    report = first.report()
    assert len(one) == report.started == 12
    assert report.quarantines > 0
    assert {each.ending for each in one} > {Ending.DEVICE_LOST}
    assert report.quarantines == second.report().quarantines


def test_every_trajectory_goes_to_the_sink_before_it_is_handed_back() -> None:
    sink = ListSink()
    collected = lockstep(sink).collect(7)
    assert [each.id for each in collected] == sink.sent


def test_a_collector_that_goes_on_from_a_state_plays_what_the_other_would_have_played() -> None:
    one = collector(PolicyBatcher(Patient()), ListSink(), [SimulatedDevice("phone-0")])
    one.collect(4)
    state = json.loads(json.dumps(one.state()))
    other = collector(PolicyBatcher(Patient()), ListSink(), [SimulatedDevice("phone-0")])
    other.load_state(state)
    assert bits(one.collect(5)) == bits(other.collect(5))


def test_weights_are_taken_over_at_the_beginning_and_every_trajectory_has_one_version() -> None:
    policy, versions = Patient(), Versions()
    batcher = PolicyBatcher(policy, updater=WeightUpdater(policy, versions))
    collecting = collector(batcher, ListSink(), [SimulatedDevice("phone-0")])
    versions.newest = 4
    assert [each.weight_version for each in collecting.collect(2)] == [4, 4]
    versions.newest = 9
    assert [each.weight_version for each in collecting.collect(1)] == [9]


def test_it_ends_early_when_no_more_are_admitted() -> None:
    class Three:
        left = 3

        def may_start(self, weight_version: int, in_flight: int) -> bool:
            self.left -= 1
            return self.left >= 0

    devices = [SimulatedDevice(f"phone-{n}") for n in range(2)]
    collecting = collector(PolicyBatcher(Patient()), ListSink(), devices, admission=Three())
    assert len(collecting.collect(10)) == 3


def test_quarantine_of_all_costs_device_time_and_no_real_time() -> None:
    device = SimulatedDevice("phone-0", faults=Faults(schedule={1: "disconnect"}))
    health = HealthSettings(quarantine_after=1, quarantine_seconds=1e6, max_quarantine_seconds=1e9)
    sink = ListSink()
    collecting = collector(PolicyBatcher(Patient()), sink, DevicePool([device], settings=health))
    assert [each.ending for each in collecting.collect(6)] == [Ending.DEVICE_LOST] * 6
    assert collecting.report().given_up == 2  # three attempts at each of two tasks
