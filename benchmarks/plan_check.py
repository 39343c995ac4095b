"""Compare predictions of `distrl plan` with short real runs: part of `make bench-plan`.

One system is only measured, to learn the cost of Python on this machine and how the timed policy
plays (`calibrate`). The systems that follow, each with another bottleneck, were not used for
fitting: each is simulated for the same time with the same warm-up, and runs for real (`real_run`).
The error is that of trajectories per minute. Runs are short and counts small: a hundred
trajectories vary by two or three per cent, and other load on the machine adds to that.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.real_run import Measured, RealRun, spoken_share
from benchmarks.timed_parts import TimedPolicy
from distrl.episodes.collector import POLL_SECONDS, Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings
from distrl.planning.draw_pool import KINDS, of_phone
from distrl.planning.plan_settings import (
    CollectorPlan,
    LearnerPlan,
    PhonePlan,
    PlanSettings,
    PolicyPlan,
)
from distrl.planning.planned_batcher import batch_seconds
from distrl.planning.simulation import Prediction, simulate
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import PacingSettings
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from distrl.weights.staleness import StalenessLimit
from phonesim.clock import VirtualClock
from phonesim.latency import LogNormal
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import template_names

SPEED = 12.0  # device seconds per real second
SECONDS = 60.0  # real seconds, for each system
SEEDS = 5  # simulations that a prediction is the mean of
UNHURRIED_EPISODES = 30

CALIBRATION = PlanSettings(
    phones=PhonePlan(12, "event_driven"),
    collectors=CollectorPlan(1, 1),
    policy=PolicyPlan(1, (1, 64), (0.3, 0.9), look_seconds=0.0),
    learner=LearnerPlan(1, LogNormal(20.0), batch_trajectories=8),
)
SYSTEMS: dict[str, PlanSettings] = {
    "32 phones, nothing in the way": PlanSettings(
        phones=PhonePlan(32, "paper_emulator"),
        collectors=CollectorPlan(2, 1),
        policy=PolicyPlan(2, (1, 64), (0.2, 0.8), look_seconds=0.0),
        learner=LearnerPlan(1, LogNormal(30.0), batch_trajectories=16),
    ),
    "40 phones, one slow policy": PlanSettings(
        phones=PhonePlan(40, "snapshot_emulator"),
        collectors=CollectorPlan(1, 1),
        policy=PolicyPlan(1, (1, 8), (1.2, 2.4), most=8, look_seconds=0.0),
        learner=LearnerPlan(1, LogNormal(30.0), batch_trajectories=16),
    ),
    "24 phones, a slow learner": PlanSettings(
        phones=PhonePlan(24, "event_driven"),
        collectors=CollectorPlan(1, 1),
        policy=PolicyPlan(1, (1, 64), (0.3, 0.9), look_seconds=0.0),
        learner=LearnerPlan(
            1, LogNormal(40.0), batch_trajectories=8, staleness=StalenessLimit(3, 16)
        ),
    ),
    "32 unequal phones, tight pace": PlanSettings(
        phones=PhonePlan(32, "event_driven", slowdowns=(1.0, 1.5, 2.0, 4.0), episode_log_sd=0.5),
        collectors=CollectorPlan(2, 1),
        policy=PolicyPlan(2, (1, 64), (0.4, 1.0), look_seconds=0.0),
        learner=LearnerPlan(
            1, LogNormal(12.0), batch_trajectories=8, updates_per_publish=2, max_waiting=16
        ),
        pacing=PacingSettings(samples_per_insert=2.0, minimum_fill=8, tolerance=16.0),
    ),
    "64 phones, three collectors": PlanSettings(
        phones=PhonePlan(64, "paper_emulator"),
        collectors=CollectorPlan(3, 1),
        policy=PolicyPlan(3, (1, 64), (0.6, 1.8), look_seconds=0.0),
        learner=LearnerPlan(1, LogNormal(20.0), batch_trajectories=32),
    ),
}


@dataclass(frozen=True, slots=True)
class Overheads:
    """What this machine and this policy add to the stated waits, in real seconds."""

    step: float  # CPU time of the collector
    delivery: float
    batch: float  # in addition to the policy's own time
    update: float  # in addition to the update's own time
    page_share: float
    spoken_ends: float
    measured_steps: tuple[int, ...]

    def added_to(self, settings: PlanSettings, speed: float) -> PlanSettings:
        """Return the settings with all overheads added, in seconds of the devices' clock."""
        policy, learner = settings.policy, settings.learner
        slower = tuple(each + self.batch * speed for each in policy.batch_seconds)
        return replace(
            settings,
            phones=replace(settings.phones, page_share=self.page_share),
            episodes=replace(
                settings.episodes,
                measured_steps=self.measured_steps,
                spoken_ends=self.spoken_ends,
            ),
            collectors=replace(
                settings.collectors,
                seconds_per_step=self.step * speed,
                acknowledge=LogNormal(self.delivery * speed),
                poll_seconds=POLL_SECONDS * speed,
            ),
            policy=replace(policy, batch_seconds=slower),
            learner=replace(
                learner,
                update=replace(learner.update, median=learner.update.median + self.update * speed),
            ),
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """One system, predicted and measured."""

    name: str
    predicted: Prediction
    measured: Measured

    @property
    def error(self) -> float:
        """Return the error of trajectories per minute, as a share of the measured value."""
        measured = self.measured.trajectories_per_minute
        return abs(self.predicted.trajectories_per_minute - measured) / max(1e-9, measured)


def calibrate(seconds: float = SECONDS, speed: float = SPEED) -> Overheads:
    """Measure one system that is not among the checked ones."""
    measured = RealRun(CALIBRATION, speed, seed=7).measure(seconds)
    trajectories = [each.trajectory for each in measured.arrivals]
    [report] = measured.reports
    batches = report.batcher.batches
    stated = batch_seconds(CALIBRATION.policy)
    asleep = sum(count * stated[size] for size, count in batches.items()) / speed
    stated_update = CALIBRATION.learner.update.mean / speed
    return Overheads(
        step=_processor_seconds(),
        delivery=report.stages["deliver"] / max(1, report.trajectories),
        batch=max(0.0, (report.batcher.deciding_seconds - asleep) / max(1, sum(batches.values()))),
        update=max(0.0, measured.update_seconds - stated_update),
        page_share=_page_share(trajectories, spoken_share(measured.arrivals)),
        spoken_ends=spoken_share(measured.arrivals),
        measured_steps=tuple(len(each.decisions) for each in trajectories),
    )


class _Counted:
    """A sink that counts decisions and discards trajectories."""

    def __init__(self) -> None:
        self.decisions = 0

    def put(self, trajectory: Trajectory) -> bool:
        self.decisions += len(trajectory.decisions)
        return True


def _processor_seconds() -> float:
    """Return the CPU time of a step: one phone, its collector, and no waits.

    It is the time of this process, so that other load on the machine does not count.
    """
    at_once = replace(
        CALIBRATION, policy=replace(CALIBRATION.policy, batch_sizes=(1,), batch_seconds=(0.0,))
    )
    sink = _Counted()
    pool = SimulatedTasks(tuple(template_names("train", "general")), seed=8)
    collector = Collector(
        "calibration",
        PolicyBatcher(TimedPolicy(at_once, 1.0), PolicyBatcherSettings(max_wait_seconds=0.0)),
        DevicePool([SimulatedDevice("phone", latency=KINDS["event_driven"], clock=VirtualClock())]),
        UniformTasks(pool),
        sink,
        FactJudge,
    )
    collector.run(3)  # warms up the caches of drawn pages
    begun, before = time.process_time(), sink.decisions
    collector.run(UNHURRIED_EPISODES)
    return (time.process_time() - begun) / max(1, sink.decisions - before)


def _page_share(trajectories: list[Trajectory], spoken: float) -> float:
    """Solve for the share of page loads, the only unknown in the device time of episodes."""
    without, with_pages = (
        of_phone(replace(CALIBRATION.phones, page_share=share), 0) for share in (0.0, 1.0)
    )
    reset, look, step = (pool.mean for pool in without)
    page = with_pages[2].mean - step
    acts = statistics.fmean(len(each.decisions) for each in trajectories) - spoken
    took = statistics.fmean(each.device_seconds for each in trajectories)
    return min(1.0, max(0.0, (took - reset - look - acts * step) / (acts * page)))


def predict(settings: PlanSettings, seconds: float, speed: float) -> list[Prediction]:
    """Simulate a run of so many real seconds, once per seed."""
    return [simulate(settings, seed, seconds * speed / 60.0) for seed in range(SEEDS)]


def check(
    overheads: Overheads, seconds: float = SECONDS, speed: float = SPEED
) -> Iterator[Checked]:
    """Predict and measure every system, one after the other."""
    for name, settings in SYSTEMS.items():
        predicted = _mean(predict(overheads.added_to(settings, speed), seconds, speed))
        yield Checked(name, predicted, RealRun(settings, speed, seed=11).measure(seconds))


def _mean(predictions: list[Prediction]) -> Prediction:
    """Average the compared figures; all others are those of the first prediction."""
    mean = statistics.fmean
    spread = replace(
        predictions[0].staleness, mean=mean(each.staleness.mean for each in predictions)
    )
    return replace(
        predictions[0],
        trajectories_per_minute=mean(each.trajectories_per_minute for each in predictions),
        device_busy=mean(each.device_busy for each in predictions),
        learner_idle=mean(each.learner_idle for each in predictions),
        staleness=spread,
    )


def figures(checked: list[Checked]) -> dict[str, float]:
    """Return flat figures for a file. `plan_error_max` is the largest error of all systems."""
    found = {"plan_error_max": max(each.error for each in checked)}
    for number, each in enumerate(checked, start=1):
        measured, predicted = each.measured, each.predicted
        found |= {
            f"system_{number}_error": each.error,
            f"system_{number}_predicted_per_min": predicted.trajectories_per_minute,
            f"system_{number}_measured_per_min": measured.trajectories_per_minute,
            f"system_{number}_predicted_device_busy": predicted.device_busy,
            f"system_{number}_measured_device_busy": measured.device_busy,
            f"system_{number}_predicted_staleness": predicted.staleness.mean,
            f"system_{number}_measured_staleness": measured.staleness_mean,
            f"system_{number}_predicted_learner_idle": predicted.learner_idle,
            f"system_{number}_measured_learner_idle": measured.learner_idle,
        }
    return found
