"""Lines with bands of uncertainty around them, and single measurements with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.reporting.page.frame import Frame, line, path
from distrl.reporting.page.markup import Markup, tag


@dataclass(frozen=True, slots=True)
class Spot:
    """A figure at a place, with its interval."""

    across: float
    figure: float
    low: float
    high: float
    hint: str = ""


def banded_line(frame: Frame, spots: Sequence[Spot], kind: str) -> Markup:
    """A line, and the band from the low to the high ends."""
    upper = [(frame.x.at(spot.across), frame.y.at(spot.high)) for spot in spots]
    lower = [(frame.x.at(spot.across), frame.y.at(spot.low)) for spot in spots]
    middle = [(frame.x.at(spot.across), frame.y.at(spot.figure)) for spot in spots]
    band = path([*upper, *reversed(lower)], f"band {kind}", closed=True)
    return tag("g", band, path(middle, f"line {kind}"))


def measurements(frame: Frame, spots: Sequence[Spot], kind: str) -> Markup:
    """Dots with whiskers."""
    parts = []
    for spot in spots:
        x = frame.x.at(spot.across)
        parts.append(line(x, frame.y.at(spot.low), x, frame.y.at(spot.high), f"whisker {kind}"))
        hint = [tag("title", spot.hint)] if spot.hint else []
        parts.append(tag("circle", *hint, cx=x, cy=frame.y.at(spot.figure), r=5, class_=kind))
    return tag("g", *parts)
