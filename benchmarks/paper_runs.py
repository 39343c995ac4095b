"""The runs of the paper's table: each is run once, then read from its directory.

All times are on one clock: seconds of training (without evaluations) on the phones' clock, which
runs `devices.clock_speed` times as fast as real time. `evaluations.jsonl` has the time of an
evaluation on the run's own clock, which also counts what comes before training; the points of
`metrics.jsonl` have both clocks and are used to translate.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.paper_arms import SMALL_CONFIG, Job, settings_of
from benchmarks.train_runs import set_words, start_run
from distrl.config.training_config import load_config
from distrl.json_lines import read_lines
from distrl.runs.metrics import read_points
from distrl.runs.run_account import LEARNER, LEARNER_STAGES
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, EvaluationLine, Point

PARTS = 12  # of the time; training episodes are counted in each


def play_all(jobs: Sequence[Job], folders: Sequence[Path], given: argparse.Namespace) -> None:
    """Run the jobs that have no result yet, `--at-once` in parallel."""
    with ThreadPoolExecutor(given.at_once) as side_by_side:
        list(side_by_side.map(lambda job, folder: play(job, folder, given), jobs, folders))


def play(job: Job, folder: Path, given: argparse.Namespace) -> None:
    """Run a job to its end, unless its folder has a result."""
    config = (SMALL_CONFIG,) if given.small else ()
    settings = settings_of(job, folder, given)
    if result_of(folder) is not None:
        check_same(folder, settings)
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "settings").write_text(written(settings))
    code = start_run(settings, folder / "log", *config).wait()
    print(
        f"{folder.name}: {'done' if code == 0 else f'ended with {code}, see its log'}", flush=True
    )


def written(settings: dict[str, object]) -> str:
    """Return a run's settings as lines, without its directory."""
    words = set_words({k: v for k, v in settings.items() if k != "run.directory"})
    return "\n".join(words[1::2]) + "\n"


def check_same(folder: Path, settings: dict[str, object]) -> None:
    """Exit if the folder's run was made with other settings."""
    before = (folder / "settings").read_text().splitlines()
    if different := set(before).symmetric_difference(written(settings).splitlines()):
        sys.exit(
            f"{folder} is a run with other settings ({', '.join(sorted(different))}); give another "
            "--keep, or remove it"
        )


# Results -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """The result of a run, on the phones' clock."""

    before: float
    after: float
    # Seconds and success before, during and after training, on tasks played in every evaluation.
    curve: tuple[tuple[float, float], ...]
    per_minute: float  # trajectories
    step_seconds: float
    staleness: float
    effective_sample_share: float
    done_before: Mapping[str, bool] = field(default_factory=dict)  # by task
    done_after: Mapping[str, bool] = field(default_factory=dict)
    training: tuple[tuple[float, float], ...] = ()  # seconds, success of training episodes

    @property
    def seconds(self) -> float:
        return self.curve[-1][0]

    def seconds_to(self, level: float) -> float | None:
        """Return the time of the first evaluation that reaches a level, or None."""
        return next((seconds for seconds, success in self.curve if success >= level), None)

    @property
    def success_over_time(self) -> float:
        """Return the mean success over the whole time: the area under the curve."""
        area = sum((end - begin) * (y + x) / 2.0 for (begin, x), (end, y) in pairwise(self.curve))
        return area / self.seconds


def result_of(folder: Path) -> Path | None:
    """Return the directory of the folder's run, if that has a result."""
    return next((found.parent for found in folder.glob("*/result.json")), None)


def played(folder: Path) -> Played | None:
    """Return the result of the run in a folder, or None if it has none."""
    run = result_of(folder)
    if run is None:
        return None
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    directory = RunDirectory(run)
    speed = load_config(directory.config).devices.clock_speed
    points = [each for each in read_points(directory.metrics) if each.series == "collection"]
    lines = read_lines(directory.evaluations, EvaluationLine)
    looks = [each for each in lines if each.stage == "during"]
    times = training_seconds(points, [each.seconds for each in looks])
    done_before = next((dict(e.successes) for e in lines if e.stage == "before"), {})
    done_after = next((dict(e.successes) for e in reversed(lines) if e.stage == "after"), {})
    done = [done_before, *(each.successes for each in looks), done_after]
    when = [0.0, *(speed * t for t in times), speed * result["training_s"]]
    return Played(
        before=result["success_before"]["rate"],
        after=result["success_after"]["rate"],
        curve=on_the_same_tasks(zip(when, done, strict=True)),
        per_minute=60.0 * result["trajectories"] / when[-1],
        step_seconds=speed * learning_seconds(points) / max(1, result["updates"]),
        staleness=result["staleness_mean"],
        effective_sample_share=result["effective_sample_share"],
        done_before=done_before,
        done_after=done_after,
        training=training_curve(directory, points, speed),
    )


def on_the_same_tasks(
    measured: Iterable[tuple[float, Mapping[str, bool]]],
) -> tuple[tuple[float, float], ...]:
    """Return seconds and success on the tasks that every non-empty evaluation played."""
    looks = [(seconds, done) for seconds, done in measured if done]
    tasks = set(looks[0][1]).intersection(*(done for _, done in looks))
    return tuple(
        (seconds, sum(done[task] for task in tasks) / len(tasks)) for seconds, done in looks
    )


def training_curve(
    directory: RunDirectory, points: Sequence[Point], speed: float
) -> tuple[tuple[float, float], ...]:
    """Return the success of training episodes by part of the time in which they ended.

    Each value stands at the middle of its part. All arms draw their tasks alike, so that this
    measures the same as the evaluations, with many more episodes and at no extra cost.
    """
    episodes = [each for each in read_lines(directory.episodes, EpisodeLine) if each.judged]
    times = [speed * t for t in training_seconds(points, [each.ended for each in episodes])]
    if not times:
        return ()
    wide = max(times) / PARTS
    parts: list[list[bool]] = [[] for _ in range(PARTS)]
    for time, episode in zip(times, episodes, strict=True):
        parts[min(PARTS - 1, int(time / wide))].append(episode.success)
    return tuple(
        ((number + 0.5) * wide, sum(part) / len(part)) for number, part in enumerate(parts) if part
    )


def training_seconds(points: Sequence[Point], seconds: Sequence[float]) -> list[float]:
    """Translate seconds of the run's own clock to seconds of training."""
    known = [(p.seconds, p.figures.get("training_seconds") or 0.0) for p in points]
    clock, trained = zip(*known, strict=True)
    return [float(each) for each in np.interp(seconds, clock, trained)]


def learning_seconds(points: Sequence[Point]) -> float:
    """Return the seconds of the learner's steps, without its waits."""
    spent = points[-1].figures if points else {}
    return sum(spent.get(LEARNER + stage) or 0.0 for stage in LEARNER_STAGES)
