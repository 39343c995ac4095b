"""The range and the unit of a setting, written beside its type.

    count: Annotated[int, Bounds(1, 512, "devices")] = 8

A section calls `check_bounds(self)` when it is made, so that a value out of its range is refused
wherever it comes from, and the file that a run leaves behind can say what each number means.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class Bounds:
    """From `low` to `high`, both included; infinity is only let in where `high` is infinite."""

    low: float
    high: float = math.inf
    unit: str = ""

    def admit(self, value: float) -> bool:
        return self.low <= value <= self.high  # False for NaN

    def __str__(self) -> str:
        upwards = "or more" if self.high == math.inf else f"to {_figure(self.high)}"
        return f"{_figure(self.low)} {upwards} {self.unit}".strip()


def _figure(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


@cache
def bounds_of(hint: Any) -> Bounds | None:
    """The bounds in an annotation, if it has any."""
    return next(
        (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Bounds)), None
    )


def hints_of(kind: type) -> dict[str, Any]:
    """The annotation of every field, bounds included."""
    return _hints_of(kind)


@cache
def _hints_of(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def check_bounds(section: object) -> None:
    """Refuse a section with a number out of its range; None is no number."""
    for name, hint in hints_of(type(section)).items():
        bounds, value = bounds_of(hint), getattr(section, name)
        if bounds is not None and value is not None and not bounds.admit(value):
            raise InvalidSetting(f"{type(section).__name__}.{name}={value!r}; give {bounds}")
