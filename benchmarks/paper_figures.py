"""The figures of the paper's table from its runs: by arm, by pair of arms, and by seed.

Intervals are 95 %, Student's t over seeds (ratios: on logarithms), where there are several seeds.
Arms are compared on the seeds that both have. `…_tasks_low` and `…_tasks_high` are the interval of
the same difference over test tasks, each averaged over seeds: it shows the dependence on the choice
of tasks.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.monotone_curve import Points, time_ratio, times_by_seed
from benchmarks.paper_arms import ARMS, OURS, THEIRS, Job
from benchmarks.paper_runs import Played
from benchmarks.time_to_success import STUDENT, ratio
from distrl.episodes.outcome import NORMAL_95, SuccessRate

Runs = Mapping[Job, Played]
Figures = dict[str, float]
LEVELS = tuple(n / 10.0 for n in range(1, 10))  # of success; the time to each is a figure


def spread(name: str, numbers: Sequence[float]) -> Figures:
    """Return a mean, and its interval if there are several numbers."""
    found = {name: statistics.fmean(numbers)}
    if len(numbers) > 1:
        wide = statistics.stdev(numbers) / math.sqrt(len(numbers)) * STUDENT[len(numbers) - 1]
        found |= {f"{name}_low": found[name] - wide, f"{name}_high": found[name] + wide}
    return found


def ratios(name: str, ours: Sequence[float], theirs: Sequence[float]) -> Figures:
    """Return the ratio of ours to theirs, paired by seed, with its interval."""
    if len(ours) < 2 or min(*ours, *theirs) <= 0.0:
        return {name: statistics.fmean(ours) / max(1e-9, statistics.fmean(theirs))}
    return dict(zip((name, f"{name}_low", f"{name}_high"), ratio(ours, theirs), strict=True))


def of_arm(runs: Runs, family: str, arm: str) -> dict[int, Played]:
    """Return the runs of an arm, by seed."""
    found = {job.seed: each for job, each in runs.items() if (job.family, job.arm) == (family, arm)}
    return dict(sorted(found.items()))


def families_of(runs: Runs) -> list[str]:
    return sorted({job.family for job in runs})


def figures_of(runs: Runs) -> Figures:
    """Return all figures; those of the main pair come first."""
    collection: list[tuple[Played, Played]] = []
    compared: Figures = {}
    arms: Figures = {}
    for family in families_of(runs):
        own = {arm: by_seed for arm in ARMS if (by_seed := of_arm(runs, family, arm))}
        arms |= _start(family, [each for by_seed in own.values() for each in by_seed.values()])
        levels = _levels(own)
        for arm, by_seed in own.items():
            arms |= _arm(f"{family}_{arm}", list(by_seed.values()), levels)
            if arm != OURS:
                pairs = _paired(by_seed, own.get(OURS, {}))
                arms |= _difference(f"{family}_{arm}_against_{OURS}", pairs)
        if both := _paired(own.get(OURS, {}), own.get(THEIRS, {})):
            collection += both
            compared |= _compared(family, both)
    if collection:
        ours, theirs = zip(*collection, strict=True)
        rates = [each.per_minute for each in ours], [each.per_minute for each in theirs]
        compared |= ratios("collection_ratio", *rates)
    return {**compared, **arms, **dict(_by_seed(runs))}


def curves_of(runs: Runs) -> dict[str, list[list[float]]]:
    """Return each run's curve, pairs of seconds on the phones' clock and success, and the curve of
    its training episodes.
    """
    curves: dict[str, list[list[float]]] = {}
    for job, each in sorted(runs.items(), key=lambda run: (run[0].family, run[0].arm)):
        name = f"{job.family}_{job.arm}_seed_{job.seed}"
        for end, points in (("", each.curve), ("_training", each.training)):
            curves[name + end] = [[round(x, 1), round(success, 4)] for x, success in points]
    return curves


def _start(family: str, own: Sequence[Played]) -> Figures:
    """Return the starter's success, which every run measures on the same tasks and draws."""
    name, first = f"{family}_start_success", own[0].done_before
    found = {name: statistics.fmean(each.before for each in own)}
    if first:
        low, high = SuccessRate(sum(first.values()), len(first)).interval
        found |= {f"{name}_low": low, f"{name}_high": high}
    return found


def _levels(own: Mapping[str, Mapping[int, Played]]) -> list[float]:
    """Return the levels above the start that at least one run reached."""
    runs = [each for by_seed in own.values() for each in by_seed.values()]
    start = max(each.before for each in runs)
    best = max(success for each in runs for _, success in each.curve)
    return [level for level in LEVELS if start < level <= best]


def _arm(name: str, own: Sequence[Played], levels: Sequence[float]) -> Figures:
    figures = {
        f"{name}_seeds": float(len(own)),
        **spread(f"{name}_success", [each.after for each in own]),
        **spread(f"{name}_gain", [each.after - each.before for each in own]),
        **spread(f"{name}_success_over_time", [each.success_over_time for each in own]),
        **spread(f"{name}_per_minute", [each.per_minute for each in own]),
        f"{name}_step_seconds": statistics.fmean(each.step_seconds for each in own),
        f"{name}_staleness": statistics.fmean(each.staleness for each in own),
        f"{name}_effective_sample_share": statistics.fmean(
            each.effective_sample_share for each in own
        ),
    }
    for level in levels:
        times = [each.seconds_to(level) for each in own]
        to = f"{name}_seconds_to_{100.0 * level:.0f}"
        figures |= spread(
            to, [each.seconds if t is None else t for t, each in zip(times, own, strict=True)]
        )
        figures[f"{to}_not_reached"] = float(times.count(None))
    return figures


def _paired(
    ours: Mapping[int, Played], theirs: Mapping[int, Played]
) -> list[tuple[Played, Played]]:
    """Return pairs of runs of the same seed."""
    return [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]


def _difference(name: str, pairs: Sequence[tuple[Played, Played]]) -> Figures:
    """Return the difference in success between two arms: at the end, over tasks, and over time."""
    if not pairs:
        return {}
    over_time = [one.success_over_time - other.success_over_time for one, other in pairs]
    return {
        **spread(name, [one.after - other.after for one, other in pairs]),
        **_over_tasks(name, pairs),
        **spread(f"{name}_over_time", over_time),
    }


def _over_tasks(name: str, pairs: Sequence[tuple[Played, Played]]) -> Figures:
    judged = [done for pair in pairs for done in (pair[0].done_after, pair[1].done_after)]
    tasks = set(judged[0]).intersection(*judged[1:])
    differences = [
        statistics.fmean(one.done_after[task] - other.done_after[task] for one, other in pairs)
        for task in sorted(tasks)
    ]
    if len(differences) < 2:
        return {}
    middle = statistics.fmean(differences)
    wide = NORMAL_95 * statistics.stdev(differences) / math.sqrt(len(differences))
    return {f"{name}_tasks_low": middle - wide, f"{name}_tasks_high": middle + wide}


def _compared(family: str, both: Sequence[tuple[Played, Played]]) -> Figures:
    """Compare the main pair: success at equal time, and time to equal success."""
    gain = ratios(f"relative_gain_{family}", [o.after for o, _ in both], [t.after for _, t in both])
    figures = {name: value - 1.0 for name, value in gain.items()}
    whole = statistics.fmean(theirs.seconds for _, theirs in both)
    for name, pairs in (
        ("time_ratio", [(theirs.curve, ours.curve) for ours, theirs in both]),
        ("training_time_ratio", [(theirs.training, ours.training) for ours, theirs in both]),
    ):
        if all(curve for pair in pairs for curve in pair):
            theirs, ours = zip(*pairs, strict=True)
            middle, low, high, level = time_ratio(theirs, ours, whole)
            figures |= {f"{name}_{family}": middle, f"{name}_{family}_level": level}
            if len(both) > 1:
                figures |= {f"{name}_{family}_low": low, f"{name}_{family}_high": high}
            figures |= ratios(f"{name}_by_seed_{family}", *times_by_seed(theirs, ours, whole))
    return figures


def times_of_curves(curves: Mapping[str, Points]) -> Figures:
    """Return the time ratios seed by seed, from the curves of a results file (`curves_of`).

    Those curves are rounded, which is too coarse for the ratio over the evaluations of all seeds.
    """
    figures: Figures = {}
    for family in sorted({name.partition("_")[0] for name in curves}):
        one, other = (f"{family}_{arm}_seed_" for arm in (THEIRS, OURS))
        names = [n for n in curves if n.startswith(one) and n.replace(one, other) in curves]
        looks = [name for name in names if not name.endswith("_training")]
        training = [name for name in names if name.endswith("_training")]
        for ratio_name, chosen in (("time_ratio", looks), ("training_time_ratio", training)):
            if chosen:
                theirs = [curves[name] for name in chosen]
                ours = [curves[name.replace(one, other)] for name in chosen]
                whole = statistics.fmean(curves[name][-1][0] for name in looks)
                times = times_by_seed(theirs, ours, whole)
                figures |= ratios(f"{ratio_name}_by_seed_{family}", *times)
    return figures


def _by_seed(runs: Runs) -> Iterator[tuple[str, float]]:
    """Yield the figures of each run."""
    for job, each in sorted(runs.items(), key=lambda run: (run[0].family, run[0].arm, run[0].seed)):
        name = f"{job.family}_{job.arm}_seed_{job.seed}"
        yield f"{name}_before", each.before
        yield f"{name}_success", each.after
        yield f"{name}_per_minute", each.per_minute


# The table ---------------------------------------------------------------------------------------

HEADER = (
    "arm",
    "seeds",
    "success",
    f"against {OURS}, points",
    "mean over time",
    "trajectories/min",
    "staleness",
    "effective samples",
)


def table_of(figures: Figures, family: str) -> str:
    """Return a family's arms as a Markdown table, with intervals where there are seeds."""
    start = _interval(figures, f"{family}_start_success", 100.0)
    rows: list[Sequence[str]] = [HEADER, ["---"] * len(HEADER)]
    rows.append(["start", "", start, *[""] * (len(HEADER) - 3)])
    for arm in ARMS:
        name = f"{family}_{arm}"
        if f"{name}_seeds" in figures:
            rows.append(
                [
                    arm,
                    f"{figures[f'{name}_seeds']:.0f}",
                    _interval(figures, f"{name}_success", 100.0),
                    _interval(figures, f"{name}_against_{OURS}", 100.0),
                    _interval(figures, f"{name}_success_over_time", 100.0),
                    _interval(figures, f"{name}_per_minute"),
                    f"{figures[f'{name}_staleness']:.1f}",
                    f"{figures[f'{name}_effective_sample_share']:.2f}",
                ]
            )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _interval(figures: Figures, name: str, scale: float = 1.0) -> str:
    if name not in figures:
        return ""
    shown = f"{scale * figures[name]:.1f}"
    if f"{name}_low" in figures:
        low, high = (scale * figures[f"{name}_{end}"] for end in ("low", "high"))
        shown += f" [{low:.1f}, {high:.1f}]"
    return shown
