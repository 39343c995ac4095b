"""Success over time of the paper's arms, with bands over seeds, as a picture of one family.

Looks of different runs come at different moments: each run's curve is read, by straight lines
between its looks, at the same places in time. A band is the 95 % interval over seeds (Student's t);
an arm with one seed has none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.line_chart import Line, LineChart, Point
from benchmarks.paper_figures import Runs, of_arm, spread
from benchmarks.paper_runs import Played

COLOURS = {
    "distrl": "#1a73e8",
    "digirl_32_rounds": "#d93025",
    "digirl_async": "#f29900",
    "digirl_8_rounds": "#a142f4",
    "filtered_bc": "#5f6368",
    "without_dper": "#12a4af",
    "without_retrace": "#1e8e3e",
    "as_printed": "#b06000",
}
PLACES = 7  # in time, the start and the end among them


def chart(runs: Runs, family: str, arms: Iterable[str]) -> LineChart:
    own = {arm: list(of_arm(runs, family, arm).values()) for arm in arms}
    own = {arm: several for arm, several in own.items() if several}
    whole = max(each.seconds for several in own.values() for each in several)
    times = [float(each) for each in np.linspace(0.0, whole, PLACES)]
    seeds = sorted({len(several) for several in own.values()})
    lines = [Line(arm, COLOURS[arm], _points(several, times)) for arm, several in own.items()]
    highest = max(point.high for line in lines for point in line.points)
    return LineChart(
        title=f"Success on unseen tasks, {family}",
        subtitle=f"{' or '.join(map(str, seeds))} seeds each; bands are 95 % intervals over seeds",
        axis="minutes of the phones' clock",
        places=[f"{seconds / 60.0:.0f}" for seconds in times],
        lines=lines,
        marks={},
        ceiling=min(1.0, math.ceil(10.0 * highest) / 10.0),
        bands=True,
    )


def _points(own: Sequence[Played], times: Sequence[float]) -> list[Point]:
    curves = [each.curve for each in own]
    at = [np.interp(times, [t for t, _ in curve], [y for _, y in curve]) for curve in curves]
    return [_point([float(y) for y in successes]) for successes in zip(*at, strict=True)]


def _point(successes: Sequence[float]) -> Point:
    found = spread("at", successes)
    low, high = found.get("at_low", found["at"]), found.get("at_high", found["at"])
    return Point(statistics.fmean(successes), max(0.0, low), min(1.0, high))
