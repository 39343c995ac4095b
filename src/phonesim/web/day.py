"""The current day on the web: prices, ratings, stock and ranks differ from day to day."""

from __future__ import annotations

from dataclasses import dataclass

DAYS = 60


@dataclass(frozen=True, slots=True)
class WebDay:
    """The day of this phone's web, from 0 to `DAYS` - 1."""

    id: int = 0
    number: int = 0
