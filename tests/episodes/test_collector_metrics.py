"""Seconds are counted where they were spent, also of threads that still run."""

from __future__ import annotations

import threading
from dataclasses import replace

from tests.episodes.made_up_collectors import (
    POOL,
    GatedPhone,
    ManualClock,
    Patient,
    wait_until,
)

from distrl.episodes.collector_report import CollectorMetrics, CollectorReport
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.episode import run_episode
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.episodes.scheduler import EpisodeBudget, EpisodeScheduler, Lease
from distrl.errors import DeviceDisconnected
from distrl.records import Ending
from distrl.task_sets.curriculum import UniformTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge


class Counted:
    """Metrics with a scheduler for two phones, by a manual clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.metrics = CollectorMetrics(self.clock)
        self.phones = [GatedPhone(f"phone-{n}") for n in range(2)]
        pool: DevicePool[SimulatedDevice] = DevicePool(self.phones, clock=self.clock)
        self.scheduler = EpisodeScheduler("c", pool, UniformTasks(POOL))

    def lease(self) -> Lease[SimulatedDevice]:
        lease = self.scheduler.lease(EpisodeBudget(), 0, 0.0)
        assert isinstance(lease, Lease)
        return lease

    def report(self) -> CollectorReport:
        batcher = PolicyBatcher(Patient()).report()
        return self.metrics.report("c", self.scheduler, batcher, 0.0, ())


def test_stages_under_way_count_up_to_now_and_all_add_up_to_the_threads_time() -> None:
    counted = Counted()
    metrics, clock = counted.metrics, counted.clock
    with metrics.running(), metrics.slots_running():
        with metrics.stage("decide"):
            clock.advance(2.0)
            assert counted.report().stages["decide"] == 2.0
            assert counted.report().stages["own"] == 0.0
        clock.advance(1.0)
        lease = counted.lease()

        def reset() -> None:
            with lease.timer.at("reset"):
                lease.device.reset(0)

        thread = threading.Thread(target=reset)
        thread.start()
        wait_until(lambda: counted.phones[0].at_work)
        clock.advance(4.0)
        report = counted.report()
        counted.phones[0].open_gate()
        thread.join(60.0)
    assert report.stages["decide"] == 2.0
    assert report.stages["reset"] == 4.0
    assert report.stages["own"] == 1.0
    assert sum(report.stages.values()) == 7.0
    assert report.busy == {"phone-0": 4.0, "phone-1": 0.0}
    assert (report.seconds, report.device_busy) == (7.0, 4.0 / 14.0)
    clock.advance(100.0)  # nothing runs any more
    assert counted.report() == report
    with metrics.running():
        clock.advance(3.0)
        assert counted.report().seconds == 10.0


def test_trajectories_are_counted_once_and_handed_out_once() -> None:
    counted = Counted()
    lease = counted.lease()
    device = SimulatedDevice("other")
    trajectory = run_episode(lease.assignment.task, device, Patient(), FactJudge(device))
    counted.metrics.delivered(trajectory, lease, new=True)
    counted.metrics.delivered(trajectory, lease, new=False)
    counted.metrics.failed_start("phone-1", DeviceDisconnected("gone"))
    counted.metrics.abandoned()
    report = counted.report()
    assert report.endings == {trajectory.ending.value: 1}
    assert (report.resent, report.abandoned, report.in_flight) == (1, 1, 1)
    assert report.failed_starts == {"DeviceDisconnected": 1}
    assert report.troubles == {"phone-1": "DeviceDisconnected: gone"}
    [finished] = counted.metrics.drain_finished()
    assert (finished.id, finished.device) == (trajectory.id, "phone-0")
    assert finished.began == lease.began <= finished.ended
    assert counted.metrics.drain_finished() == []


def test_a_trouble_stands_until_its_device_has_played() -> None:
    counted = Counted()
    lease = counted.lease()
    device = SimulatedDevice("other")
    played = run_episode(lease.assignment.task, device, Patient(), FactJudge(device))
    lost = replace(
        played, ending=Ending.DEVICE_LOST, verdict=None, notes=("DeviceTimeout: silent for 9 s",)
    )
    counted.metrics.delivered(lost, lease, new=True)
    assert counted.report().troubles == {"phone-0": "DeviceTimeout: silent for 9 s"}
    counted.metrics.delivered(played, lease, new=True)
    assert counted.report().troubles == {}
