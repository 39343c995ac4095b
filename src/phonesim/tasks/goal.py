"""The goal of a task as a set of wanted facts: what its own solution leaves behind.

The solution is played once on a copy of the prepared phone, without pop-ups. Whatever it changes
there is wanted: field values, added records, removed records; if it changes nothing, the page on
which it ends; and the answer, if it gives one. Progress is the fraction of these that a phone has,
from 0 to 1. It measures how far an agent came, not whether the task is done: that is decided by
the template, which accepts other ways, too. An agent that takes another way than the script may
have lower progress until the task is done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from distrl.records import FINAL_ACTIONS, Answer
from phonesim.phone import Phone
from phonesim.state import PhoneState
from phonesim.system import Notification
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.record_changes import RecordChange, named, record_changes, shown
from phonesim.tasks.solver import Solver
from phonesim.tasks.template import Template, View, added, by_popup, view_of

MAX_ACTIONS = 80  # of a solution; a longer one counts as one that does not work


class WantedFact(Protocol):
    """One thing that a task's solution leaves behind."""

    def share(self, end: View) -> float:
        """Return how much of it is there, from 0 to 1."""
        ...

    def lacking(self, end: View) -> str:
        """Return in words what is not there; called only if the share is below 1."""
        ...


@dataclass(frozen=True, slots=True)
class WantedValue:
    """Implements `WantedFact`: a field of an existing record has a new value."""

    record: Any
    field: str
    value: Any

    def _found(self, end: View) -> Any | None:
        return end.facts.find(type(self.record), lambda each: each.id == self.record.id)

    def share(self, end: View) -> float:
        found = self._found(end)
        return float(found is not None and _same(getattr(found, self.field), self.value))

    def lacking(self, end: View) -> str:
        found = self._found(end)
        if found is None:
            return f"{named(self.record)} is gone"
        is_now = shown(getattr(found, self.field))
        return f"{named(self.record)}: {self.field} is {is_now}, not {shown(self.value)}"


@dataclass(frozen=True, slots=True)
class WantedRemoval:
    """Implements `WantedFact`: a record was removed."""

    record: Any

    def share(self, end: View) -> float:
        kind = type(self.record)
        return float(end.facts.find(kind, lambda each: each.id == self.record.id) is None)

    def lacking(self, end: View) -> str:
        return f"{named(self.record)} is still there"


@dataclass(frozen=True, slots=True)
class WantedRecord:
    """Implements `WantedFact`: a new record. Its existence counts as much as each of its values."""

    start: View
    kind: type[Any]
    values: tuple[tuple[str, Any], ...]

    def share(self, end: View) -> float:
        best = max((self._matching(each) for each in added(self.start, end, self.kind)), default=-1)
        return (1 + best) / (1 + len(self.values))

    def _matching(self, record: Any) -> int:
        return sum(_same(getattr(record, name), value) for name, value in self.values)

    def lacking(self, end: View) -> str:
        came = added(self.start, end, self.kind)
        if not came:
            with_values = ", ".join(f"{name} {shown(value)}" for name, value in self.values)
            return f"no new {self.kind.__name__} with {with_values}"
        best = max(came, key=self._matching)
        differences = (
            f"{name} {shown(getattr(best, name))}, not {shown(value)}"
            for name, value in self.values
            if not _same(getattr(best, name), value)
        )
        return f"the new {self.kind.__name__} has {', '.join(differences)}"


@dataclass(frozen=True, slots=True)
class WantedPage:
    """Implements `WantedFact`: a page of an app is in front; the right app alone counts half."""

    app: str
    page: str
    args: tuple[Any, ...]

    def share(self, end: View) -> float:
        there = (end.page, end.args) == (self.page, self.args)
        return ((end.app == self.app) + (end.app == self.app and there)) / 2

    def lacking(self, end: View) -> str:
        return f"the page {self.page!r} of {self.app} is not in front"


@dataclass(frozen=True, slots=True)
class WantedAnswer:
    """Implements `WantedFact`: an answer that the template accepts, in any wording."""

    template: Template
    start: View
    end: View  # of the solution

    def share(self, end: View) -> float:
        answered = dataclasses.replace(self.end, answer=end.answer)
        return float(self.template.verdict(self.start, answered) is None)

    def lacking(self, end: View) -> str:
        return "no answer" if end.answer is None else f"{shown(end.answer)} is not the answer"


@dataclass(frozen=True, slots=True)
class Goal:
    """What a task wants of a phone, and which record types may be touched for it."""

    start: View
    touches: tuple[type[Any], ...]
    wanted: tuple[WantedFact, ...]
    changes: tuple[RecordChange, ...]  # of the solution

    def progress(self, end: View) -> float:
        """Return the mean share of the wanted facts."""
        shares = [fact.share(end) for fact in self.wanted]
        return sum(shares) / len(shares) if shares else 0.0

    def missing(self, end: View) -> tuple[str, ...]:
        """Return in words which wanted facts are not there."""
        return tuple(fact.lacking(end) for fact in self.wanted if fact.share(end) < 1.0)

    def collateral(self, end: View) -> tuple[RecordChange, ...]:
        """Return the changes that have nothing to do with the task.

        Of the record types in `touches`, only those that the solution changes are compared: where
        a task allows more than its solution does, a change is not known to be harm.
        """
        kinds = judged_kinds(self.start, end, self.touches)
        solved = {(type(change.record), change.record.id): change for change in self.changes}
        changed = {kind for kind, _ in solved}
        coming = [type(change.record) for change in self.changes if change.before is None]
        return tuple(
            change
            for change in record_changes(self.start.facts, end.facts, kinds)
            if type(change.record) in changed or type(change.record) not in self.touches
            if not by_popup(change) and not _expected(change, solved, coming)
        )


def goal_of(template: Template, start: View, prepared: PhoneState) -> Goal | None:
    """Play the template's solution on a copy of the phone; None if it has none that works."""
    try:
        end = _solved(template, start, prepared)
    except (RuntimeError, LookupError):  # no solution, or one that fails: a plug-in's, perhaps
        return None
    kinds = judged_kinds(start, end, template.touches)
    changes = tuple(
        change for change in record_changes(start.facts, end.facts, kinds) if not by_popup(change)
    )
    wanted: list[WantedFact] = list(_wanted_facts(changes, start, end))
    if not wanted and (end.app, end.page, end.args) != (start.app, start.page, start.args):
        wanted.append(WantedPage(end.app, end.page, end.args))
    if end.answer is not None:
        wanted.append(WantedAnswer(template, start, end))
    return Goal(start, template.touches, tuple(wanted), changes)


def judged_kinds(start: View, end: View, touches: tuple[type[Any], ...]) -> list[type[Any]]:
    """Return the record types that count, sorted by name: not those that viewing alone changes."""
    kinds = {*start.facts.kinds(), *end.facts.kinds()}
    counting = (
        kind
        for kind in kinds
        if kind in touches or not (kind is Notification or getattr(kind, "INCIDENTAL", False))
    )
    return sorted(counting, key=lambda kind: str(kind.__name__))


def _solved(template: Template, start: View, prepared: PhoneState) -> View:
    """Return the view of the phone after the template's own solution."""
    phone = Phone()
    phone.restore(dataclasses.replace(prepared, drift=prepared.drift.undisturbed()))
    solver = Solver(template.solve(start), open_by_name=True, display=phone.display)
    for _ in range(MAX_ACTIONS):
        action = solver.next(phone.elements())
        if isinstance(action, FINAL_ACTIONS):
            return view_of(phone, action.text if isinstance(action, Answer) else None)
        phone.perform(action)
    raise RuntimeError(f"template {template.name}: its solution does not end")


def _wanted_facts(
    changes: tuple[RecordChange, ...], start: View, end: View
) -> Iterator[WantedFact]:
    new_ids = {change.record.id for change in changes if change.before is None}
    for change in changes:
        if change.after is None:
            yield WantedRemoval(change.before)
            continue
        values = {
            name: getattr(change.after, name)
            for name in _comparable(change)
            if not _of_the_moment(getattr(change.after, name), start, end, new_ids)
        }
        if change.before is None:
            yield WantedRecord(start, type(change.after), tuple(values.items()))
        else:
            for name, value in values.items():
                yield WantedValue(change.before, name, value)


def _comparable(change: RecordChange) -> list[str]:
    """Return the fields to compare: those that differ; of a new record, those not at defaults."""
    if change.before is not None:
        return sorted(change.fields)
    fields = (each for each in dataclasses.fields(change.record) if each.compare)
    return [
        each.name
        for each in fields
        if each.name != "id" and getattr(change.after, each.name) != each.default
    ]


def _of_the_moment(value: Any, start: View, end: View, new_ids: set[int]) -> bool:
    """Return whether a value depends on the attempt: a time during it, the id of a new record."""
    if isinstance(value, datetime):
        return start.now <= value <= end.now
    return type(value) is int and value in new_ids


def _expected(
    change: RecordChange,
    solved: dict[tuple[type[Any], int], RecordChange],
    coming: list[type[Any]],
) -> bool:
    """Return whether the solution changes this, too, to any value; use up one entry of `coming`."""
    kind = type(change.record)
    if change.before is None:
        if kind in coming:
            coming.remove(kind)
            return True
        return False
    own = solved.get((kind, change.record.id))
    if own is None:
        return False
    return (own.after is None) == (change.after is None) and change.fields <= own.fields


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return same_text(value, wanted)
    return bool(value == wanted)
