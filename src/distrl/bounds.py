"""Declare which values a setting may have, next to its type, and check them in one place.

    count: Annotated[int, Bounds(1, 512, "devices")] = 8
    greedy: Annotated[bool, Meaning("take the likeliest token instead of sampling")] = False

Every settings class inherits `Checked`, or calls `check_bounds(self)` in its own `__post_init__`,
so a value out of range is refused whether it comes from a file, a flag or code. Only conditions
that compare several fields are checked by hand. `config` uses the same declarations in error
messages and in the comments of written configs.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, EnumType
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from distrl import plugins
from distrl.errors import InvalidSetting
from distrl.plugin_shape import PartKind

M = TypeVar("M")
PLAIN: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range, `low` and `high` included; infinity is only admitted if `high` is infinite."""

    low: float
    high: float = math.inf
    unit: str = ""
    open: bool = False  # `low` itself is excluded

    def admit(self, value: float) -> bool:
        return self.low <= value <= self.high and not (self.open and value == self.low)  # NaN: no

    def __str__(self) -> str:
        low, high = _figure(self.low), _figure(self.high)
        if self.open:
            text = f"above {low}" if self.high == math.inf else f"above {low}, up to {high}"
        else:
            text = f"{low} or more" if self.high == math.inf else f"{low} to {high}"
        return f"{text} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a text, a switch or a list means; `pattern`: a regex that must match a whole text."""

    text: str
    pattern: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class PartName:
    """The name of a part: a built-in one, or one that was registered (`plugins`)."""

    kind: PartKind
    empty: str = ""  # meaning of the empty string; if this is empty, a name must be given

    def admit(self, name: str) -> bool:
        return name in plugins.names(self.kind) or (not name and bool(self.empty))

    def __str__(self) -> str:
        listed = _listed([*plugins.names(self.kind), "a registered one"])
        return f"{listed}; empty: {self.empty}" if self.empty else listed


@dataclass(frozen=True, slots=True)
class Fixed:
    """Marks a field that code and tests may set but that is not a setting of a run; says why."""

    why: str


Share = Annotated[float, Bounds(0.0, 1.0, "(a share)")]
Probability = Annotated[float, Bounds(0.0, 1.0, "(a probability)")]
Weight = Annotated[float, Bounds(0.0, 1e6, "(a weight)")]
Seed = Annotated[int, Bounds(0, 2**31 - 1, "(a seed)")]
Seconds = Annotated[float, Bounds(0.0, 1e6, "seconds")]


class Checked:
    """Base of settings classes that need no checks beyond their declarations."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_bounds(self)


def check_bounds(section: object) -> None:
    """Raise `InvalidSetting` for a value out of its range, choices or pattern."""
    kind: type = type(section)
    for name, hint in hints_of(kind).items():
        value = getattr(section, name)
        if not admits(hint, value):
            shown = list(value) if isinstance(value, tuple) else value
            raise InvalidSetting(f"{kind.__name__}.{name}={shown!r}; give {wanted(hint)}")


def admits(hint: Any, value: object) -> bool:
    """Return whether a value of the right type satisfies what its annotation declares."""
    if value is None:
        return True
    if isinstance(value, tuple):
        element = get_args(_bare(hint))[0] if get_origin(_bare(hint)) is tuple else Any
        return all(admits(element, each) for each in value)
    choices = choices_of(hint)
    if choices and value not in choices:
        return False
    part = declared(hint, PartName)
    if part is not None and not part.admit(str(value)):
        return False
    bounds, meaning = declared(hint, Bounds), declared(hint, Meaning)
    if bounds is not None and isinstance(value, int | float) and not bounds.admit(value):
        return False
    pattern = meaning.pattern if meaning is not None and isinstance(value, str) else ""
    return not pattern or re.fullmatch(pattern, str(value)) is not None


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """Return the annotation of every field, including its declarations."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def declared(hint: Any, kind: type[M]) -> M | None:
    """Return an annotation's declaration of one kind (`Bounds`, `Meaning`, …), or None."""
    return next(
        (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, kind)), None
    )


@cache
def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types in an annotation's union, without its declarations."""
    hint = _bare(hint)
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


@cache
def choices_of(hint: Any) -> tuple[Any, ...]:
    """Return the choices of a `Literal`; empty for other types."""
    kinds = [kind for kind in alternatives(hint) if kind is not NoneType]
    if not kinds or any(get_origin(kind) is not Literal for kind in kinds):
        return ()
    return tuple(choice for kind in kinds for choice in get_args(kind))


def wanted(hint: Any) -> str:
    """Describe the allowed values for an error message: type or choices, and the declaration."""
    if (part := declared(hint, PartName)) is not None:
        return str(part)
    bounds, meaning = declared(hint, Bounds), declared(hint, Meaning)
    return _type_text(hint) + (f", {bounds}" if bounds else f": {meaning}" if meaning else "")


def description(hint: Any) -> str:
    """Describe a setting for the comment beside its value (`--dry-run`), without a number's type,
    which its value shows. Return "" if nothing is declared.
    """
    bare = _bare(hint)
    choices = choices_of(get_args(bare)[0] if get_origin(bare) is tuple else hint)
    text = str(declared(hint, Bounds) or declared(hint, Meaning) or declared(hint, PartName) or "")
    if choices:
        text = _listed([str(choice) for choice in choices]) + (f" ({text})" if text else "")
    explained = "none:" in text or NoneType not in alternatives(hint)
    return text if explained or not text else f'{text}, or "none"'


def _type_text(hint: Any) -> str:
    bare = _bare(hint)
    if get_origin(bare) is tuple:
        return f"a list, each {wanted(get_args(bare)[0])}"
    if get_origin(bare) in (Mapping, dict):
        return f"a table, each {wanted(get_args(bare)[1])}"
    words: list[str] = []
    for kind in alternatives(hint):
        if get_origin(kind) is Literal:
            words += [str(choice) for choice in get_args(kind)]
        elif isinstance(kind, EnumType):
            words += [str(member.value) for member in cast("type[Enum]", kind)]
        else:
            other = "a section" if dataclasses.is_dataclass(kind) else str(kind)
            words.append('"none"' if kind is NoneType else PLAIN.get(kind, other))
    return _listed(words)


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _figure(number: float) -> str:
    return f"{int(number):,}" if math.isfinite(number) and number == int(number) else f"{number:g}"
