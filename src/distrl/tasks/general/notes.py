"""Tasks in the app Notes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from distrl.devices.simulated.apps.notes import Note
from distrl.devices.simulated.facts import Facts
from distrl.tasks.domains import Domain, parameter
from distrl.tasks.moves import Fill, Hold, Move, Open, Press
from distrl.tasks.template import Template, View, added, changed, differing_fields, removed

TITLES = Domain(
    "note titles",
    (
        "Packing list", "Birthday plans", "Workout", "Film ideas", "Passwords hint", "Dentist",
        "House rules", "Paint colours", "Trip to Lisbon", "Guest list", "Car papers", "Dream",
        "Cat food", "Choir songs", "Weekend", "Bike repair", "Soup recipe", "Tax notes",
        "Plant care", "Quotes",
    ),
)  # fmt: skip
TEXTS = Domain(
    "note texts",
    (
        "Ask Maria first", "Bring two towels", "Call before noon", "Start with the big one",
        "Not before Friday", "Half a kilo", "Room 214", "Blue, not green", "Six people",
        "Check the back tyre", "Three cups of rice", "Leave at seven",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class CreateNote(Template):
    name = "notes.create"
    apps = ("Notes",)
    difficulty = "medium"
    phrasings = (
        'Create a note titled "{title}" with the text "{text}"',
        'In Notes, write a new note "{title}" that says "{text}"',
        'Take a note: the title is "{title}" and the text is "{text}"',
    )
    touches = (Note,)
    title: str = parameter(TITLES)
    text: str = parameter(TEXTS)

    def missing(self, start: View, end: View) -> str | None:
        new = added(start, end, Note)
        if len(new) != 1 or removed(start, end, Note) or changed(start, end, Note):
            return f"expected one new note and the others as they were; there are {len(new)} new"
        if new[0].title != self.title:
            return f"the new note is titled {new[0].title!r}, not {self.title!r}"
        return None if new[0].text == self.text else f"the new note says {new[0].text!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.title)
        yield Fill("Text", self.text)
        yield Press("Save")


@dataclass(frozen=True)
class DeleteNote(Template):
    name = "notes.delete"
    apps = ("Notes",)
    difficulty = "medium"
    phrasings = (
        'Delete the note "{title}"',
        'Remove the note called "{title}" from Notes',
        'I no longer need my note "{title}". Delete it',
    )
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(Note(title=self.title, text=rng.choice(TEXTS.train)))

    def missing(self, start: View, end: View) -> str | None:
        gone = removed(start, end, Note)
        if [note.title for note in gone] != [self.title]:
            return f"expected only {self.title!r} to be deleted; deleted: {[n.title for n in gone]}"
        if added(start, end, Note) or changed(start, end, Note):
            return "another note was changed"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press(self.title)
        yield Press("Delete")
        yield Press("Delete")


@dataclass(frozen=True)
class PinNote(Template):
    name = "notes.pin"
    apps = ("Notes",)
    difficulty = "easy"
    phrasings = (
        'Pin the note "{title}"',
        'Keep my note "{title}" at the top of the list',
        'Pin "{title}" in Notes',
    )
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(Note(title=self.title, text=rng.choice(TEXTS.train)))

    def missing(self, start: View, end: View) -> str | None:
        if added(start, end, Note) or removed(start, end, Note):
            return "a note was added or deleted"
        for old, new in changed(start, end, Note):
            if old.title != self.title or differing_fields(old, new) != {"pinned"}:
                return f"another note was changed: {old.title!r}"
            return None
        return f"the note {self.title!r} is not pinned"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Hold(self.title)
        yield Press("Pin")


TEMPLATES: tuple[type[Template], ...] = (CreateNote, DeleteNote, PinNote)
