"""The paper's table, on the simulated phone: `make bench-paper` (a GPU machine; see `--arms`).

Every arm is a real `distrl train` of the starter, in settings alone (`ARMS`): 32 phones (8 in one
arm) as slow as the paper's emulators, on a clock that runs `--speed` times as fast, for `--seconds`
of theirs. Families apart. Success is that of 400 test tasks, the same for every run, after training
and, of fewer, on the way.

    start                 the starter, before anything
    filtered_bc           imitation of successes, asynchronous
    digirl_8_rounds       DigiRL as published: all phones play, then the learner trains
    digirl_32_rounds      the same on 32 phones
    digirl_async          DigiRL in our arrangement
    distrl                A-RIDE in our arrangement
    without_dper          drawn uniformly
    without_retrace       one step ahead, no ratios
    as_printed            the paper's equations without our two repairs

The learner's step takes what it takes on this machine, the same for all arms (batches have the same
size); `ARM_step_seconds` says how long that is on the phones' clock, where the paper has 120 s for
20 steps. Several runs at once share the GPU and make steps longer: compare arms of one `--at-once`.

Each run has a folder in `--keep`, by family, arm and seed; one that has its result is not run
again, and one that was cut short is begun anew. `--report` only reads what is there. Figures:

    collection_ratio            trajectories a minute, distrl over digirl_32_rounds
    relative_gain_FAMILY        success at the end, distrl over digirl_32_rounds, less 1
    time_ratio_FAMILY           time to where digirl_32_rounds ends, over distrl's to the same
    FAMILY_ARM_…                success, time to levels, staleness, effective samples

with `_low` and `_high` (95 %, Student's t over seeds, ratios on logarithms) where there are seeds.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results_file import write_results
from benchmarks.time_to_success import STUDENT, ratio
from benchmarks.train_runs import set_words, start_run
from distrl.json_lines import read_lines
from distrl.records import CORE_FAMILIES, FAMILIES
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EvaluationLine

SECONDS = 6_000.0  # of the phones' clock
SPEED = 20.0
LOOKS = 20  # evaluations on the way
TEST_TASKS, TASKS_ON_THE_WAY = 400, 100
SETTINGS: dict[str, object] = {
    "devices.count": 32,
    "devices.latency": "paper_emulator",
    "devices.clock": "scaled",
    "replay.capacity": 2_000,
    "pacing.minimum_fill": 32,
    "pacing.samples_per_insert": 10,
    "learning.learner.batch_trajectories": 16,
    "learning.learner.updates_per_publish": 4,
    "learning.learner.staleness.at_start": 64,
    "learning.learner.staleness.at_arrival": 256,
    "evaluation.before": TEST_TASKS,
    "evaluation.after": TEST_TASKS,
    "evaluation.every_episodes": TASKS_ON_THE_WAY,
    "agent.policy.sampling.max_new_tokens": 32,
}
ROUNDS = {"collection.mode": "synchronous", "learning.algorithm": "digirl"}
ARMS: dict[str, dict[str, object]] = {
    "filtered_bc": {"learning.algorithm": "filtered_bc"},
    "digirl_8_rounds": {**ROUNDS, "devices.count": 8},
    "digirl_32_rounds": dict(ROUNDS),
    "digirl_async": {"learning.algorithm": "digirl"},
    "distrl": {"learning.algorithm": "a_ride"},
    "without_dper": {"learning.algorithm": "a_ride", "learning.learner.draws": "uniform"},
    "without_retrace": {
        "learning.algorithm": "a_ride",
        "learning.a_ride.retrace_lambda": 0.0,
        "learning.a_ride.ratio_level": "none",
    },
    "as_printed": {"learning.algorithm": "a_ride", "learning.a_ride.as_printed": "true"},
}
OURS, THEIRS = "distrl", "digirl_32_rounds"


@dataclass(frozen=True, slots=True)
class Job:
    """One run."""

    family: str
    arm: str
    seed: int

    def folder(self, keep: Path) -> Path:
        return keep / f"{self.family}-{self.arm}-{self.seed}"


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a run, on the phones' clock."""

    before: float
    after: float
    curve: tuple[tuple[float, float], ...]  # seconds and success, on the way and at the end
    per_minute: float  # trajectories
    step_seconds: float
    staleness: float
    effective_sample_share: float

    def seconds_to(self, level: float) -> float | None:
        """The first look that reaches a level; None: none did."""
        return next((seconds for seconds, success in self.curve if success >= level), None)


def settings_of(job: Job, folder: Path, given: argparse.Namespace) -> dict[str, object]:
    minutes = given.seconds / given.speed / 60.0
    return {
        **SETTINGS,
        **ARMS[job.arm],
        "run.name": "paper",
        "run.directory": folder,
        "run.seed": job.seed,
        "run.minutes": minutes,
        "tasks.families": f'["{job.family}"]',
        "devices.clock_speed": given.speed,
        "agent.policy.device": given.device,
        "collection.collectors": given.collectors,
        "evaluation.every_minutes": max(0.1, minutes / LOOKS),
        **dict(word.split("=", 1) for word in given.set),
    }


def play(job: Job, given: argparse.Namespace) -> None:
    """Run it to its end, unless it was before."""
    folder = job.folder(given.keep)
    if result_of(folder) is not None:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = settings_of(job, folder, given)
    (folder / "command").write_text(" ".join(set_words(settings)) + "\n")
    code = start_run(settings, folder / "log").wait()
    print(
        f"{folder.name}: {'done' if code == 0 else f'ended with {code}, see its log'}", flush=True
    )


def result_of(folder: Path) -> Path | None:
    """The directory of its run, if that has a result."""
    return next((found.parent for found in folder.glob("*/result.json")), None)


def played(folder: Path, speed: float) -> Played | None:
    run = result_of(folder)
    if run is None:
        return None
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    seconds = speed * result["training_s"]
    after = result["success_after"]["rate"]
    lines = read_lines(RunDirectory(run).evaluations, EvaluationLine)
    looks = [(speed * each.seconds, each.rate.rate) for each in lines if each.stage == "during"]
    learning = {s: share for s, share in result["learner_time"].items() if s != "wait"}
    return Played(
        before=result["success_before"]["rate"],
        after=after,
        curve=(*looks, (seconds, after)),
        per_minute=60.0 * result["trajectories"] / seconds,
        step_seconds=seconds * sum(learning.values()) / max(1, result["updates"]),
        staleness=result["staleness_mean"],
        effective_sample_share=result["effective_sample_share"],
    )


# What it comes to --------------------------------------------------------------------------------


def spread(name: str, numbers: Sequence[float]) -> dict[str, float]:
    """A mean, and its interval where there are several."""
    found = {name: statistics.fmean(numbers)}
    if len(numbers) > 1:
        wide = statistics.stdev(numbers) / math.sqrt(len(numbers)) * STUDENT[len(numbers) - 1]
        found |= {f"{name}_low": found[name] - wide, f"{name}_high": found[name] + wide}
    return found


def ratios(name: str, ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float]:
    """How many times as much as theirs ours is, seed by seed."""
    if len(ours) < 2 or min(*ours, *theirs) <= 0.0:
        return {name: statistics.fmean(ours) / max(1e-9, statistics.fmean(theirs))}
    return dict(zip((name, f"{name}_low", f"{name}_high"), ratio(ours, theirs), strict=True))


def figures_of(runs: Mapping[Job, Played]) -> dict[str, float]:
    figures: dict[str, float] = {}
    pairs: list[tuple[Played, Played]] = []
    for family in sorted({job.family for job in runs}):
        for arm in ARMS:
            own = [each for job, each in runs.items() if (job.family, job.arm) == (family, arm)]
            if own:
                figures |= _arm(f"{family}_{arm}", own)
        both = _paired(runs, family)
        if both:
            pairs += both
            figures |= _compared(family, both)
    if pairs:
        ours, theirs = zip(*pairs, strict=True)
        figures |= ratios(
            "collection_ratio", [o.per_minute for o in ours], [t.per_minute for t in theirs]
        )
    return figures


def _arm(name: str, own: Sequence[Played]) -> dict[str, float]:
    return {
        f"{name}_seeds": float(len(own)),
        **spread(f"{name}_success", [each.after for each in own]),
        **spread(f"{name}_gain", [each.after - each.before for each in own]),
        **spread(f"{name}_per_minute", [each.per_minute for each in own]),
        f"{name}_step_seconds": statistics.fmean(each.step_seconds for each in own),
        f"{name}_staleness": statistics.fmean(each.staleness for each in own),
        f"{name}_effective_sample_share": statistics.fmean(
            each.effective_sample_share for each in own
        ),
    }


def _paired(runs: Mapping[Job, Played], family: str) -> list[tuple[Played, Played]]:
    """Ours and theirs of the same seeds."""
    ours = {job.seed: e for job, e in runs.items() if (job.family, job.arm) == (family, OURS)}
    theirs = {job.seed: e for job, e in runs.items() if (job.family, job.arm) == (family, THEIRS)}
    return [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]


def _compared(family: str, both: Sequence[tuple[Played, Played]]) -> dict[str, float]:
    """At equal time, and to equal success; a level not reached counts as the whole time."""
    gain = ratios(f"relative_gain_{family}", [o.after for o, _ in both], [t.after for _, t in both])
    figures = {name: value - 1.0 for name, value in gain.items()}
    level = statistics.fmean(theirs.after for _, theirs in both)
    times = [(o.seconds_to(level), t.seconds_to(level), t.curve[-1][0]) for o, t in both]
    figures |= ratios(
        f"time_ratio_{family}",
        [theirs or whole for _, theirs, whole in times],
        [ours or whole for ours, _, whole in times],
    )
    figures[f"level_{family}"] = level
    figures[f"not_reached_{family}"] = float(sum(ours is None for ours, _, _ in times))
    return figures


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--arms", nargs="+", choices=[*ARMS], default=[*ARMS])
    words.add_argument("--families", nargs="+", choices=FAMILIES, default=[*CORE_FAMILIES])
    words.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    words.add_argument("--seconds", type=float, default=SECONDS, help="of the phones' clock")
    words.add_argument("--speed", type=float, default=SPEED, help="their seconds in one of ours")
    words.add_argument("--at-once", type=int, default=1, help="runs side by side")
    words.add_argument("--device", default="cuda")
    words.add_argument("--collectors", type=int, default=4)
    words.add_argument("--keep", type=Path, default=Path("runs/paper"))
    words.add_argument("--set", action="append", default=[], help="a setting of all runs, a.b=c")
    words.add_argument("--report", action="store_true", help="run nothing")
    given = words.parse_args()
    jobs = [Job(f, arm, seed) for seed in given.seeds for f in given.families for arm in given.arms]
    if not given.report:
        with ThreadPoolExecutor(given.at_once) as side_by_side:
            list(side_by_side.map(lambda job: play(job, given), jobs))
    found = {job: played(job.folder(given.keep), given.speed) for job in jobs}
    runs = {job: each for job, each in found.items() if each is not None}
    figures = {
        "runs": float(len(runs)),
        "missing": float(len(jobs) - len(runs)),
        **figures_of(runs),
    }
    rounded = {name: round(value, 4) for name, value in figures.items()}
    print(json.dumps(rounded, indent=2))
    if given.device != "cpu" and runs:  # a trial on a CPU is no result
        write_results("paper", rounded)


if __name__ == "__main__":
    main()
