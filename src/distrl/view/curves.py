"""The curves of a run as plain numbers, downsampled to what a screen can show.

Gaps stay gaps: a time span without episodes has no rate. Shares of time add up to 1 in every span.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from distrl.episodes.outcome import SuccessRate
from distrl.learning.staleness_buckets import bucket_names
from distrl.reporting.run_story import RunStory
from distrl.runs.run_account import LEARNER, LEARNER_STAGES, PHONE, PHONE_STAGES
from distrl.runs.run_records import EpisodeLine, Point
from distrl.view.run_summary import rate_table

MAX_POINTS = 400  # of a curve
SPANS = 48  # bins of charts over time or updates
DIGITS = 5
GroupOf = Callable[[str, str], str]  # of an environment (empty: the run has one) and a template
OTHER = "other"  # family of tasks that do not come with the simulated phone


def run_curves(story: RunStory) -> dict[str, Any]:
    """All curves of a run."""
    return {
        "seconds": story.seconds,
        "success": [
            {"seconds": round(at, 1), **rate_table(rate)} for at, rate in story.success_curve()
        ],
        "evaluations": [
            {"seconds": each.seconds, "stage": each.stage, "updates": each.updates,
             **rate_table(each.rate)}
            for each in story.evaluations
            if each.rate.episodes
        ],
        "phone_time": _shares(story.points, PHONE, PHONE_STAGES),
        "learner_time": _shares(story.points, LEARNER, LEARNER_STAGES),
        "phone_time_whole": story.account.time.phones(),
        "learner_time_whole": story.account.time.learner(),
        "endings": _endings(story),
        "staleness": _staleness(story.points),
        "templates": _templates(story),
        "families": _families(story),
        "metrics": _metrics(story.points),
    }  # fmt: skip


def _thinned(rows: Sequence[Any], most: int = MAX_POINTS) -> list[Any]:
    """Keep every n-th row, and the last."""
    every = max(1, -(-len(rows) // most))
    kept = list(rows[::every])
    return kept if not rows or kept[-1] is rows[-1] else [*kept, rows[-1]]


def _metrics(points: Iterable[Point]) -> dict[str, Any]:
    """Return metrics by name: updates, seconds and values; None for a value not finite."""
    series: dict[str, list[tuple[int, float, float | None]]] = {}
    for point in points:
        for name, figure in point.figures.items():
            if name.startswith((PHONE, LEARNER)) and point.series == "collection":
                continue
            key = f"{point.series}/{name}"
            series.setdefault(key, []).append((point.updates, point.seconds, figure))
    return {
        name: {
            "updates": [row[0] for row in rows],
            "seconds": [round(row[1], 1) for row in rows],
            "figures": [_rounded(row[2]) for row in rows],
        }
        for name, rows in ((name, _thinned(rows)) for name, rows in sorted(series.items()))
    }


def _rounded(figure: float | None) -> float | None:
    if figure is None or not math.isfinite(figure):
        return None
    return float(f"{figure:.{DIGITS}g}")


def _shares(points: Sequence[Point], prefix: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return shares of time by stage in each span; the counters of seconds restart at a resume."""
    spans: list[tuple[float, dict[str, float]]] = []
    before: dict[str, float] = {}
    for point in (each for each in points if each.series == "collection"):
        now = {
            name.removeprefix(prefix): seconds or 0.0
            for name, seconds in point.figures.items()
            if name.startswith(prefix)
        }
        if sum(now.values()) < sum(before.values()):
            before = {}
        grown: dict[str, float] = {}
        for stage, seconds in now.items():
            shown = names.get(stage, stage)
            grown[shown] = grown.get(shown, 0.0) + max(0.0, seconds - before.get(stage, 0.0))
        if sum(grown.values()) > 0.0:
            spans.append((point.seconds, grown))
            before = now
    merged = _merged(spans)
    stages = list(dict.fromkeys(stage for _, grown in merged for stage in grown))
    shares = [
        [round(grown.get(stage, 0.0) / sum(grown.values()), 5) for _, grown in merged]
        for stage in stages
    ]
    return {"seconds": [round(at, 1) for at, _ in merged], "stages": stages, "shares": shares}


def _merged(
    spans: Sequence[tuple[float, dict[str, float]]],
) -> list[tuple[float, dict[str, float]]]:
    """Add up neighbouring spans so that at most `SPANS` are left."""
    every = max(1, -(-len(spans) // SPANS))
    merged = []
    for start in range(0, len(spans), every):
        total: dict[str, float] = {}
        for _, grown in spans[start : start + every]:
            for stage, seconds in grown.items():
                total[stage] = total.get(stage, 0.0) + seconds
        merged.append((spans[min(start + every, len(spans)) - 1][0], total))
    return merged


def _endings(story: RunStory) -> dict[str, Any]:
    spans = story.endings(SPANS) if story.episodes else []
    kinds = list(dict.fromkeys(kind for span in spans for kind in span))
    return {"kinds": kinds, "counts": [[span[kind] for span in spans] for kind in kinds]}


def _staleness(points: Iterable[Point]) -> dict[str, Any]:
    """Count drawn trajectories by staleness bucket, in spans of updates."""
    rows = [
        (point.updates, [point.figures.get(f"staleness/{name}") or 0.0 for name in bucket_names()])
        for point in points
        if point.series == "learner" and "staleness/0" in point.figures
    ]
    every = max(1, -(-len(rows) // SPANS))
    groups = [rows[start : start + every] for start in range(0, len(rows), every)]
    return {
        "buckets": bucket_names(),
        "updates": [group[-1][0] for group in groups],
        "counts": [
            [sum(column) for column in zip(*(c for _, c in g), strict=True)] for g in groups
        ],
    }


def _templates(story: RunStory) -> list[dict[str, Any]]:
    """Success by template: before, after, and in training."""
    return [
        {"template": name, **{stage: rate_table(rate) for stage, rate in known.items()}}
        for name, known in _rates(story, _template_of).items()
    ]


def _template_of(environment: str, template: str) -> str:
    return f"{environment} · {template}" if environment else template


def _families(story: RunStory) -> list[dict[str, Any]]:
    """Success by family of tasks (by environment if the run has several), with the curve of its
    training episodes.
    """
    known_family = template_families()

    def family_of(environment: str, template: str) -> str:
        return environment or known_family(template)

    return [
        {
            "family": name,
            **{stage: rate_table(rate) for stage, rate in known.items()},
            "curve": [
                {"seconds": round(at, 1), **rate_table(rate)}
                for at, rate in story.success_curve(partial(_is_of, family_of, name))
            ],
        }
        for name, known in _rates(story, family_of).items()
    ]


def _is_of(family_of: GroupOf, family: str, episode: EpisodeLine) -> bool:
    return family_of(episode.environment, episode.template) == family


def template_families() -> Callable[[str], str]:
    """Return a map from a template's name to its family; `OTHER` if the phone lacks it."""
    from phonesim.tasks.task_sets import templates  # all apps, which only this page needs

    known = templates()
    return lambda name: known[name].family if name in known else OTHER


def _rates(story: RunStory, group_of: GroupOf) -> dict[str, dict[str, SuccessRate]]:
    """Success of groups of templates, by group and stage."""
    counts: dict[str, dict[str, Counter[bool]]] = {}
    for each in story.episodes:
        if each.judged:
            _count(counts, group_of(each.environment, each.template), "training")[each.success] += 1
    for stage in ("before", "after"):
        line = story.evaluation(stage)
        for row in line.templates if line else ():
            count = _count(counts, group_of(row.environment, row.template), stage)
            count.update({True: row.successes, False: row.episodes - row.successes})
    return {
        group: {stage: SuccessRate(n[True], n.total()) for stage, n in counts[group].items()}
        for group in sorted(counts)
    }


def _count(counts: dict[str, dict[str, Counter[bool]]], group: str, stage: str) -> Counter[bool]:
    return counts.setdefault(group, {}).setdefault(stage, Counter())
