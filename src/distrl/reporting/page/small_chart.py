"""A small chart of one figure over the updates: the raw course, and the mean around each place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from distrl.reporting.page.frame import line, path, svg, words
from distrl.reporting.page.markup import Markup, tag
from distrl.reporting.page.scale import Scale, short

WIDTH, HEIGHT, FOOT, HEAD = 310, 96, 4, 6
MAX_SPOTS = 300
SMOOTH = 0.08  # of the whole course, the share that a mean is over


@dataclass(frozen=True, slots=True)
class SmallChart:
    """One figure; `explained` says in a few words what it means."""

    name: str
    explained: str
    across: Sequence[float]
    figures: Sequence[float]

    def draw(self) -> Markup:
        known = [(x, y) for x, y in zip(self.across, self.figures, strict=True) if math.isfinite(y)]
        last = short(known[-1][1]) if known else "–"
        return tag(
            "figure",
            tag("figcaption", tag("b", self.name), tag("span", last), tag("i", self.explained)),
            self._course(known) if len(known) > 1 else tag("p", "too few figures", class_="none"),
            class_="small",
        )

    def _course(self, known: list[tuple[float, float]]) -> Markup:
        figures = [figure for _, figure in known]
        low, high = _span(figures)
        x = Scale(known[0][0], known[-1][0], 0, WIDTH - 44)
        y = Scale(low, high, HEIGHT - FOOT, HEAD)
        raw = [(x.at(at), y.at(min(high, max(low, figure)))) for at, figure in thinned(known)]
        means = list(zip((at for at, _ in known), smoothed(figures), strict=True))
        calm = [(x.at(at), y.at(min(high, max(low, mean)))) for at, mean in thinned(means)]
        labels = [
            words(WIDTH - 40, y.at(end) + 4, short(end), "tick", "start") for end in (low, high)
        ]
        grid = [line(0, y.at(end), WIDTH - 44, y.at(end), "grid") for end in (low, high)]
        title = f"{self.name}: from {short(figures[0])} to {short(figures[-1])}"
        return svg(
            WIDTH, HEIGHT, *grid, path(raw, "raw"), path(calm, "line first"), *labels, title=title
        )


def _span(figures: list[float]) -> tuple[float, float]:
    """From the least to the most, but not for the sake of one outlier in a hundred."""
    ranked = sorted(figures)
    rare = len(ranked) // 100
    low, high = ranked[rare], ranked[-1 - rare]
    return (low, high) if high > low else (low - 0.5 * abs(low or 1.0), low + 0.5 * abs(low or 1.0))


def smoothed(figures: Sequence[float]) -> list[float]:
    """The mean of what stands around each figure; near an end there is less of it."""
    reach, count = round(SMOOTH * len(figures) / 2), len(figures)
    sums = [0.0, *accumulate(figures)]
    spans = [(max(0, at - reach), min(count, at + reach + 1)) for at in range(count)]
    return [(sums[end] - sums[start]) / (end - start) for start, end in spans]


def thinned(spots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most MAX_SPOTS of them, evenly chosen, the last one included."""
    every = -(-len(spots) // MAX_SPOTS)
    return spots if every <= 1 else [*spots[:-1:every], spots[-1]]
