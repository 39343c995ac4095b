"""Success over time of the paper's arms, with bands over seeds, as a picture of one family.

Runs are evaluated at different times, so each run's curve is interpolated linearly at the same
times. A band is the 95 % interval over seeds (Student's t); an arm with one seed has none.

    python -m benchmarks.paper_chart --arms distrl digirl_32_rounds --out docs/pictures/paper.png

draws them again from the committed curves (results/paper-curves.json), one picture a family.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.line_chart import Line, LineChart, Point
from benchmarks.paper_arms import ARMS
from benchmarks.paper_figures import Runs, of_arm, spread
from benchmarks.results_file import RESULTS

Curve = Sequence[Sequence[float]]  # pairs of seconds on the phones' clock and success

LABELS = {
    "distrl": "DistRL",
    "digirl_32_rounds": "DigiRL in rounds",
    "digirl_async": "DigiRL asynchronous",
    "digirl_8_rounds": "DigiRL, 8 phones",
    "filtered_bc": "filtered cloning",
    "without_dper": "DistRL, no DPER",
    "without_retrace": "DistRL, no Retrace",
    "as_printed": "DistRL as printed",
}
FAMILIES = {"general": "General", "shopping": "Web Shopping"}
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
PLACES = 7  # points in time, including the start and the end


def chart(runs: Runs, family: str, arms: Iterable[str]) -> LineChart:
    own = {arm: [each.curve for each in of_arm(runs, family, arm).values()] for arm in arms}
    return chart_of(own, family)


def chart_of(curves: Mapping[str, Sequence[Curve]], family: str) -> LineChart:
    """Draw one family; `curves` has the curve of each seed, by arm."""
    own = {arm: several for arm, several in curves.items() if several}
    whole = max(curve[-1][0] for several in own.values() for curve in several)
    times = [float(each) for each in np.linspace(0.0, whole, PLACES)]
    seeds = sorted({len(several) for several in own.values()})
    lines = [Line(LABELS[arm], COLOURS[arm], _points(own[arm], times)) for arm in own]
    highest = max(point.high for line in lines for point in line.points)
    return LineChart(
        title=f"Success on unseen tasks, {FAMILIES.get(family, family)}",
        subtitle=f"{' or '.join(map(str, seeds))} seeds each; bands are 95 % intervals over seeds",
        axis="minutes of the phones' clock",
        places=[f"{seconds / 60.0:.0f}" for seconds in times],
        lines=lines,
        marks={},
        ceiling=min(1.0, math.ceil(10.0 * highest) / 10.0),
        bands=True,
    )


def committed_curves(path: Path, family: str, arms: Iterable[str]) -> dict[str, list[Curve]]:
    """Read the curves of a results file by arm, without those of training episodes."""
    found: Mapping[str, Curve] = json.loads(path.read_text())
    return {
        arm: [
            curve
            for name, curve in found.items()
            if name.startswith(f"{family}_{arm}_seed_") and not name.endswith("_training")
        ]
        for arm in arms
    }


def _points(curves: Sequence[Curve], times: Sequence[float]) -> list[Point]:
    at = [np.interp(times, [t for t, _ in curve], [y for _, y in curve]) for curve in curves]
    return [_point([float(y) for y in successes]) for successes in zip(*at, strict=True)]


def _point(successes: Sequence[float]) -> Point:
    found = spread("at", successes)
    low, high = found.get("at_low", found["at"]), found.get("at_high", found["at"])
    return Point(statistics.fmean(successes), max(0.0, low), min(1.0, high))


def main() -> None:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("--curves", type=Path, default=RESULTS / "paper-curves.json")
    words.add_argument("--arms", nargs="+", choices=[*ARMS], default=["distrl", "digirl_32_rounds"])
    words.add_argument("--families", nargs="+", choices=[*FAMILIES], default=[*FAMILIES])
    words.add_argument("--out", type=Path, required=True, help="FILE.png; the family is added")
    given = words.parse_args()
    for family in given.families:
        curves = committed_curves(given.curves, family, given.arms)
        path = given.out.with_name(f"{given.out.stem}-{family}.png")
        chart_of(curves, family).draw().save(path, optimize=True)


if __name__ == "__main__":
    main()
