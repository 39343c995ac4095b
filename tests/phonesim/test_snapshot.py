"""A snapshot comes back as it was, or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distrl.errors import CorruptSnapshot
from distrl.records import Action, Back, Home, LongPress, OpenApp, Swipe, Tap, TypeText
from phonesim.app import App, Ui, Window
from phonesim.apps import APPS, OWN_APPS
from phonesim.drift import NO_DRIFT, Drift
from phonesim.phone import Phone
from phonesim.snapshot import MAX_BYTES, VERSION, from_bytes, to_bytes
from phonesim.state import PhoneState, Route
from phonesim.system import Notification

WALKS: dict[str, tuple[Action, ...]] = {
    "new": (),
    "typing": (OpenApp("Notes"), Tap(0.5, 0.12), TypeText('gar" ü\ud800')),
    "edited": (OpenApp("Notes"), Tap(0.5, 0.3), Tap(0.5, 0.2), TypeText("two\nlines"), Back()),
    "sheet": (OpenApp("Notes"), LongPress(0.5, 0.3)),
    "shade": (Swipe(0.5, 0.01, 0.5, 0.6),),
    "drawer": (Swipe(0.5, 0.9, 0.5, 0.4),),
    "back home": (OpenApp("Notes"), Home()),
}


def walked(walk: str, seed: int = 3, drift: Drift = NO_DRIFT) -> Phone:
    phone = Phone(seed, drift)
    for action in WALKS[walk]:
        phone.perform(action)
    return phone


def crashed() -> Phone:
    phone = walked("sheet")
    phone.facts.add(Notification(app="Notes", title="Hello", text="there"))
    phone.crash()
    return phone


def tables(state: PhoneState) -> list[Any]:
    return list(state.facts.tables())


def check_round_trip(phone: Phone) -> None:
    state = phone.snapshot()
    back = from_bytes(to_bytes(state))
    assert replace(back, facts=state.facts) == state
    assert tables(back) == tables(state)
    assert back.facts.next_id == state.facts.next_id
    other = Phone(0)
    other.restore(back)
    assert np.array_equal(other.frame(), phone.frame())
    for action in (Tap(0.5, 0.3), TypeText("x"), Home(), OpenApp("Notes"), Tap(0.5, 0.4)):
        phone.perform(action)
        other.perform(action)
        assert np.array_equal(other.frame(), phone.frame())


# What comes back --------------------------------------------------------------------------------


@pytest.mark.parametrize("walk", WALKS)
def test_a_phone_comes_back_as_it_was(walk: str) -> None:
    check_round_trip(walked(walk))


@pytest.mark.parametrize("seed", range(6))
def test_phones_that_drift_come_back_as_they_were(seed: int) -> None:
    check_round_trip(walked("edited", seed, Drift()))


def test_a_crash_dialog_comes_back() -> None:
    check_round_trip(crashed())


@pytest.mark.parametrize("app", APPS)
def test_every_app_can_be_kept(app: str) -> None:
    phone = Phone(2)
    phone.perform(OpenApp(app))
    check_round_trip(phone)


def test_the_same_phone_gives_the_same_bytes() -> None:
    data = to_bytes(walked("edited").snapshot())
    assert data == to_bytes(walked("edited").snapshot())
    assert data == to_bytes(from_bytes(data))
    assert data != to_bytes(walked("new").snapshot())


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with every type of field that a record may have."""

    id: int = 0
    day: date = date(2026, 1, 5)
    at: datetime | None = None
    tags: tuple[str, ...] = ()
    place: tuple[float, float] = (0.0, 0.0)
    mood: Literal["good", "bad"] = "good"
    pages: tuple[tuple[int, bool], ...] = ()


class DiaryApp(App):
    name = "Diary"
    icon = "note"
    color = (90, 120, 90)
    kinds = (Entry,)

    def home(self, ui: Ui) -> Window:
        return ui.page("Diary", [])


ENTRIES = (
    Entry(day=date(2025, 2, 28), at=datetime(2026, 3, 1, 7, 30, 15, 250), tags=("a", "")),
    Entry(place=(1e-300, 0.1 + 0.2), mood="bad", pages=((7, True), (-1, False))),
    Entry(place=(1, 2)),
)


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> PhoneState:
    monkeypatch.setitem(OWN_APPS, "Diary", DiaryApp())
    state = Phone(3, NO_DRIFT).snapshot()
    for entry in ENTRIES:
        state.facts.add(entry)
    return state


def test_every_type_of_field_comes_back(diary: PhoneState) -> None:
    back = from_bytes(to_bytes(diary))
    assert tables(back) == tables(diary)
    assert back.facts.all(Entry)[0].at == datetime(2026, 3, 1, 7, 30, 15, 250)
    assert type(back.facts.all(Entry)[0].day) is date


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("day", "2026-01-05"),
        ("day", {"datetime": "2026-01-05T00:00:00"}),
        ("day", {"date": "2026-13-05"}),
        ("day", {"date": 5}),
        ("day", {"date": "2026-01-05", "datetime": "2026-01-05"}),
        ("day", {"os": "system"}),
        ("at", 0),
        ("tags", "a"),
        ("tags", [1]),
        ("tags", [["a"]]),
        ("place", [1.0]),
        ("place", [1.0, True]),
        ("place", [1.0, math.inf]),
        ("place", [math.nan, 1.0]),
        ("mood", "sad"),
        ("pages", [[1, 1]]),
        ("id", True),
        ("id", 0),
        ("id", 1.0),
        ("id", 10**9),
    ],
)
def test_a_field_of_the_wrong_type_is_refused(diary: PhoneState, field: str, value: object) -> None:
    tree = opened(to_bytes(diary))
    (columns, rows) = next(table[1:] for table in tree["tables"] if table[0] == "Diary/Entry")
    rows[0][columns.index(field)] = value
    with pytest.raises(CorruptSnapshot):
        from_bytes(sealed(tree))


def test_what_no_snapshot_can_hold_is_our_own_mistake() -> None:
    state = walked("new").snapshot()
    state.facts.add(Entry())  # the diary is not installed here
    with pytest.raises(TypeError, match="Entry records are declared by no app"):
        to_bytes(state)
    memory = Route("home", (), {"draft": ["a list"]})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="cannot hold"):
        to_bytes(replace(walked("new").snapshot(), running={"Launcher": (memory,)}))


# What is refused --------------------------------------------------------------------------------


def opened(data: bytes) -> Any:
    return json.loads(zlib.decompress(data[26:]))


def sealed(tree: object, version: int = VERSION) -> bytes:
    return sealed_text(json.dumps(tree).encode(), version)


def sealed_text(text: bytes, version: int = VERSION) -> bytes:
    payload, number = zlib.compress(text), version.to_bytes(2, "big")
    digest = hashlib.blake2b(number + payload, digest_size=16).digest()
    return b"DISTRLPH" + number + digest + payload


@cache
def valid() -> bytes:
    return to_bytes(crashed().snapshot())


def test_the_tests_seal_as_the_phone_does() -> None:
    assert tables(from_bytes(sealed(opened(valid())))) == tables(crashed().snapshot())


def forged(path: str, value: object) -> bytes:
    """A snapshot in which one part was replaced, sealed again."""
    tree = opened(valid())
    node = tree
    *parents, last = path.split(".")
    for key in parents:
        node = node[int(key) if isinstance(node, list) else key]
    node[int(last) if isinstance(node, list) else last] = value
    return sealed(tree)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("seed", -1, "seed -1"),
        ("now", 5, "not that of a phone"),
        ("now", "yesterday", "yesterday"),
        ("drift", [], r"a Drift has \d+ fields"),
        ("drift.0", 1, r"Drift.themes cannot be 1"),
        ("drift.6", 1.5, "popup_rate=1.5"),
        ("plain.front", "Nowhere", "'Nowhere' is in front"),
        ("plain.front", 3, r"PhoneState.front cannot be 3"),
        ("plain.recent", ["Nowhere"], "no app 'Nowhere'"),
        ("plain.focus", 7, r"PhoneState.focus cannot be 7"),
        ("plain.keyboard", "runes", "keyboard 'runes'"),
        ("plain.overlay", "fog", "overlay 'fog'"),
        ("plain.popup", "crash:Nowhere", "no dialog"),
        ("plain.popup", "weird:Notes", "no dialog"),
        ("plain.popup", "", "no dialog"),
        ("plain.actions", "3", r"PhoneState.actions"),
        ("plain.extra", 1, "has the parts"),
        ("running", {}, "not among what runs"),
        ("running.Nowhere", [["home", [], {}]], "no app 'Nowhere'"),
        ("running.Notes", [], "no page open"),
        ("running.Notes", [["furnish", [], {}]], "no page 'furnish'"),
        ("running.Notes", [["__class__", [], {}]], "no page '__class__'"),
        ("running.Notes", [["_row", [1], {}]], "no page '_row'"),
        ("running.Notes", [["name", [], {}]], "no page 'name'"),
        ("running.Notes", [["edit", [], {}]], "missing a required argument"),
        ("running.Notes", [["edit", [1, 2], {}]], "too many positional"),
        ("running.Notes", [[3, [], {}]], "no open page"),
        ("running.Notes", [["home", []]], "not that of a phone"),
        ("running.Launcher.0.2", {"page": "two"}, "cannot be drawn"),
        ("next_id", 1, "its ids do not lie"),
        ("tables", [], "system settings exactly once"),
        ("tables.0.0", "os/system", "no kind of record"),
        ("tables.0.0", ["x"], "no kind of record"),
        ("tables.0.1", ["id"], "other fields"),
        ("tables.0.2.0", [1], r"a SystemSettings has \d+ fields, not"),
        ("tables.0.2.0.1", "yes", r"SystemSettings.wifi cannot be 'yes'"),
        ("tables.1.2.0.1", "Nowhere", "no app 'Nowhere'"),
        ("tables.1.2.0.0", 1, "same id"),  # as the settings
        ("tables.1.2.0.0", 3, "same id"),  # as the next app
        ("tables.1.2.0.0", 0, "its ids do not lie"),
    ],
)
def test_a_forged_part_is_refused(path: str, value: object, says: str) -> None:
    with pytest.raises(CorruptSnapshot, match=says):
        from_bytes(forged(path, value))


def test_bytes_that_are_no_snapshot_are_refused() -> None:
    for data in (b"", b"DISTRLPH", b"PK\x03\x04" * 20, valid()[1:]):
        with pytest.raises(CorruptSnapshot, match=f"{len(data)} bytes that are no snapshot"):
            from_bytes(data)
    with pytest.raises(CorruptSnapshot, match="no snapshot"):
        from_bytes("text")  # type: ignore[arg-type]


def test_another_version_is_refused_by_its_number() -> None:
    with pytest.raises(CorruptSnapshot, match="version 1, but this phone reads 2"):
        from_bytes(sealed(opened(valid()), version=1))


NO_STATES = (b"", b"{", b"[]", b"7", b"null", b"{}", b"\xff\xfe", b'{"plain": NaN}')


@pytest.mark.parametrize("text", [*NO_STATES, b"[" * 100_000, b"9" * 5_000])
def test_a_payload_that_is_no_state_is_refused(text: bytes) -> None:
    with pytest.raises(CorruptSnapshot):
        from_bytes(sealed_text(text))


def test_tuples_within_tuples_have_a_bottom() -> None:
    deep: object = 1
    for _ in range(60):
        deep = [deep]
    with pytest.raises(CorruptSnapshot, match="32 deep"):
        from_bytes(forged("running.Launcher.0.2", {"deep": deep}))


def test_a_bomb_is_not_unpacked() -> None:
    bomb = sealed_text(b" " * (4 * MAX_BYTES) + b"{}")
    assert len(bomb) < MAX_BYTES // 100
    with pytest.raises(CorruptSnapshot, match="more than 16777216 bytes"):
        from_bytes(bomb)


def test_more_after_the_end_is_refused() -> None:
    payload = valid()[26:] + b"more"
    digest = hashlib.blake2b(b"\x00\x02" + payload, digest_size=16).digest()
    with pytest.raises(CorruptSnapshot):
        from_bytes(b"DISTRLPH\x00\x02" + digest + payload)


def test_a_refused_snapshot_leaves_the_phone_usable() -> None:
    phone = walked("typing")
    frame, kept = phone.frame(), to_bytes(phone.snapshot())
    with pytest.raises(CorruptSnapshot):
        phone.restore(from_bytes(kept[:-3]))
    assert np.array_equal(phone.frame(), frame)
    phone.perform(Home())
    phone.restore(from_bytes(kept))
    assert np.array_equal(phone.frame(), frame)


# Anything at all --------------------------------------------------------------------------------


@settings(max_examples=3 * settings().max_examples)
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_refused(noise: bytes, with_header: bool) -> None:
    with pytest.raises(CorruptSnapshot):
        from_bytes(b"DISTRLPH\x00\x02" + noise if with_header else noise)


@settings(max_examples=3 * settings().max_examples)
@given(st.data())
def test_a_flipped_bit_is_refused(data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, len(valid()) * 8 - 1))
    changed = bytearray(valid())
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CorruptSnapshot):
        from_bytes(bytes(changed))


@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_a_snapshot_cut_short_is_refused(data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(valid()) - 1))
    with pytest.raises(CorruptSnapshot):
        from_bytes(valid()[:length])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every spot in a tree, as (container, key)."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    found: list[tuple[Any, Any]] = [(node, key) for key in keys]
    for key in keys:
        if isinstance(node[key], dict | list):
            found += places(node[key])
    return found


@settings(max_examples=3 * settings().max_examples)
@given(st.data(), JSON, st.sampled_from(["replace", "remove", "double"]))
@pytest.mark.slow
def test_a_forged_tree_is_a_phone_or_is_refused(data: st.DataObject, value: Any, how: str) -> None:
    """Sealed properly, so that only the checks of its content stand between it and the phone."""
    tree = opened(valid())
    container, key = data.draw(st.sampled_from(places(tree)))
    if how == "replace":
        container[key] = value
    elif how == "remove":
        del container[key]
    elif isinstance(container, list):
        container.append(container[key])
    try:
        state = from_bytes(sealed(tree))
    except CorruptSnapshot:
        return
    phone = Phone(0)
    phone.restore(state)
    assert phone.frame().shape == (720, 360, 3)
