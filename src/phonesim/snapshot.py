"""Serialise a phone's whole state to bytes, to store them or send them to another machine.

Layout: magic (8 bytes), version (2), a blake2b digest (16) of the version and the payload, and the
payload: JSON, compressed with zlib. Nothing in it is ever executed: kinds of records are looked up
among those that the phone and its apps declare, pages among those of their app; each field is
checked against its type, and the screen is drawn once. The digest detects accidental damage, the
checks malicious content. Whatever is wrong, `from_bytes` raises `CorruptSnapshot` only.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import types
import zlib
from collections.abc import Iterable
from dataclasses import fields
from datetime import date, datetime
from functools import cache
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from distrl.errors import CorruptSnapshot, DistrlError
from phonesim.app import App
from phonesim.apps import APPS
from phonesim.compositor import LAUNCHER_APP
from phonesim.display import Display
from phonesim.drift import Drift
from phonesim.facts import Facts, Table
from phonesim.phone import Phone
from phonesim.state import LAUNCHER, Due, PhoneState, Route
from phonesim.system import InstalledApp, Notification, SystemSettings
from phonesim.system_ui.keyboard import LAYERS
from phonesim.system_ui.popups import POPUPS
from phonesim.system_ui.ringing import rings
from phonesim.world import WHEN_DUE

MAGIC = b"DISTRLPH"
VERSION = 2  # 2: with a display
HEADER = len(MAGIC) + 2 + 16
MAX_BYTES = 16 * 2**20  # of JSON; a furnished phone has a small share of that
DEEPEST = 32  # tuples within tuples
SYSTEM_KINDS = (SystemSettings, InstalledApp, Notification)
# The errors that reading or drawing a malformed state can raise.
UNFIT = (
    ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError,
    DistrlError,
)  # fmt: skip
OVERLAYS = (None, "shade", "recents")
PARTS = frozenset(
    ("seed", "drift", "display", "facts", "now", "running")
)  # the rest of a state is plain


def to_bytes(state: PhoneState) -> bytes:
    """Serialise a state. Raise `TypeError` for records of a kind that no app declares."""
    tree = {
        "seed": state.seed,
        "now": state.now.isoformat(),
        "drift": _row(state.drift),
        "display": _row(state.display),
        "plain": {name: _encode(getattr(state, name)) for name in _plain_fields()},
        "running": {app: [_route(r) for r in routes] for app, routes in state.running.items()},
        "next_id": state.facts.next_id,
        "tables": [
            [_name_of(kind), [f.name for f in fields(kind)], [_row(record) for record in records]]
            for kind, records in state.facts.tables()
        ],
    }
    text = json.dumps(tree, separators=(",", ":"), allow_nan=False)
    payload = zlib.compress(text.encode("ascii"), 6)
    version = VERSION.to_bytes(2, "big")
    return MAGIC + version + _digest(version + payload) + payload


def from_bytes(data: bytes) -> PhoneState:
    """Return the serialised state, with the same pixels, facts and next id."""
    tree = _open(data)
    try:
        state = _read_state(tree)
        _check_state(state)
    except UNFIT as error:
        if isinstance(error, CorruptSnapshot):
            raise
        raise CorruptSnapshot(
            f"snapshot: its content is not that of a phone ({type(error).__name__}: {error}); "
            "take a new snapshot"
        ) from error
    _check_drawing(state)
    return state


# Sealing -----------------------------------------------------------------------------------------


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _open(data: bytes) -> Any:
    """Check magic, version and digest; return the parsed JSON."""
    if not isinstance(data, bytes) or data[: len(MAGIC)] != MAGIC or len(data) < HEADER:
        _refuse(f"{len(data) if isinstance(data, bytes) else data!r} bytes that are no snapshot")
    version, seal, payload = data[8:10], data[10:HEADER], data[HEADER:]
    if int.from_bytes(version, "big") != VERSION:
        _refuse(f"version {int.from_bytes(version, 'big')}, but this phone reads {VERSION}")
    if _digest(version + payload) != seal:
        _refuse(f"the checksum of its {len(data)} bytes is wrong: cut short or changed")
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(payload, MAX_BYTES)  # never unpack a zip bomb
        if not unpacker.eof or unpacker.unused_data:
            _refuse(f"it unpacks to more than {MAX_BYTES} bytes, or not at all")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise CorruptSnapshot(f"snapshot: its payload cannot be read ({error})") from error


def _refuse(what: str) -> NoReturn:
    raise CorruptSnapshot(f"snapshot: {what}; take a new snapshot")


# Values: JSON has no tuples and no dates ---------------------------------------------------------


def _encode(value: object) -> object:
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if type(value) in (date, datetime):
        return {type(value).__name__: value.isoformat()}  # type: ignore[attr-defined]
    raise TypeError(
        f"a snapshot cannot hold {value!r}: records, arguments and memory are made of "
        "str, int, float, bool, None, date, datetime and tuples of them"
    )


def _decode(value: object, depth: int = 0) -> Any:
    if depth > DEEPEST:
        _refuse(f"tuples within tuples more than {DEEPEST} deep")
    if isinstance(value, list):
        return tuple(_decode(item, depth + 1) for item in value)
    if isinstance(value, dict):
        ((name, text),) = value.items()
        return {"date": date, "datetime": datetime}[name].fromisoformat(text)
    if isinstance(value, float) and not math.isfinite(value):  # NaN, and 1e999 too
        _refuse("it holds a number that is not finite")
    return value


def _fits(value: object, wanted: Any) -> bool:
    """Return whether a value has an annotated type; bool is no number, an int may be a float."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(_fits(item, parts[0]) for item in value)
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if wanted is float:
        return type(value) in (int, float)
    return type(value) is (type(None) if wanted is None else wanted)


# Records -----------------------------------------------------------------------------------------


def _kinds() -> dict[str, Any]:
    """Return every kind of record that a phone may hold, by a unique name."""
    kinds = {f"system/{kind.__name__}": kind for kind in SYSTEM_KINDS}
    for app in APPS.values():
        kinds |= {f"{app.name}/{kind.__name__}": kind for kind in app.kinds}
    return kinds


def _name_of(kind: type[Any]) -> str:
    for name, known in _kinds().items():
        if known is kind:
            return name
    raise TypeError(f"{kind.__name__} records are declared by no app: add them to its `kinds`")


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _plain_fields() -> list[str]:
    return [name for name in _field_types(PhoneState) if name not in PARTS]


def _row(record: Any) -> list[object]:
    return [_encode(getattr(record, field.name)) for field in fields(record)]


def _read_row(kind: Any, row: object) -> Any:
    wanted = _field_types(kind)
    if not isinstance(row, list) or len(row) != len(wanted):
        _refuse(f"a {kind.__name__} has {len(wanted)} fields, not {row!r:.80}")
    values = dict(zip(wanted, map(_decode, row), strict=True))
    _check_fields(kind, values)
    return kind(**values)


def _check_fields(kind: Any, values: dict[str, object]) -> None:
    wanted = _field_types(kind)
    for name, value in values.items():
        if not _fits(value, wanted[name]):
            _refuse(f"{kind.__name__}.{name} cannot be {value!r:.80}")


# The parts of a state ----------------------------------------------------------------------------


def _route(route: Route) -> list[object]:
    memory = {key: _encode(value) for key, value in route.memory.items()}
    return [route.page, _encode(route.args), memory]


def _read_state(tree: Any) -> PhoneState:
    plain = {name: _decode(value) for name, value in tree["plain"].items()}
    if plain.keys() != set(_plain_fields()):
        _refuse(f"a phone has the parts {', '.join(_plain_fields())}, not {', '.join(plain)}")
    _check_fields(PhoneState, plain)
    return PhoneState(
        seed=tree["seed"],
        drift=_read_row(Drift, tree["drift"]),
        display=_read_row(Display, tree["display"]),
        facts=_read_facts(tree["tables"], tree["next_id"]),
        now=datetime.fromisoformat(tree["now"]),
        running={app: tuple(map(_read_route, rs)) for app, rs in tree["running"].items()},
        **plain,
    )


def _read_route(part: Any) -> Route:
    page, args, memory = part
    decoded = _decode(args)
    if not isinstance(page, str) or not isinstance(decoded, tuple):
        _refuse(f"{part!r:.80} is no open page")
    return Route(page, decoded, {key: _decode(value) for key, value in memory.items()})


def _read_facts(tables: Any, next_id: object) -> Facts:
    read: dict[type[Any], Table] = {}
    ids: set[int] = set()
    for name, columns, rows in tables:
        kind = _kinds().get(name) if isinstance(name, str) else None
        if kind is None or kind in read:
            _refuse(f"{name!r:.80} is no kind of record that an app here keeps, or comes twice")
        if columns != list(_field_types(kind)):
            _refuse(f"a {kind.__name__} has other fields than {columns!r:.200}")
        read[kind] = {record.id: record for record in (_read_row(kind, row) for row in rows)}
        if len(read[kind]) != len(rows) or ids & read[kind].keys():
            _refuse(f"two {kind.__name__} records have the same id")
        ids |= read[kind].keys()
    if type(next_id) is not int or (ids and not 0 < min(ids) <= max(ids) < next_id):
        _refuse(f"its ids do not lie between 1 and the next one, {next_id!r:.40}")
    return Facts(read, next_id)


# What must be true of the whole ------------------------------------------------------------------


def _check_state(state: PhoneState) -> None:
    if type(state.seed) is not int or state.seed < 0:
        _refuse(f"seed {state.seed!r:.40} is no whole number from 0 upwards")
    if len(state.facts.all(SystemSettings)) != 1:
        _refuse("a phone has its system settings exactly once")
    _check_apps(app.name for app in state.facts.all(InstalledApp))
    _check_apps(state.recent)
    _check_apps(name for name in state.running if name != LAUNCHER)
    if LAUNCHER not in state.running or state.front not in state.running:
        _refuse(f"{state.front!r:.40} is in front, but not among what runs")
    for name, routes in state.running.items():
        _check_routes(LAUNCHER_APP if name == LAUNCHER else APPS[name], routes)
    kind, _, crashed = (state.popup or "").partition(":")
    known = kind in POPUPS or (kind == "crash" and crashed in APPS)
    if state.popup is not None and not (known or rings(state.popup)):
        _refuse(f"there is no dialog {state.popup!r:.80}")
    _check_due(state.due)
    if state.keyboard not in LAYERS or state.overlay not in OVERLAYS:
        _refuse(f"no keyboard {state.keyboard!r:.40} or no overlay {state.overlay!r:.40}")


def _check_due(due: tuple[Due, ...]) -> None:
    for _, kind, _ in due:
        if kind not in WHEN_DUE:
            _refuse(f"nothing called {kind!r:.40} can be due")


def _check_apps(names: Iterable[str]) -> None:
    for name in names:
        if name not in APPS:
            _refuse(f"there is no app {name!r:.80} here")


def _check_routes(app: App, routes: tuple[Route, ...]) -> None:
    """Refuse routes that name no page, or whose arguments do not fit the page's signature."""
    if not routes:
        _refuse(f"{app.name} runs, but has no page open")
    for route in routes:
        page = getattr(type(app), route.page, None)
        hidden = route.page.startswith("_") or route.page == "furnish"
        if hidden or not inspect.isfunction(page):
            _refuse(f"{app.name} has no page {route.page!r:.80}")
        # Asked of the app itself: some pages are plain functions, which do not take the app.
        inspect.signature(getattr(app, route.page)).bind(None, *route.args)


def _check_drawing(state: PhoneState) -> None:
    """Draw the screen once: a page may still fail on its facts, better here than in an episode."""
    phone = Phone()
    phone.restore(state)
    try:
        phone.frame()
    except UNFIT as error:
        raise CorruptSnapshot(
            f"snapshot: its screen cannot be drawn ({type(error).__name__}: {error}); "
            "take a new snapshot"
        ) from error
