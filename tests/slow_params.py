"""Parameters of which some run by default; the rest is marked slow, for `make test-all` and CI."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def one_in(count: int, values: Iterable[object]) -> list[Any]:
    """Every `count`-th value runs by default."""
    return [
        pytest.param(value, marks=pytest.mark.slow if place % count else ())
        for place, value in enumerate(values)
    ]


def mostly_slow(values: Iterable[object], quick: Collection[object]) -> list[Any]:
    """Only those in `quick` run by default."""
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.slow) for value in values
    ]
