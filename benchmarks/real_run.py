"""A short real run of a planned system, on a scaled clock, to compare with its prediction.

All parts are the product's own: `Collector`, `PolicyBatcher`, `EpisodeScheduler`, `Learner`,
`ReplayBuffer`, `Pacing`, the simulated phone and its judge. Only durations are simulated: phones
wait as their latency model says, the policy (a table) and the update sleep as long as the plan
says. It is one process, so Python's own time is counted too (`Overheads`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.timed_parts import (
    Arrival,
    Arrivals,
    Newest,
    SharedAdmission,
    TimedAlgorithm,
    TimedPolicy,
    new_table,
)
from distrl.episodes.collector import Collector
from distrl.episodes.collector_report import CollectorReport
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings, WeightUpdater
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import Waiting
from distrl.learning.learner_settings import LearnerSettings
from distrl.planning.draw_pool import KINDS
from distrl.planning.plan_settings import PlanSettings
from distrl.planning.simulation import WARM_UP
from distrl.records import Ending
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from distrl.watched_threads import WatchedThreads
from phonesim.clock import ScaledClock
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import template_names

PATIENCE_SECONDS = 30.0  # for the episodes under way at the end


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of a real run after its warm-up. Rates are by the devices' clock."""

    speed: float
    seconds: float  # real seconds of the counted time
    trajectories_per_minute: float
    device_busy: float
    learner_idle: float
    staleness_mean: float
    arrivals: tuple[Arrival, ...]  # including those of the warm-up
    reports: tuple[CollectorReport, ...]  # of the collectors, at the end
    update_seconds: float  # mean real seconds of a learner's step


class RealRun:
    """One planned system, run for real."""

    def __init__(self, settings: PlanSettings, speed: float, seed: int = 0) -> None:
        self.settings = settings
        self._clock = ScaledClock(speed)
        self._seed = seed
        self._arrivals = Arrivals(self._clock, settings.learner.max_waiting)
        self._weights = Newest()
        self._step = GradientStep(
            new_table(), StepSettings(learning_rate=1e-9, critic_learning_rate=1e-9)
        )
        self._algorithm = TimedAlgorithm(FilteredBc(self._step), settings, self._clock)
        self._learner = self._new_learner() if settings.learner.gpus else None
        self._in_flight = [0] * settings.collectors.count
        self._collectors = [self._new_collector(n) for n in range(settings.collectors.count)]
        self._updates: list[tuple[float, float]] = []  # end and duration of each update

    def measure(self, seconds: float) -> Measured:
        """Run for `seconds` of real time."""
        working = [_thread(each.name, each.run) for each in self._collectors]
        if self._learner is not None:
            working.append(_thread("learner", partial(self._learn, self._learner)))
        begun = self._clock.now
        for thread in working:
            thread.start()
        time.sleep(WARM_UP * seconds)
        middle, early = self._clock.now, self._reports()
        time.sleep((1 - WARM_UP) * seconds)
        end, late = self._clock.now, self._reports()
        self._end(working)
        counted = [each for each in self._arrivals.trajectories if middle <= each.at < end]
        passed = end - middle
        trained = sum(max(0.0, min(end, at) - max(middle, at - took)) for at, took in self._updates)
        return Measured(
            speed=self._clock.speed,
            seconds=passed / self._clock.speed,
            trajectories_per_minute=60.0 * len(counted) / passed,
            device_busy=_busy(late, early) / (passed / self._clock.speed),
            learner_idle=1.0 - trained / passed if self._learner is not None else 0.0,
            staleness_mean=sum(each.staleness for each in counted) / max(1, len(counted)),
            arrivals=tuple(each for each in self._arrivals.trajectories if begun <= each.at < end),
            reports=tuple(late),
            update_seconds=sum(took for _, took in self._updates)
            / max(1, len(self._updates))
            / self._clock.speed,
        )

    def _end(self, working: Sequence[WatchedThreads]) -> None:
        for collector in self._collectors:
            collector.stop()
        self._arrivals.end()
        for thread in working:
            thread.join(PATIENCE_SECONDS)
            thread.raise_failure()

    def _reports(self) -> list[CollectorReport]:
        return [collector.report() for collector in self._collectors]

    def _learn(self, learner: Learner) -> None:
        while not self._arrivals.over:
            self._algorithm.begin_step()
            report = learner.step()
            if isinstance(report, Waiting):
                self._arrivals.wait(0.1)
                continue
            self._arrivals.version = learner.version
            took = sum(report.seconds.values()) * self._clock.speed
            self._updates.append((self._clock.now, took))

    # Its parts ----------------------------------------------------------------------------------

    def _new_learner(self) -> Learner:
        plan, policy = self.settings.learner, self._step.policy
        return Learner(
            policy,
            self._algorithm,
            self._step,
            ReplayBuffer(ReplaySettings(capacity=plan.capacity)),
            self.settings.pacing.new(plan.batch_trajectories),
            self._arrivals,
            self._weights,
            LearnerSettings(
                batch_trajectories=plan.batch_trajectories,
                updates_per_publish=plan.updates_per_publish,
                warm_up_updates=plan.warm_up_updates,
                refresh_trajectories=0,
                staleness=plan.staleness,
            ),
        )

    def _new_collector(self, number: int) -> Collector[SimulatedDevice]:
        plan, count = self.settings.policy, self.settings.collectors.count
        policy = TimedPolicy(self.settings, self._clock.speed)
        max_wait = plan.max_wait_seconds / self._clock.speed
        batcher = PolicyBatcher(
            policy, PolicyBatcherSettings(plan.most, max_wait), WeightUpdater(policy, self._weights)
        )
        mine = range(number, self.settings.phones.count, count)
        pool = SimulatedTasks(
            tuple(template_names("train", "general")), seed=self._seed, share=number, shares=count
        )
        return Collector(
            f"plan-{number}",
            batcher,
            DevicePool([self._new_phone(n) for n in mine]),
            UniformTasks(pool),
            self._arrivals,
            FactJudge,
            SharedAdmission(number, self._learner, self._arrivals, self._in_flight),
        )

    def _new_phone(self, number: int) -> SimulatedDevice:
        plan = self.settings.phones
        slowdown = plan.slowdowns[number % len(plan.slowdowns)]
        latency = replace(
            KINDS[plan.kind], slowdowns=(slowdown,), episode_log_sd=plan.episode_log_sd
        )
        return SimulatedDevice(
            f"phone-{number}", latency=latency, clock=ScaledClock(self._clock.speed)
        )


def _thread(name: str, work: Callable[[], None]) -> WatchedThreads:
    """Return a thread that re-raises its errors when it is joined."""
    return WatchedThreads(name, work, on_end=lambda: None)


def _busy(late: Sequence[CollectorReport], early: Sequence[CollectorReport]) -> float:
    """Return the seconds at work per device, over all devices."""
    gained = sum(
        sum(after.busy.values()) - sum(before.busy.values())
        for after, before in zip(late, early, strict=True)
    )
    return gained / sum(report.slots for report in late)


def spoken_share(arrivals: Sequence[Arrival]) -> float:
    """Return the share of episodes that the policy ended with "done"."""
    cut = sum(each.trajectory.ending is Ending.STEP_LIMIT for each in arrivals)
    return 1.0 - cut / max(1, len(arrivals))
