"""A plan from what a run has measured: ten minutes of `distrl train` or `distrl collect`.

It is read from the run directory: the settings, `episodes.jsonl` (lengths, durations, endings) and
`metrics.jsonl` (where the collectors' time went, what updates took). Seconds are of real time. What
such a run cannot measure is listed in `notes`, with what was assumed instead.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from distrl.config.training_config import TrainingConfig, load_run_config
from distrl.errors import UsageError
from distrl.json_lines import read_lines
from distrl.planning import plan_settings as plan
from distrl.planning.draw_pool import of_episodes
from distrl.reporting.memory_estimate import DEVICE_BYTES
from distrl.reporting.model_size import model_bytes
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point
from phonesim.latency import LogNormal

LEAST_EPISODES = 20
LEAST_SPREAD = 1.2  # of batch sizes, largest over smallest, needed to fit time over size
Figures = dict[str, float]
COLLECTOR_STAGES = ("deliver", "judge", "begin", "pack", "queue", "own")
SHARED = "phones, policy and learner shared machines; on machines of their own they are faster"


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The plan measured from a run, and the run's own rate."""

    settings: plan.PlanSettings
    trajectories_per_minute: float
    notes: tuple[str, ...]


def measured_run(path: Path) -> MeasuredRun:
    """Read a run directory; raise `UsageError` if too little was measured."""
    run = RunDirectory.existing(path)
    config = load_run_config(run.config)
    if config.environments:
        raise UsageError(
            f"{path} has the environments {', '.join(config.environments)}, and a plan is of one "
            "kind of phone: run one of them alone for ten minutes, or state latencies in a file"
        )
    episodes = read_lines(run.episodes, EpisodeLine)
    points = read_points(run.metrics)
    grown = _differences(points, "collection")
    names = {name for each in grown for name in each}
    spent = {name: sum(each.get(name, 0.0) for each in grown) for name in names}
    if len(episodes) < LEAST_EPISODES or not spent.get("seconds/act") or not spent.get("batches"):
        raise UsageError(
            f"{path} has {len(episodes)} finished episodes and "
            f"{spent.get('batches', 0.0):.0f} measured batches of decisions; a plan needs "
            f"{LEAST_EPISODES} and some: let it run for ten minutes, or state latencies in a file"
        )
    policy, note = _policy(config, grown, spent)
    notes = [each for each in (note, SHARED) if each]
    settings = plan.PlanSettings(
        phones=_phones(config, episodes, spent),
        episodes=_episodes(episodes),
        collectors=plan.CollectorPlan(
            count=config.collection.collectors,
            nodes=1,
            acknowledge=_per_episode(spent, *COLLECTOR_STAGES),
        ),
        policy=policy,
        learner=_learner(config, points),
        pacing=config.pacing,
        network=_network(run, episodes),
    )
    seconds = max(e.ended for e in episodes) - min(e.began for e in episodes)
    return MeasuredRun(settings, 60.0 * len(episodes) / max(1.0, seconds), tuple(notes))


def _differences(points: Sequence[Point], series: str) -> list[Figures]:
    """Return the growth between records, without those where a restart reset the counts."""
    looks = [point.figures for point in points if point.series == series]
    found = []
    for before, after in pairwise(looks):
        step = {name: (after[name] or 0.0) - (before.get(name) or 0.0) for name in after}
        if step.get("decisions", 0.0) > 0.0 and step.get("deciding_seconds", 0.0) >= 0.0:
            found.append(step)
    return found


def _per_episode(spent: Figures, *stages: str) -> LogNormal:
    seconds = sum(spent.get(f"seconds/{stage}", 0.0) for stage in stages)
    return LogNormal(max(0.0, seconds / max(1.0, spent["trajectories"])))


def _phones(
    config: TrainingConfig, episodes: Sequence[EpisodeLine], spent: Figures
) -> plan.PhonePlan:
    """Model steps of equal length times a factor per episode: the data identify no more."""
    logs = [
        math.log((line.ended - line.began) / line.steps)
        for line in episodes
        if line.steps and line.ended > line.began
    ]
    spread = min(1.0, statistics.stdev(logs)) if len(logs) > 1 else 0.0
    phones = plan.PhonePlan(
        count=config.devices.count,
        kind="stated",
        reset=_per_episode(spent, "reset"),
        step=LogNormal(max(1e-6, spent["seconds/act"] / spent["decisions"])),
        episode_log_sd=spread,
        gigabytes=DEVICE_BYTES / 1e9 if config.devices.kind == "simulated" else 4.5,
    )
    mean = of_episodes(phones, 0).mean
    return replace(phones, step=LogNormal(phones.step.median / mean))


def _episodes(episodes: Sequence[EpisodeLine]) -> plan.EpisodePlan:
    broken = sum(not line.judged for line in episodes) / len(episodes)
    steps = tuple(line.steps for line in episodes if line.steps)
    return plan.EpisodePlan(measured_steps=steps, spoken_ends=0.0, broken=broken)


def _policy(
    config: TrainingConfig, grown: Sequence[Figures], spent: Figures
) -> tuple[plan.PolicyPlan, str]:
    """Fit batch seconds over batch size by a line; if sizes are alike, note what is assumed."""
    looks = [
        (each["decisions"] / each["batches"], each["deciding_seconds"] / each["batches"])
        for each in grown
        if each.get("batches", 0.0) > 0.0
    ]
    sizes = [size for size, _ in looks]
    size = spent["decisions"] / spent["batches"]
    seconds = spent["deciding_seconds"] / spent["batches"]
    if len(looks) > 2 and max(sizes) >= LEAST_SPREAD * min(sizes):
        slope, _ = statistics.linear_regression(sizes, [took for _, took in looks])
        slope, note = min(max(0.0, slope), seconds / size), ""
    elif config.agent.policy.device == "cpu":
        slope = seconds / size
        note = f"batches were all of about {size:.1f}: taken to need time by their size (a CPU)"
    else:
        slope = 0.0
        note = f"batches were all of about {size:.1f}: taken to need the same time at any size"
    most, first = 64, seconds - slope * (size - 1)
    weights = model_bytes(config.agent.model) or 11e6  # bytes of the starter model
    return plan.PolicyPlan(
        copies=config.collection.collectors,
        batch_sizes=(1, most),
        batch_seconds=(max(0.0, first), max(0.0, first + slope * (most - 1))),
        most=most,
        gigabytes=weights / 1e9,
    ), note


def _learner(config: TrainingConfig, points: Sequence[Point]) -> plan.LearnerPlan:
    """Measure the seconds of updates; without any update the plan has no learner."""
    settings = config.learning.learner
    took: list[float] = []
    drained = stored = 0.0
    for point in points:
        if point.series != "learner":
            continue
        seconds = {n: v or 0.0 for n, v in point.figures.items() if n.startswith("seconds/")}
        drained += seconds.get("seconds/drain", 0.0)
        took.append(sum(seconds.values()) - seconds.get("seconds/drain", 0.0))
        stored = point.figures.get("arrivals/stored") or stored
    update = LogNormal(410.0)
    if took and min(took) > 0.0:
        spread = statistics.stdev([math.log(each) for each in took]) if len(took) > 1 else 0.0
        update = LogNormal(statistics.fmean(took) / math.exp(spread**2 / 2), spread)
    return plan.LearnerPlan(
        gpus=1 if took else 0,
        update=update,
        insert_seconds=drained / max(1.0, stored),
        batch_trajectories=settings.batch_trajectories,
        updates_per_publish=settings.updates_per_publish,
        warm_up_updates=settings.warm_up_updates,
        capacity=config.replay.capacity,
        staleness=settings.staleness,
    )


def _network(run: RunDirectory, episodes: Sequence[EpisodeLine]) -> plan.NetworkPlan:
    screens = sum(line.steps + 1 for line in episodes)
    stored = sum(file.stat().st_size for file in run.trajectories.rglob("*") if file.is_file())
    versions = [file.stat().st_size for file in run.weights.rglob("*.safetensors")]
    return plan.NetworkPlan(
        weight_megabytes=max(versions, default=0) / 1e6, screen_kilobytes=stored / screens / 1e3
    )
