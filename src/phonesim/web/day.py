"""Which day it is on the web: prices, ratings, stock and ranks differ between the days."""

from __future__ import annotations

from dataclasses import dataclass

DAYS = 60


@dataclass(frozen=True, slots=True)
class WebDay:
    """The day that this phone's web stands at, from 0 to `DAYS` - 1."""

    id: int = 0
    number: int = 0
