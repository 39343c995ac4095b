"""A task that was done with damage beside it was not done, nor one that was done to another thing.

Each template's own solution is played once. Then, before the final word, one record that the task
has nothing to do with is removed, copied or changed, and the verdict must turn into a failure with
a reason. And the solution for other parameters must not pass for this one.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from tests.slow_params import one_in

from distrl.records import CORE_FAMILIES, FINAL_ACTIONS, Answer
from phonesim.drift import Drift
from phonesim.facts import Facts
from phonesim.phone import Phone
from phonesim.system import InstalledApp, Notification
from phonesim.tasks.everyday.parts import CrossApp
from phonesim.tasks.everyday.two_hops import TwoHops
from phonesim.tasks.moves import Say
from phonesim.tasks.solver import ScriptLost, Solver
from phonesim.tasks.task_sets import load_task, splits_of, templates
from phonesim.tasks.template import Template, View, view_of

CALM = Drift(popup_rate=0.0)
MAX_STEPS = 40
BY_POPUP = {"version", "location"}  # of an app: what an uninvited dialog may change
NOT_TOLD_APART = {  # whichever parameters: doing one of them is doing the other
    "browser.clear_history": "the page only says why",
    "music.favourite_playing": "the song is the one in the player",
    "phone.call_back": "it has no parameters",
}
SINGLES = ("music.which_album", "music.song_length", "music.unfavourite", "clock.count_laps")


CORE = [name for name, each in templates().items() if each.family in CORE_FAMILIES]
EVERYDAY = [name for name, each in templates().items() if each.family == "everyday"]


def task_id(name: str, number: int) -> str:
    return f"{name}/{splits_of(templates()[name])[0]}/{number}"


def play(parts: Template, start: View, phone: Phone) -> str | None:
    """Play a solution; the answer that it ends with."""
    solver = Solver(parts.solve(start), open_by_name=True)
    for _ in range(MAX_STEPS):
        action = solver.next(phone.elements())
        if isinstance(action, FINAL_ACTIONS):
            return action.text if isinstance(action, Answer) else None
        phone.perform(action)
    raise AssertionError(f"{parts.name}: the solution does not end")


def prepared(name: str, number: int, *others: Template) -> tuple[Template, Phone, View]:
    """A phone on which the task, and before it the others, can be done."""
    task, parts = load_task(task_id(name, number))
    phone = Phone(task.seed, CALM)
    for each in (*others, parts):
        each.prepare(phone.facts, random.Random(f"{task.id}/{each}"))
    phone.refresh()
    return parts, phone, view_of(phone)


def something_else(value: Any) -> Any:
    """A value that differs; None where there is no telling."""
    match value:
        case bool():
            return not value
        case str():
            return f"{value} 2"
        case int() | float():
            return value + 1
        case date():
            return value + timedelta(days=1)
        case tuple() if value:
            return value[1:]
    return None


def bystanders(start: View, end: View, parts: Template) -> Iterator[Any]:
    """One record of each kind that counts, as it was before the task began."""
    for kind, records in end.facts.tables():
        touched = kind in parts.touches
        if kind is Notification or (getattr(kind, "INCIDENTAL", False) and not touched):
            continue
        if touched and len(records) == 1:
            continue  # what is left of it may be the task itself
        before = set(start.all(kind))
        yield from [record for record in records if record in before][-1:]


def damages(record: Any, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Ways to do harm to a record: a field and its new value, or the whole of it."""
    if len(facts.all(type(record))) > 1:
        yield from (("removed", None), ("copied", None))
    for field in dataclasses.fields(record):
        value = something_else(getattr(record, field.name))
        by_popup = isinstance(record, InstalledApp) and field.name in BY_POPUP
        if field.name != "id" and field.compare and value is not None and not by_popup:
            yield field.name, value


@pytest.mark.parametrize("name", one_in(3, CORE) + one_in(48, EVERYDAY))
def test_damage_beside_the_task_is_seen_and_named(name: str) -> None:
    parts, phone, start = prepared(name, 0)
    answer = play(parts, start, phone)
    done = phone.snapshot()
    assert parts.verdict(start, view_of(phone, answer)) is None
    for record in bystanders(start, view_of(phone), parts):
        if name == "browser.close_tab" and type(record).__name__ == "Tab":
            continue  # what a tab shows changes by looking
        for what, value in damages(record, done.facts):
            phone.restore(done)
            if what == "removed":
                phone.facts.remove(record)
            elif what == "copied":
                phone.facts.add(record)
            else:
                phone.facts.edit(record, **{what: value})
            reason = parts.verdict(start, view_of(phone, answer))
            assert reason, f"{name}: {what} of {record} went unseen"


@pytest.mark.parametrize("name", SINGLES)
def test_a_single_record_that_goes_or_doubles_is_seen(name: str) -> None:
    parts, phone, start = prepared(name, 0)
    answer = play(parts, start, phone)
    done = phone.snapshot()
    for kind in (each for each in parts.touches if getattr(each, "SINGLE", False)):
        phone.restore(done)
        phone.facts.remove(phone.facts.one(kind))
        assert kind.__name__ in (parts.verdict(start, view_of(phone, answer)) or "")
        phone.restore(done)
        phone.facts.add(phone.facts.one(kind))
        assert kind.__name__ in (parts.verdict(start, view_of(phone, answer)) or "")


def another(name: str, parts: Template) -> Template:
    """The same kind of task with other parameters: all of them where that is possible."""

    def shared(other: Template) -> int:
        return sum(value == other.words().get(word) for word, value in parts.words().items())

    return min((load_task(task_id(name, number))[1] for number in range(50, 65)), key=shared)


def done_with(parts: Template, start: View) -> object:
    """Its acts and what they use: two friends may well be in the same city."""
    match parts:
        case CrossApp():
            value: object = parts.source.of(parts).value(start)
        case TwoHops():
            found = parts.source.of(parts).value(start)
            value = found, parts.lookup.of(parts).value(start, found)
        case _:
            return parts
    return value, [act.of(parts) for act in parts.acts]


@pytest.mark.parametrize(
    "name",
    one_in(3, [name for name in CORE if name not in NOT_TOLD_APART])
    + one_in(48, [name for name in EVERYDAY if name not in NOT_TOLD_APART]),
)
def test_doing_it_to_something_else_does_not_count(name: str) -> None:
    other = another(name, load_task(task_id(name, 1))[1])
    try:
        parts, phone, start = prepared(name, 1, other)
        answer = play(other, start, phone)
    except (ScriptLost, LookupError, RuntimeError):
        pytest.skip("the two tasks do not go together on one phone")
    own = list(parts.solve(start))[-1]
    if isinstance(own, Say) and own.text == answer:
        pytest.skip("both have the same answer")
    if done_with(parts, start) == done_with(other, start):
        pytest.skip("both do the same")
    reason = parts.verdict(start, view_of(phone, answer))
    assert reason, f"{parts} was satisfied by {other} with the answer {answer!r}"
