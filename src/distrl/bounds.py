"""Declare what a setting may be beside its type, and check it in one place.

    count: Annotated[int, Bounds(1, 512, "devices")] = 8
    greedy: Annotated[bool, Meaning("take the likeliest token instead of sampling")] = False

Every settings class is `Checked`, or calls `check_bounds(self)` from a `__post_init__` of its own,
so a value out of range is refused whether it came from a file, a flag or code. Only what compares
fields with each other is checked by hand. `config` reads the same declarations to say what a
setting may be.
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
    """From `low` to `high`, both included; infinity is only admitted where `high` is infinite."""

    low: float
    high: float = math.inf
    unit: str = ""
    open: bool = False  # `low` itself is excluded

    def admit(self, value: float) -> bool:
        return self.low <= value <= self.high and not (self.open and value == self.low)  # not NaN

    def __str__(self) -> str:
        low, high = _figure(self.low), _figure(self.high)
        if self.open:
            text = f"above {low}" if self.high == math.inf else f"above {low}, up to {high}"
        else:
            text = f"{low} or more" if self.high == math.inf else f"{low} to {high}"
        return f"{text} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a text, a switch or a list says; `pattern`: a regular expression for a whole text."""

    text: str
    pattern: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class PartName:
    """The name of a part: one of ours, or one that was registered (`plugins`)."""

    kind: PartKind
    empty: str = ""  # what the empty text means; empty: a name must be given

    def admit(self, name: str) -> bool:
        return name in plugins.names(self.kind) or (not name and bool(self.empty))

    def __str__(self) -> str:
        listed = _listed([*plugins.names(self.kind), "a registered one"])
        return f"{listed}; empty: {self.empty}" if self.empty else listed


@dataclass(frozen=True, slots=True)
class Fixed:
    """A field that tests and code may pass, but that is not a setting of a run, and why."""

    why: str


Share = Annotated[float, Bounds(0.0, 1.0, "(a share)")]
Probability = Annotated[float, Bounds(0.0, 1.0, "(a probability)")]
Weight = Annotated[float, Bounds(0.0, 1e6, "(a weight)")]
Seed = Annotated[int, Bounds(0, 2**31 - 1, "(a seed)")]
Seconds = Annotated[float, Bounds(0.0, 1e6, "seconds")]


class Checked:
    """A settings class without rules of its own: what it declares is checked."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_bounds(self)


def check_bounds(section: object) -> None:
    """Refuse a section with a value out of its range, of no choice or against its pattern."""
    kind: type = type(section)
    for name, hint in hints_of(kind).items():
        value = getattr(section, name)
        if not admits(hint, value):
            shown = list(value) if isinstance(value, tuple) else value
            raise InvalidSetting(f"{kind.__name__}.{name}={shown!r}; give {wanted(hint)}")


def admits(hint: Any, value: object) -> bool:
    """Whether a value of the right type is within what the annotation declares."""
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
    """The annotation of every field, with what was declared."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def declared(hint: Any, kind: type[M]) -> M | None:
    """What an annotation declares of one kind: its `Bounds`, `Meaning` or `Fixed`."""
    return next(
        (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, kind)), None
    )


@cache
def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types that an annotation unites, without what it declares."""
    hint = _bare(hint)
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


@cache
def choices_of(hint: Any) -> tuple[Any, ...]:
    """The choices of a `Literal`; none for other types."""
    kinds = [kind for kind in alternatives(hint) if kind is not NoneType]
    if not kinds or any(get_origin(kind) is not Literal for kind in kinds):
        return ()
    return tuple(choice for kind in kinds for choice in get_args(kind))


def wanted(hint: Any) -> str:
    """What may be given: the type or the choices, and what is declared beside them."""
    if (part := declared(hint, PartName)) is not None:
        return str(part)
    bounds, meaning = declared(hint, Bounds), declared(hint, Meaning)
    return _type_text(hint) + (f", {bounds}" if bounds else f": {meaning}" if meaning else "")


def description(hint: Any) -> str:
    """What `--dry-run` says beside a value; a number's type can be seen. Empty: not declared."""
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
