"""A run's result as flat figures, for benchmarks that compare whole runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory


def run_figures(name: str, result: Mapping[str, Any]) -> dict[str, float]:
    """Return figures from `result.json`; each name begins with `name`."""
    figures = {}
    for stage in ("before", "after"):
        rate = result[f"success_{stage}"]
        figures[f"{name}_{stage}"] = rate["rate"]
        figures |= {f"{name}_{stage}_{end}": rate[end] for end in ("low", "high")}
    counts = {f"{name}_{of}": result[of] for of in ("trajectories", "updates", "wall_s")}
    return figures | counts | {f"{name}_per_min": 60.0 * result["trajectories"] / result["wall_s"]}


def jumps(run: RunDirectory) -> int:
    """Count the points where time goes back, or where a learner update is missing or repeated."""
    points = read_points(run.metrics)
    back = sum(later.seconds < earlier.seconds for earlier, later in pairwise(points))
    updates = [p.updates for p in points if p.series == "learner"]
    return back + sum(later != earlier + 1 for earlier, later in pairwise([0, *updates]))
