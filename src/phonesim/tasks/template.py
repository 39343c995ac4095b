"""The base class of task templates, and the views of a phone that their judges compare.

A template generates tasks of one kind: it has the phrasings of the instruction, the preparation of
the phone, a judge and a scripted solution. `task_sets` draws tasks from it, `fact_judge` judges
them. It is a frozen dataclass whose fields are drawn from domains; one instance is one task:

    @dataclass(frozen=True)
    class CreateNote(Template):
        name = "notes.create"
        apps = ("Notes",)
        difficulty = "medium"
        phrasings = ("Create a note called {title}", "Add a note with the title {title}")
        touches = (Note,)
        title: str = parameter(NOTE_TITLES)

`prepare` puts on the phone what the task needs, and removes what would make it done from the start.
`missing` compares the phone before and after and returns what is still missing; None means done. It
reads facts only, so every path to the goal counts. Records of types that `touches` does not list
must be unchanged: no task is done by breaking something else. `solve` yields one good solution.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self

from distrl.records import Difficulty, Family, Split
from phonesim.facts import Facts, R
from phonesim.phone import Phone
from phonesim.state import Plain, Route
from phonesim.system import InstalledApp, Notification
from phonesim.tasks.domains import domain_of
from phonesim.tasks.moves import Move
from phonesim.tasks.record_changes import RecordChange, record_changes
from phonesim.tasks.record_changes import differing_fields as differing_fields

MAX_DRAWS = 1000
BY_POPUP: dict[type[Any], frozenset[str]] = {InstalledApp: frozenset({"version", "location"})}


@dataclass(frozen=True, slots=True)
class View:
    """What a judge sees: the phone's facts, the page in front, and the agent's answer."""

    facts: Facts
    now: datetime
    app: str
    page: str
    args: tuple[Plain, ...]
    memory: Mapping[str, Plain]
    answer: str | None = None

    def all(self, kind: type[R]) -> tuple[R, ...]:
        return self.facts.all(kind)

    def one(self, kind: type[R]) -> R:
        return self.facts.one(kind)


def view_of(phone: Phone, answer: str | None = None) -> View:
    """Return a view of the phone now. An open overlay (shade, recent apps) is the page in front."""
    top = phone.routes[-1]
    if phone.state.overlay:
        top = Route(phone.state.overlay)
    return View(
        facts=phone.facts.copy(),
        now=phone.now,
        app=phone.state.front,
        page=top.page,
        args=top.args,
        memory=top.memory,
        answer=answer,
    )


def added(start: View, end: View, kind: type[R]) -> tuple[R, ...]:
    """Return the records of a type that are in `end` but not in `start`."""
    before = {record.id for record in start.all(kind)}
    return tuple(record for record in end.all(kind) if record.id not in before)


def removed(start: View, end: View, kind: type[R]) -> tuple[R, ...]:
    """Return the records of a type that are in `start` but not in `end`."""
    after = {record.id for record in end.all(kind)}
    return tuple(record for record in start.all(kind) if record.id not in after)


def changed(start: View, end: View, kind: type[R]) -> tuple[tuple[R, R], ...]:
    """Return (before, after) for each record of a type that is in both views and differs."""
    before = {record.id: record for record in start.all(kind)}
    pairs = ((before[record.id], record) for record in end.all(kind) if record.id in before)
    return tuple((old, new) for old, new in pairs if old != new)


def without_popups(app: InstalledApp) -> InstalledApp:
    """Return the app without the fields that a pop-up may change."""
    return dataclasses.replace(app, version=0, location=False)


def by_popup(change: RecordChange) -> bool:
    """Return whether a pop-up may have made this change: an app update or a location permission."""
    return bool(change.fields) and change.fields <= BY_POPUP.get(type(change.record), frozenset())


class Template:
    """One kind of task (base class). Subclasses are frozen dataclasses; fields are parameters."""

    name: ClassVar[str]
    family: ClassVar[Family] = "general"
    apps: ClassVar[tuple[str, ...]]
    difficulty: ClassVar[Difficulty]
    phrasings: ClassVar[tuple[str, ...]]
    touches: ClassVar[tuple[type[Any], ...]] = ()
    held_out: ClassVar[bool] = False
    high_stakes: ClassVar[bool] = False  # success depends on what must not happen

    @classmethod
    def draw(cls, rng: random.Random, split: Split) -> Self:
        """Return an instance whose parameters are drawn from the values of that split."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        for _ in range(MAX_DRAWS):
            values = {field.name: domain_of(field).draw(rng, split) for field in fields}
            task = cls(**values)
            if task.sensible():
                return task
        raise ValueError(f"template {cls.name}: no sensible parameters in the split {split}")

    def sensible(self) -> bool:
        """Return whether these parameters make sense together; `draw` rejects them otherwise."""
        return True

    def words(self) -> dict[str, str]:
        """Return the texts for the placeholders of the phrasings, by name."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: domain_of(f).say(getattr(self, f.name)) for f in fields}

    def known_to_user(self) -> dict[str, str]:
        """Return what the simulated user can tell an agent that asks, by parameter name."""
        return self.words()

    def instruction(self, rng: random.Random) -> str:
        return rng.choice(self.phrasings).format(**self.words())

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Put on the phone what the task needs."""

    def missing(self, start: View, end: View) -> str | None:
        """Return what is still missing; None when the task is done."""
        raise NotImplementedError

    def solve(self, start: View) -> Iterable[Move]:
        """Yield the moves of one good solution."""
        raise NotImplementedError

    def verdict(self, start: View, end: View) -> str | None:
        """Return what is missing, or else what was changed besides; None when the task is done."""
        for kind in self.touches:
            if getattr(kind, "SINGLE", False) and len(end.all(kind)) != len(start.all(kind)):
                return f"the phone has its {kind.__name__} once, and now {len(end.all(kind))} times"
        missing = self.missing(start, end)
        return missing if missing else self._collateral(start, end)

    def _collateral(self, start: View, end: View) -> str | None:
        kinds = {*start.facts.kinds(), *end.facts.kinds()} - {*self.touches, Notification}
        counting = [kind for kind in kinds if not getattr(kind, "INCIDENTAL", False)]
        counting.sort(key=lambda kind: str(kind.__name__))
        found = [
            change
            for change in record_changes(start.facts, end.facts, counting)
            if not by_popup(change)
        ]
        if not found:
            return None
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return f"done, but something else was changed as well: {found[0]}{more}"
