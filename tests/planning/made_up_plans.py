"""Systems with round numbers, whose throughput can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from distrl.planning.plan_settings import (
    CollectorPlan,
    EpisodePlan,
    LearnerPlan,
    NetworkPlan,
    PhonePlan,
    PlanSettings,
    PolicyPlan,
)
from distrl.replay.buffer.pacing import PacingSettings
from distrl.weights.staleness import StalenessLimit
from phonesim.latency import LogNormal

NOBODY = LearnerPlan(gpus=0)
FREE = StalenessLimit(None, None)


def round_plan(phones: int = 1, *, most: int = 64, learner: LearnerPlan = NOBODY) -> PlanSettings:
    """An episode: reset 10 s, look 2 s, four times (decide 1 s, act 5 s). That is 36 s."""
    return PlanSettings(
        phones=PhonePlan(
            phones, "stated", reset=LogNormal(10.0), look=LogNormal(2.0), step=LogNormal(5.0)
        ),
        episodes=EpisodePlan(measured_steps=(4,), spoken_ends=0.0),
        collectors=CollectorPlan(1, 1, acknowledge=LogNormal(0.0)),
        policy=PolicyPlan(1, (1,), (1.0,), most=most, max_wait_seconds=0.0, look_seconds=0.0),
        learner=learner,
        pacing=PacingSettings(samples_per_insert=1.0, minimum_fill=1),
        network=NetworkPlan(weight_megabytes=0.0),
    )


def rough_plan(phones: int, **learner: object) -> PlanSettings:
    """The same with chance in it, and a learner."""
    plan = round_plan(phones)
    return replace(
        plan,
        phones=replace(
            plan.phones,
            reset=LogNormal(10.0, 0.5),
            step=LogNormal(5.0, 0.8, cap=60.0),
            episode_log_sd=0.3,
        ),
        episodes=EpisodePlan(),
        learner=replace(
            LearnerPlan(1, LogNormal(8.0, 0.2), batch_trajectories=4),
            **learner,  # type: ignore[arg-type]
        ),
    )


def unpaced(plan: PlanSettings) -> PlanSettings:
    """The same, and neither side ever waits for the other's pace."""
    return replace(plan, pacing=replace(plan.pacing, tolerance=float("inf")))
