"""Run directories for the tests of the page: episodes that were really played, and a great many."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np

from distrl.episodes.demonstrations import ScriptedPolicy
from distrl.episodes.episode import run_episode
from distrl.json_lines import LineLog
from distrl.learning.learner_report import Drawn
from distrl.records import Decision, Ending, Screen, Tap, Trajectory, Unreadable, Verdict
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.draw_log import DrawLog
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, EvaluationLine, Point, TemplateCount
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"\'&\u202e'
TASKS = ("notes.create/train/0", "clock.set_alarm/train/1", "shopping.search/train/2")


def played(task_id: str, number: int) -> Trajectory:
    """A scripted episode, with tokens as a policy would have drawn them."""
    task = load_task(task_id)[0]
    device = SimulatedDevice("phone-0")
    judge = FactJudge(device)
    episode = run_episode(task, device, ScriptedPolicy(device, judge), judge)
    decisions = tuple(
        dataclasses.replace(
            each, text="tap it", token_ids=(5, 6), log_probs=(math.log(0.5), 0.0), weight_version=3
        )
        for each in episode.decisions
    )
    return dataclasses.replace(episode, id=f"collector-0.1/{number}/{task.id}", decisions=decisions)


def hostile() -> Trajectory:
    """An episode whose every text tries to be markup."""
    task = dataclasses.replace(load_task(TASKS[0])[0], instruction=HOSTILE)
    screens = tuple(Screen(np.full((72, 36, 3), shade, np.uint8)) for shade in (40, 80, 160))
    return Trajectory(
        id="collector-0.1/99/notes.create/train/7",
        task=task,
        decisions=(
            Decision(Unreadable(HOSTILE, HOSTILE), HOSTILE, (7,), (-1.0,), 1),
            Decision(Tap(0.5, 0.25), HOSTILE, (7,), (-0.1,), 1),
        ),
        screens=screens,
        ending=Ending.FAILURE,
        verdict=Verdict(False, HOSTILE, HOSTILE),
        device_seconds=1.0,
        notes=(HOSTILE,),
    )


def line_of(trajectory: Trajectory, number: int) -> EpisodeLine:
    return EpisodeLine(
        trajectory.id, trajectory.task.id, trajectory.task.template, trajectory.ending,
        len(trajectory.decisions), trajectory.weight_version, number % 5, f"phone-{number % 4}",
        float(number), number + 1.0,
    )  # fmt: skip


def write_run(parent: Path, name: str = "small", seed: int = 0) -> RunDirectory:
    """Three scripted episodes, a hostile one, a draw of the first, and a few metrics."""
    from distrl.config.training_config import load_config

    run = RunDirectory(parent / name)
    run.path.mkdir(parents=True)
    run.write_config(load_config(None, [f"run.seed={seed}"]))
    episodes = [*(played(task, number) for number, task in enumerate(TASKS)), hostile()]
    with TrajectoryStore(run.trajectories) as store, LineLog.open(run.episodes) as lines:
        store.append_all(episodes)
        for number, each in enumerate(episodes):
            lines.append(line_of(each, number))
    first = episodes[0]
    thoughts = tuple(0.25 for _ in first.decisions)
    with DrawLog.open(run.draws) as draws:
        draws.add(9, [Drawn(first.id, 1.5, 4, thoughts, thoughts, thoughts)])
    with LineLog.open(run.metrics) as metrics:
        for at in range(1, 6):
            seconds = {"seconds/act": 1.0 * at, "seconds/decide": 3.0 * at}
            metrics.append(Point("collection", at, 5.0 * at, {**seconds, "queue": 0.0}))
            metrics.append(Point("learner", at, 5.0 * at, {"loss/policy": 1.0 / at}))
    with LineLog.open(run.evaluations) as evaluations:
        successes = {"notes.create/test/0": seed == 1, "notes.create/test/1": True}
        count = TemplateCount("notes.create", sum(successes.values()), 2)
        evaluations.append(EvaluationLine("after", "test", 5, 5, 25.0, (count,), successes))
    return run
