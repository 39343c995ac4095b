"""Serialises a trajectory to bytes, for the disk or for another machine.

Layout: magic (4 bytes), version (2), length of the header (4), the header, and the concatenated
compressed screens. The header is JSON: every record by the names of its fields, floats as Python
prints them (they round-trip exactly, infinities and NaN included), text unchanged, lone surrogates
included. A screen or a list of elements that occurs several times in a trajectory is stored once.
Equal screens of different trajectories are not shared: phones look different from each other, so
this would save almost nothing, and one damaged screen would damage several trajectories.

Nothing in it is ever executed: types of actions are looked up among those of `records`, each field
is checked against its type, and a missing field gets its default, so that records can be extended.
Whatever is wrong, `decode_trajectory` raises `CorruptRecord` and nothing else. The format has no
checksum; whoever stores or sends the bytes adds one. Screens stay compressed, so damage inside one
shows only when its pixels are read; `verify` checks at once, for bytes from untrusted sources.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from distrl.errors import CorruptRecord, DistrlError
from distrl.hierarchy import Elements, element_rows, elements_of_rows
from distrl.records import Action, Branch, Decision, Ending, Task, Trajectory, Verdict
from distrl.replay.compressed_screen import CompressedScreen, compress

MAGIC, VERSION = b"DRTJ", 2  # 1 had screens packed by zlib
PREFIX = struct.Struct("<4sHI")
LARGEST_SIDE = 2**14  # pixels
ACTIONS = {kind.__name__: kind for kind in get_args(Action)}
# Errors that malformed bytes may cause while they are decoded.
UNFIT = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    struct.error, DistrlError,
)  # fmt: skip
Record = TypeVar("Record")


def encode_trajectory(trajectory: Trajectory) -> bytes:
    """Return the trajectory as bytes; compresses screens that are not compressed yet."""
    screens = [compress(screen) for screen in trajectory.screens]
    unique = {screen.address: screen for screen in screens}
    places = {address: place for place, address in enumerate(unique)}
    header = {
        "id": trajectory.id,
        "task": _tree(trajectory.task),
        "decisions": [_tree(decision) for decision in trajectory.decisions],
        "ending": trajectory.ending.value,
        "verdict": None if trajectory.verdict is None else _tree(trajectory.verdict),
        "device_seconds": float(trajectory.device_seconds),
        "notes": list(trajectory.notes),
        "branch": None if trajectory.branch is None else _tree(trajectory.branch),
        "screens": [places[screen.address] for screen in screens],
        "pictures": [[s.height, s.width, s.address, len(s.packed)] for s in unique.values()],
        **_element_header(trajectory.elements),
        **({"environment": trajectory.environment} if trajectory.environment else {}),
    }
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    prefix = PREFIX.pack(MAGIC, VERSION, len(text))
    return b"".join((prefix, text, *(screen.packed for screen in unique.values())))


def decode_trajectory(data: bytes, *, verify: bool = False) -> Trajectory:
    """Decode a trajectory. `verify` decompresses every screen and checks its address."""
    try:
        trajectory = _decode(data)
        for screen in trajectory.screens if verify else ():
            assert isinstance(screen, CompressedScreen)
            screen.verify()
    except UNFIT as error:
        if isinstance(error, CorruptRecord):
            raise
        raise CorruptRecord(
            f"{len(data)} bytes hold no trajectory ({type(error).__name__}: {error}); "
            "they are damaged, or were made by something else"
        ) from error
    return trajectory


def _decode(data: bytes) -> Trajectory:
    magic, version, length = PREFIX.unpack_from(data)
    if (magic, version) != (MAGIC, VERSION):
        raise CorruptRecord(
            f"a trajectory begins with {MAGIC!r} and version {VERSION}, these bytes with {magic!r} "
            f"and {version}; read them with the version of distrl that wrote them"
        )
    start = PREFIX.size + length
    header = json.loads(data[PREFIX.size : start])
    pictures = _pictures(header["pictures"], data, start)
    verdict, branch = header["verdict"], header.get("branch")  # older ones have no branch
    return Trajectory(
        id=_value(str, header["id"]),
        task=_record(Task, header["task"]),
        decisions=tuple(_record(Decision, tree) for tree in header["decisions"]),
        screens=tuple(pictures[place] for place in _value(tuple[int, ...], header["screens"])),
        ending=Ending(header["ending"]),
        verdict=None if verdict is None else _record(Verdict, verdict),
        device_seconds=_value(float, header["device_seconds"]),
        notes=_value(tuple[str, ...], header["notes"]),
        branch=None if branch is None else _record(Branch, branch),
        elements=_elements(header),
        environment=_value(str, header.get("environment", "")),
    )


def _element_header(elements: tuple[Elements, ...]) -> dict[str, Any]:
    """Return each distinct list once, and the index of each screen's list; {} if there are none."""
    if not elements:
        return {}
    places = {each: place for place, each in enumerate(dict.fromkeys(elements))}
    return {
        "elements": [places[each] for each in elements],
        "element_lists": [element_rows(each) for each in places],
    }


def _elements(header: dict[str, Any]) -> tuple[Elements, ...]:
    lists = [elements_of_rows(rows) for rows in header.get("element_lists", ())]
    return tuple(lists[place] for place in _value(tuple[int, ...], header.get("elements", [])))


def _pictures(rows: list[list[Any]], data: bytes, start: int) -> list[CompressedScreen]:
    """Return the compressed screens, which must fill the rest of the bytes exactly."""
    pictures = []
    for height, width, address, length in rows:
        sides = _value(tuple[int, ...], [height, width, length])
        if min(sides) < 1 or max(height, width) > LARGEST_SIDE:
            raise ValueError(f"a screen of {width}x{height} in {length} bytes")
        packed = data[start : start + length]
        pictures.append(CompressedScreen(packed, height, width, _value(str, address)))
        start += length
    if start != len(data):
        raise ValueError(f"screens end at byte {start} of {len(data)}")
    return pictures


# Records by the names of their fields -------------------------------------------------------------


def _tree(record: Any) -> dict[str, Any]:
    its: Any = type(record)
    return {name: _plain(kind, getattr(record, name)) for name, kind in _kinds(its)}


def _plain(kind: Any, value: Any) -> Any:
    """Convert a value for JSON. Numbers of numpy become those of Python."""
    if kind is Action:
        return [_action_name(value), _tree(value)]
    if each := _of_tuple(kind):
        return list(map(each, value))
    if optional := _of_optional(kind):
        return None if value is None else _plain(optional, value)
    return kind(value) if kind in (int, float) else value


def _action_name(action: Any) -> str:
    name = type(action).__name__
    if ACTIONS.get(name) is not type(action):
        raise TypeError(f"{action!r} is no action of distrl.records")
    return name


def _record(kind: Callable[..., Record], tree: dict[str, Any]) -> Record:
    values = {name: _value(hint, tree[name]) for name, hint in _kinds(kind) if name in tree}
    if len(values) != len(tree):
        raise ValueError(f"{kind.__name__} has no {sorted(set(tree) - set(values))}")
    return kind(**values)


def _value(kind: Any, value: Any) -> Any:
    """Check that a value is of that type, and return it; lists become tuples."""
    if kind is Action:
        name, tree = value
        return _record(ACTIONS[name], tree)
    if each := _of_tuple(kind):
        if type(value) is not list or not set(map(type, value)) <= {each}:
            raise TypeError(f"{value!r} is no list of {each.__name__}")
        return tuple(value)
    if optional := _of_optional(kind):
        return None if value is None else _value(optional, value)
    if allowed := _literals(kind):
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {allowed}")
    elif type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


@cache
def _of_tuple(kind: Any) -> Any:
    """Return the item type of a tuple[T, ...]; None for other types."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


@cache
def _of_optional(kind: Any) -> Any:
    """Return the T of `T | None`; None for other types."""
    if kind is Action or get_origin(kind) is not UnionType:
        return None
    return next(each for each in get_args(kind) if each is not NoneType)


@cache
def _literals(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


@cache
def _kinds(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return name and type of every field."""
    hints = get_type_hints(kind)
    return tuple((each.name, hints[each.name]) for each in fields(kind))
