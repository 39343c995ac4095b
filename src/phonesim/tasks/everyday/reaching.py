"""Acts that contact or follow a person: the one that was found, or one that is named."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.notes import Note
from phonesim.contents.calls import Call
from phonesim.contents.everyday.posts import Following
from phonesim.contents.everyday.threads import ChatMessage, ChatThread
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.parts import Act, Value
from phonesim.tasks.everyday.put import (
    open_chat,
    put_chat,
    wrong_chat,
)
from phonesim.tasks.general.calls import not_called
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.notes import TITLES
from phonesim.tasks.general.people import NAMES, TEXTS, contact_named, known
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import View


@dataclass(frozen=True)
class WriteThem(Act):
    app, steps, takes = "Chat", 6, ("person",)
    orders = ('write "{text}" to {it} in Chat', 'send {it} "{text}" in Chat')
    touches = (ChatMessage, ChatThread)
    text: str = parameter(TEXTS)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_chat(start, end, str(value))
        if isinstance(new, str):
            return new
        return None if same_text(new.text, self.text) else f"the message says {new.text!r}"

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield from open_chat(start, str(value))
        yield Fill("Message", self.text)
        yield Press("Send", role="button")


@dataclass(frozen=True)
class FollowThem(Act):
    app, steps, takes = "Feed", 5, ("person",)
    orders = ("follow {it} in Feed", "see to it that I follow {it} in Feed")
    touches = (Following,)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Following, lambda each: True)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, Following, person=str(value))

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Feed")
        yield Press("Search", role="button")
        yield Fill("Search Feed", str(value))
        yield Press(str(value), role="row")
        yield Press("Follow", role="button")


@dataclass(frozen=True)
class CallThem(Act):
    app, steps, takes = "Phone", 3, ("person",)
    orders = ("call {it}", "give {it} a ring")
    touches = (Call,)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_called(start, end, contact_named(start, str(value)).phone)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {value}")


@dataclass(frozen=True)
class SayInChat(Act):
    app, steps = "Chat", 5
    orders = ('write "{text}" to {recipient} in Chat', 'tell {recipient} "{text}" in Chat')
    touches = (ChatMessage, ChatThread)
    recipient: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_chat(facts, rng, self.recipient)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        new = wrong_chat(start, end, self.recipient)
        if isinstance(new, str):
            return new
        return None if same_text(new.text, self.text) else f"the message says {new.text!r}"

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield from open_chat(start, self.recipient)
        yield Fill("Message", self.text)
        yield Press("Send", role="button")


@dataclass(frozen=True)
class NoteThat(Act):
    app, steps = "Notes", 4
    orders = ('make a note called "{title}"', 'add a note with the title "{title}"')
    touches = (Note,)
    title: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Note, lambda note: note.title == self.title)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, Note, title=self.title)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.title)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class CallPerson(Act):
    app, steps = "Phone", 3
    orders = ("call {callee}", "give {callee} a ring")
    touches = (Call,)
    callee: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.callee, rng)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return not_called(start, end, contact_named(start, self.callee).phone)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {self.callee}")
