"""What is read off a report: shares, faults by name, and all of it as flat gauges."""

from __future__ import annotations

import pytest

from distrl.episodes.collector_report import CollectorReport, gauges
from distrl.episodes.policy_batcher import PolicyBatcherReport

REPORT = CollectorReport(
    name="collector-0",
    seconds=10.0,
    slots=2,
    in_flight=1,
    started=9,
    endings={"success": 3, "device_lost": 2, "app_crash": 1, "failure": 1},
    resent=0,
    failed_starts={"DeviceDisconnected": 1},
    retried=3,
    given_up=1,
    abandoned=0,
    quarantines=1,
    quarantined=("phone-1",),
    stuck=(),
    busy={"phone-0": 9.0, "phone-1": 4.0, "spare": 2.0},
    stages={"act": 12.0, "reset": 3.0, "own": 1.0},
    batcher=PolicyBatcherReport(30, {1: 10, 2: 10}, 2, 7, 1.5, 0.25),
)


def test_trajectories_faults_and_the_busy_share_follow_from_the_counts() -> None:
    assert REPORT.trajectories == 7
    assert REPORT.faults == {"device_lost": 2, "app_crash": 1, "DeviceDisconnected": 1}
    assert REPORT.device_busy == pytest.approx(15.0 / 20.0)  # the spare played for phone-1
    assert REPORT.batcher.mean_batch == 1.5


def test_gauges_are_flat_numbers() -> None:
    recorded = gauges([REPORT])
    assert all(isinstance(value, float) for value in recorded.values())
    expected = {
        "quarantined": 1.0,
        "batches": 20.0,
        "in_flight": 1.0,
        "deciding_seconds": 1.5,
    }
    assert {name: recorded[name] for name in expected} == expected
    twice = gauges([REPORT, REPORT])
    assert twice == {name: 2.0 * value for name, value in recorded.items()}
    assert gauges([]) == dict.fromkeys(recorded, 0.0)
