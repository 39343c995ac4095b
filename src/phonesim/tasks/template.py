"""What a task template is: words for the instruction, a start, a goal, and a scripted solution.

A template is a frozen dataclass whose fields are drawn from domains; one instance is one task:

    @dataclass(frozen=True)
    class CreateNote(Template):
        name = "notes.create"
        apps = ("Notes",)
        difficulty = "medium"
        phrasings = ("Create a note called {title}", "Add a note with the title {title}")
        touches = (Note,)
        title: str = parameter(NOTE_TITLES)

`prepare` puts on the phone what the task needs (and takes away what would make it done already).
`missing` compares the phone before and after and says what is still missing; None means done. It
reads facts only: no path has to be followed. What the task does not list in `touches` must be as
it was, so that nothing can be done by breaking something else. `solve` gives one good way.
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
    """What a judge sees of a phone: its facts, and which page of which app is in front."""

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
    """The phone as it is now, frozen. The shade or the recent apps hide the page below them."""
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
    """Records of a kind that were not there before."""
    before = {record.id for record in start.all(kind)}
    return tuple(record for record in end.all(kind) if record.id not in before)


def removed(start: View, end: View, kind: type[R]) -> tuple[R, ...]:
    """Records of a kind that are gone."""
    after = {record.id for record in end.all(kind)}
    return tuple(record for record in start.all(kind) if record.id not in after)


def changed(start: View, end: View, kind: type[R]) -> tuple[tuple[R, R], ...]:
    """Records of a kind that are there still but different: (before, after)."""
    before = {record.id: record for record in start.all(kind)}
    pairs = ((before[record.id], record) for record in end.all(kind) if record.id in before)
    return tuple((old, new) for old, new in pairs if old != new)


def without_popups(app: InstalledApp) -> InstalledApp:
    """The app apart from what an uninvited dialog may change."""
    return dataclasses.replace(app, version=0, location=False)


def by_popup(change: RecordChange) -> bool:
    """Whether an uninvited dialog may have done it: an update of an app, a permission."""
    return bool(change.fields) and change.fields <= BY_POPUP.get(type(change.record), frozenset())


class Template:
    """One kind of task. Subclasses are frozen dataclasses whose fields are parameters."""

    name: ClassVar[str]
    family: ClassVar[Family] = "general"
    apps: ClassVar[tuple[str, ...]]
    difficulty: ClassVar[Difficulty]
    phrasings: ClassVar[tuple[str, ...]]
    touches: ClassVar[tuple[type[Any], ...]] = ()
    held_out: ClassVar[bool] = False
    high_stakes: ClassVar[bool] = False  # judged above all for what must not happen

    @classmethod
    def draw(cls, rng: random.Random, split: Split) -> Self:
        """An instance with parameters of that split."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        for _ in range(MAX_DRAWS):
            values = {field.name: domain_of(field).draw(rng, split) for field in fields}
            task = cls(**values)
            if task.sensible():
                return task
        raise ValueError(f"template {cls.name}: no sensible parameters in the split {split}")

    def sensible(self) -> bool:
        """May these parameters stand together?"""
        return True

    def words(self) -> dict[str, str]:
        """What stands in the braces of the phrasings."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: domain_of(f).say(getattr(self, f.name)) for f in fields}

    def known_to_user(self) -> dict[str, str]:
        """What the user can tell who asks, by name: what the instruction is about."""
        return self.words()

    def instruction(self, rng: random.Random) -> str:
        return rng.choice(self.phrasings).format(**self.words())

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Put on the phone what the task needs."""

    def missing(self, start: View, end: View) -> str | None:
        """What is still missing; None when the task is done."""
        raise NotImplementedError

    def solve(self, start: View) -> Iterable[Move]:
        """The moves of one good way to do it."""
        raise NotImplementedError

    def verdict(self, start: View, end: View) -> str | None:
        """`missing`, and then whether anything else was changed on the way."""
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
