"""Tasks in the app Notes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from distrl.records import Difficulty
from phonesim.apps.notes import LABELS, Note
from phonesim.facts import Facts
from phonesim.tasks.answers import states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.moves import Fill, Hold, Move, Open, Press, Say
from phonesim.tasks.template import Template, View, added

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
LABEL_NAMES = Domain("note labels", LABELS)
LEAD_INS = (
    "Written down so that I do not lose it again, and to be thrown away at the end of the year",
    "Asked at the front desk, they had it in their big green book right behind the counter",
    "Got it over the phone this morning and could hardly hear it because of all the traffic",
)


def add_note(
    facts: Facts,
    rng: random.Random,
    title: str,
    *,
    unlike: str = "",
    pinned: bool = False,
    archived: bool = False,
) -> None:
    """Add a note with a random text other than `unlike`."""
    text = rng.choice([text for text in TEXTS.train if text != unlike])
    facts.add(Note(title=title, text=text, pinned=pinned, archived=archived))


def note_called(view: View, title: str) -> Note:
    return next(note for note in view.all(Note) if note.title == title)


@dataclass(frozen=True)
class CreateNote(Template):
    name = "notes.create"
    apps = ("Notes",)
    difficulty: ClassVar[Difficulty] = "medium"
    phrasings = (
        'Create a note titled "{title}" with the text "{text}"',
        'In Notes, write a new note "{title}" that says "{text}"',
        'Take a note: the title is "{title}" and the text is "{text}"',
    )
    touches = (Note,)
    title: str = parameter(TITLES)
    text: str = parameter(TEXTS)

    def missing(self, start: View, end: View) -> str | None:
        wanted = {"title": self.title, "text": self.text}
        return only_added(start, end, Note, **wanted, pinned=False, archived=False)

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
        add_note(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, Note, note_called(start, self.title).id)

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
        add_note(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Note, note_called(start, self.title).id, pinned=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Hold(self.title)
        yield Press("Pin")


@dataclass(frozen=True)
class EditNote(Template):
    name = "notes.edit"
    apps = ("Notes",)
    difficulty = "medium"
    phrasings = (
        'Change the text of the note "{title}" to "{text}"',
        'The note "{title}" is out of date: its text should now be "{text}"',
        'In Notes, rewrite "{title}" so that it says only "{text}"',
    )
    touches = (Note,)
    title: str = parameter(TITLES)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_note(facts, rng, self.title, unlike=self.text)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Note, note_called(start, self.title).id, text=self.text)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press(self.title)
        yield Fill("Text", self.text)
        yield Press("Save")


@dataclass(frozen=True)
class UnpinNote(Template):
    name = "notes.unpin"
    apps = ("Notes",)
    difficulty = "easy"
    phrasings = (
        'Unpin the note "{title}"',
        'The note "{title}" need not stay at the top any more. Unpin it',
        'In Notes, take the pin off "{title}"',
    )
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_note(facts, rng, self.title, pinned=True)
        add_note(facts, rng, "Door code", pinned=True)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Note, note_called(start, self.title).id, pinned=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Hold(self.title)
        yield Press("Unpin")


@dataclass(frozen=True)
class CopyNote(Template):
    name = "notes.copy"
    apps = ("Notes",)
    difficulty = "easy"
    phrasings = (
        'Make a copy of the note "{title}"',
        'Duplicate my note "{title}" in Notes',
        'I would like a second copy of the note "{title}"',
    )
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_note(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        note = note_called(start, self.title)
        new = added(start, end, Note)
        if new and not new[0].title.startswith(self.title):
            return f"the new note is titled {new[0].title!r}"
        return only_added(start, end, Note, text=note.text)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Hold(self.title)
        yield Press("Make a copy")


@dataclass(frozen=True)
class LabelNote(Template):
    name = "notes.label"
    apps = ("Notes",)
    difficulty = "medium"
    phrasings = (
        'Give the note "{title}" the label {label}',
        'Label my note "{title}" as {label}',
        'In Notes, file "{title}" under the label {label}',
    )
    touches = (Note,)
    title: str = parameter(TITLES)
    label: str = parameter(LABEL_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_note(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Note, note_called(start, self.title).id, label=self.label)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Hold(self.title)
        yield Press("Change label")
        yield Press(self.label)


@dataclass(frozen=True)
class BringBackNote(Template):
    name = "notes.unarchive"
    apps = ("Notes",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        'Bring the note "{title}" back from the archive',
        'I archived the note "{title}" by mistake. Unarchive it',
        'Move "{title}" out of the archive in Notes',
    )
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_note(facts, rng, self.title, archived=True)

    def missing(self, start: View, end: View) -> str | None:
        return only_changed(start, end, Note, note_called(start, self.title).id, archived=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press("Archived notes")
        yield Hold(self.title)
        yield Press("Unarchive")


@dataclass(frozen=True)
class WhatDoesItSay(Template):
    name = "notes.ask"
    apps = ("Notes",)
    difficulty = "easy"
    phrasings = (
        'Which code is written down in my note "{title}"?',
        'Look up the code in the note "{title}" and tell me',
        'What is the code that I kept in the note "{title}"?',
    )
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for title in (self.title, "Door code", "Locker"):
            code = rng.randrange(1000, 10_000)
            text = f"{rng.choice(LEAD_INS)}. The code is {code}."
            facts.add(Note(title=title, text=text))

    def _code(self, view: View) -> int:
        return int(note_called(view, self.title).text[-5:-1])

    def missing(self, start: View, end: View) -> str | None:
        code = self._code(start)
        right = states_number(end.answer, code)
        return None if right else f"the answer should be {code}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press(self.title)
        yield Say(f"The code is {self._code(start)}")


@dataclass(frozen=True)
class CreateLabelledNote(CreateNote):
    name = "notes.create_labelled"
    difficulty = "hard"
    phrasings = (
        'Write a note "{title}" that says "{text}", and give it the label {label}',
        'Create a note titled "{title}" with the text "{text}" and label it {label}',
        'Note this down under the label {label}: "{title}" as the title, "{text}" as the text',
    )
    label: str = parameter(LABEL_NAMES)

    def missing(self, start: View, end: View) -> str | None:
        wanted = {"title": self.title, "text": self.text, "label": self.label}
        return only_added(start, end, Note, **wanted, pinned=False, archived=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield from super().solve(start)
        yield Hold(self.title)
        yield Press("Change label")
        yield Press(self.label)


TEMPLATES: tuple[type[Template], ...] = (
    CreateNote, DeleteNote, PinNote, EditNote, UnpinNote, CopyNote, LabelNote, BringBackNote,
    WhatDoesItSay, CreateLabelledNote,
)  # fmt: skip
