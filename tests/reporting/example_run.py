"""A run directory as a training run would leave it, from episodes that were really played.

The agent knows the way and loses it now and then, less and less often as the run goes on, so that
it gets better on real tasks with real endings; the learner's figures are those of a real learner in
the small world. Devices take their time by the latency model of an emulator.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle, islice
from pathlib import Path

from tests.learning.small_circle import SmallCircle

from distrl.agent.simple_policies import MonkeyPolicy
from distrl.episodes.demonstrations import ScriptedPolicy
from distrl.episodes.episode import run_episode
from distrl.episodes.outcome import PairedGain
from distrl.errors import DeviceError
from distrl.json_lines import LineLog
from distrl.learning.learner_report import LearnerReport
from distrl.records import Decision, Done, Observation, Split, Task, Trajectory
from distrl.reporting.recording_archive import Opinions, RecordingArchive
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import (
    EpisodeLine,
    EvaluationLine,
    Point,
    RunResult,
    Stage,
    TemplateCount,
)
from phonesim.faults import Faults
from phonesim.latency import EVENT_DRIVEN
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.solver import ScriptLost
from phonesim.tasks.task_sets import load_task

TEMPLATES = (
    "notes.create",
    "notes.pin",
    "settings.brightness",
    "clock.add_alarm",
    "messages.send",
    "contacts.call",
    "calendar.create",
    "todo.add",
    "shopping.search",
    "store.install",
)
SPEED = 10.0  # device seconds in a second of the run


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    episodes: int = 40
    evaluation: int = 10
    devices: int = 3
    updates: int = 12
    recordings: int = 2


class WaveringPolicy:
    """The scripted solution, but for random moves with some chance."""

    def __init__(self, task: Task, device: SimulatedDevice, judge: FactJudge, lost: float) -> None:
        self._script = ScriptedPolicy(device, judge)
        self._monkey = MonkeyPolicy(task.seed)
        self._rng = random.Random(f"wavering/{task.id}/{lost:.4f}")
        self._lost = lost

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        if self._rng.random() < self._lost:
            return self._monkey.decide(observations)
        try:
            return self._script.decide(observations)
        except ScriptLost:
            return [Decision(Done())]


def names() -> tuple[str, ...]:
    from phonesim.tasks.task_sets import template_names, templates

    known = [name for name in TEMPLATES if name in templates()]
    return tuple(dict.fromkeys([*known, *template_names("test", "general")]))[: len(TEMPLATES)]


def play(task: Task, device: SimulatedDevice, lost: float) -> Trajectory:
    judge = FactJudge(device)
    return run_episode(task, device, WaveringPolicy(task, device, judge, lost), judge)


def tasks(split: Split) -> Iterator[Task]:
    for number, name in enumerate(cycle(names())):
        yield load_task(f"{name}/{split}/{number}")[0]


def write_example_run(parent: Path, size: Size = Size()) -> RunDirectory:  # noqa: B008
    from distrl.config.training_config import load_config

    run = RunDirectory.new(parent, "example", datetime(2026, 7, 31, 14, 15, 3))
    run.write_config(load_config(None, [f"devices.count={size.devices}"]))
    learner = _learner_points(run, size)
    before = _evaluate(run, "before", 0.55, size, 0, 0.0)
    total = _episodes(run, size)
    middle = size.updates // 2
    _evaluate(run, "during", 0.38, size, middle, total / 2)
    after = _evaluate(run, "after", 0.15, size, size.updates, total)
    _points(run, learner, total)
    run.write_result(
        RunResult(
            success_before=before.rate,
            success_after=after.rate,
            trajectories=size.episodes,
            updates=size.updates,
            wall_s=total,
            training_s=total,
            weights_moved=True,
            gain=PairedGain(size.evaluation, size.evaluation // 2, 0),
            phone_time={"playing": 0.978, "deciding": 0.022},
            learner_time={"updating": 1.0},
            phones_waiting_share=0.0,
            staleness_mean=2.4,
            effective_sample_share=0.9,
            samples_per_insert=4.0,
            seed=0,
        )
    )
    return run


def _learner_points(run: RunDirectory, size: Size) -> list[dict[str, float]]:
    circle = SmallCircle()
    reports: list[LearnerReport] = []
    number = 0
    while len(reports) < size.updates:
        circle.collect(number)
        report = circle.learner.step()
        number += 1
        if isinstance(report, LearnerReport):
            reports.append(report)
    return [report.gauges() for report in reports]


def _evaluate(
    run: RunDirectory, stage: Stage, lost: float, size: Size, updates: int, seconds: float
) -> EvaluationLine:
    device = SimulatedDevice("evaluation")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    successes: dict[str, bool] = {}
    with RecordingArchive.open(run) as recordings:
        for number, task in enumerate(islice(tasks("test"), size.evaluation)):
            trajectory = play(task, device, lost)
            counts[task.template]["episodes"] += trajectory.ending.judged
            counts[task.template]["successes"] += trajectory.success
            if trajectory.ending.judged:
                successes[task.id] = trajectory.success
            if number < size.recordings and stage != "during":
                recordings.add(trajectory, stage, updates=updates, opinions=_opinions(trajectory))
    line = EvaluationLine(
        stage,
        "test",
        updates,
        updates // 4,
        seconds,
        tuple(
            TemplateCount(name, count["successes"], count["episodes"])
            for name, count in counts.items()
        ),
        successes,
    )
    with LineLog.open(run.evaluations) as log:
        log.append(line)
    return line


def _opinions(trajectory: Trajectory) -> Opinions:
    """What a critic that is neither blind nor all-knowing might have thought."""
    rng = random.Random(trajectory.id)
    length = len(trajectory.decisions)
    drift = 0.6 if trajectory.success else -0.25
    values = [
        min(0.99, max(0.01, 0.3 + drift * step / max(1, length) + rng.gauss(0, 0.05)))
        for step in range(length)
    ]
    following = [*values[1:], float(trajectory.success)]
    advantages = [later - now for now, later in zip(values, following, strict=True)]
    ratios = [rng.lognormvariate(0.0, 0.4) for _ in values]
    return Opinions(values, ratios, advantages)


def _episodes(run: RunDirectory, size: Size) -> float:
    """Every device plays whenever it is free; its emulator's seconds pass ten times as fast."""
    faults = Faults(disconnect=0.002, app_crash=0.002)
    devices = [
        SimulatedDevice(f"phone-{number}", latency=EVENT_DRIVEN, faults=faults)
        for number in range(size.devices)
    ]
    free = [(0.0, number) for number in range(size.devices)]
    source, rng, lines = tasks("train"), random.Random("example"), []
    for count in range(size.episodes):
        now, number = heapq.heappop(free)
        progress = count / size.episodes
        try:
            trajectory = play(next(source), devices[number], 0.55 - 0.40 * progress**0.7)
        except DeviceError:
            continue
        ended = now + trajectory.device_seconds / SPEED
        staleness = min(9, int(rng.expovariate(0.4)))
        version = round(progress * size.updates / 4)
        lines.append(_line(trajectory, f"phone-{number}", now, ended, version, staleness, count))
        heapq.heappush(free, (ended + rng.expovariate(20.0), number))
    with LineLog.open(run.episodes) as log:
        for line in sorted(lines, key=lambda line: line.ended):
            log.append(line)
    return max(line.ended for line in lines)


def _line(
    trajectory: Trajectory,
    device: str,
    began: float,
    ended: float,
    version: int,
    staleness: int,
    number: int,
) -> EpisodeLine:
    return EpisodeLine(
        id=f"{trajectory.id}#{number}",
        task=trajectory.task.id,
        template=trajectory.task.template,
        ending=trajectory.ending,
        steps=len(trajectory.decisions),
        weight_version=max(0, version - staleness),
        staleness=staleness,
        device=device,
        began=round(began, 3),
        ended=round(ended, 3),
    )


def _points(run: RunDirectory, learner: list[dict[str, float]], total: float) -> None:
    rng = random.Random("points")
    with LineLog.open(run.metrics) as log:
        for number, figures in enumerate(learner, start=1):
            seconds = total * number / len(learner)
            log.append(Point("learner", number, seconds, figures))
            collection = {
                "seconds/act": 0.9 * seconds,
                "seconds/decide": 0.1 * seconds,
                "learner_seconds/update": seconds,
                "training_seconds": seconds,
                "queue": float(rng.randrange(6)),
                "trajectories_per_minute": rng.gauss(120, 8),
                "faults": float(number // 10),
            }
            log.append(Point("collection", number, seconds, collection))
