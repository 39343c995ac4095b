"""A real run beside its prediction. How close they are is measured by `make bench-plan`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.plan_check import CALIBRATION, SYSTEMS, Checked, figures
from benchmarks.real_run import RealRun, spoken_share

from distrl.planning.plan_settings import LearnerPlan, PolicyPlan
from distrl.planning.simulation import simulate
from phonesim.latency import LogNormal

SPEED, SECONDS = 10.0, 20.0


@pytest.mark.slow
def test_a_real_run_that_its_policy_limits_is_no_faster_than_predicted() -> None:
    """One answer in 3 s of the devices' clock, and eight phones that want more.

    The policy sleeps for its time: a busy machine can only make it slower. But not as slow as
    phones that wait for each other would be: one at a time comes to 0.37 of the prediction.
    """
    plan = replace(
        CALIBRATION,
        phones=replace(CALIBRATION.phones, count=8),
        policy=PolicyPlan(1, (1,), (3.0,), most=1, look_seconds=0.0),
        learner=LearnerPlan(1, LogNormal(10.0), batch_trajectories=4),
    )
    measured = RealRun(plan, SPEED).measure(SECONDS)
    [report] = measured.reports
    decided = report.batcher.decisions / report.seconds / SPEED
    predicted = simulate(plan, minutes=SECONDS * SPEED / 60.0)
    assert predicted.decisions_per_second == pytest.approx(1 / 3, rel=0.03)
    alone = simulate(replace(plan, phones=replace(plan.phones, count=1)), minutes=60.0)
    assert alone.decisions_per_second < 0.45 * predicted.decisions_per_second
    assert 0.45 * predicted.decisions_per_second < decided <= 1.03 * predicted.decisions_per_second
    assert set(report.batcher.batches) == {1}
    assert measured.arrivals
    assert spoken_share(measured.arrivals) == 1.0
    assert 0.0 < measured.device_busy < 1.0

    found = figures([Checked("it", predicted, measured)])
    rate, measured_rate = predicted.trajectories_per_minute, measured.trajectories_per_minute
    assert found["plan_error_max"] == abs(rate - measured_rate) / measured_rate


def test_no_system_is_checked_that_was_calibrated_on() -> None:
    assert len(SYSTEMS) >= 3
    assert CALIBRATION not in SYSTEMS.values()
    assert CALIBRATION.phones not in [each.phones for each in SYSTEMS.values()]
