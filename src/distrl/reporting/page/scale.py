"""From figures to places on a drawing, and the round figures that an axis is marked with."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps `low`…`high` onto `start`…`end`, evenly."""

    low: float
    high: float
    start: float
    end: float

    def at(self, figure: float) -> float:
        if self.high == self.low:
            return (self.start + self.end) / 2
        return self.start + (figure - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, most: int) -> list[float]:
    """At most so many round figures (1, 2 or 5 times a power of ten) from low to high."""
    if not (math.isfinite(low) and math.isfinite(high) and high > low):
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(
        step for factor in (1, 2, 5, 10, 20, 50) if (high - low) / (step := factor * power) <= most
    )
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """What time is counted in on an axis."""

    name: str
    seconds: float


def time_unit(total_seconds: float) -> TimeUnit:
    """Seconds, minutes or hours, whichever gives small figures."""
    if total_seconds < 120.0:
        return TimeUnit("seconds", 1.0)
    return TimeUnit("minutes", 60.0) if total_seconds < 4 * 3600.0 else TimeUnit("hours", 3600.0)


def short(figure: float) -> str:
    """A figure in few characters: 12k, 0.03, 1.5e−05."""
    size = abs(figure)
    if size >= 10_000:
        text = f"{figure / 1000:.3g}k" if size < 1e6 else f"{figure / 1e6:.3g}M"
    elif size >= 1000:
        text = f"{figure:,.0f}"
    else:
        text = f"{figure:.3g}" if size >= 0.001 or figure == 0.0 else f"{figure:.1e}"
    return text.replace("-", "−")
