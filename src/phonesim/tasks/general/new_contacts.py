"""Tasks that add a contact, from scratch or from Messages."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.conversations import Conversation, Message
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.chats import (
    received,
)
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.people import (
    CONTACT_LABELS,
    HOSTS,
    NEW_NAMES,
    NUMBERS,
    TEXTS,
    address_at,
)
from phonesim.tasks.general.tolerance import same_number, same_text
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View, added


def wrong_contact(start: View, end: View, wanted: Contact) -> str | None:
    wrong = only_added(start, end, Contact)
    if wrong:
        return wrong
    (new,) = added(start, end, Contact)
    if not same_text(new.name, wanted.name):
        return f"the new contact is called {new.name!r}"
    if not same_number(new.phone, wanted.phone):
        return f"the new contact has the number {new.phone!r}"
    if not same_text(new.email, wanted.email):
        return f"the new contact has the address {new.email!r}"
    if new.label != wanted.label:
        return f"the new contact has the label {new.label!r}"
    if new.birthday or new.favourite:
        return "the new contact has something that nobody asked for"
    return None


@dataclass(frozen=True)
class CreateContact(Template):
    name = "contacts.create"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        "Add {person} to my contacts with the number {number}",
        "Create a contact for {person}, phone number {number}",
        "Save {number} in Contacts as {person}",
        "I met {person} today. Please store the number {number} under that name",
    )
    touches = (Contact,)
    person: str = parameter(NEW_NAMES)
    number: str = parameter(NUMBERS)

    def missing(self, start: View, end: View) -> str | None:
        return wrong_contact(start, end, Contact(name=self.person, phone=self.number))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press("New contact", role="button")
        yield Fill("Name", self.person)
        yield Fill("Phone number", self.number)
        yield Press("Save")


@dataclass(frozen=True)
class CreateFullContact(Template):
    name = "contacts.create_full"
    apps = ("Contacts",)
    difficulty = "hard"
    phrasings = (
        "Create a contact for {person} with the number {number} and the email {email}",
        "Add {person} to Contacts: phone {number}, email {email}",
        "Please save a new contact. Name: {person}. Phone: {number}. Email: {email}",
    )
    touches = (Contact,)
    person: str = parameter(NEW_NAMES)
    number: str = parameter(NUMBERS)
    host: str = parameter(HOSTS)

    @property
    def email(self) -> str:
        return address_at(self.person, self.host)

    def words(self) -> dict[str, str]:
        return {"person": self.person, "number": self.number, "email": self.email}

    def missing(self, start: View, end: View) -> str | None:
        wanted = Contact(name=self.person, phone=self.number, email=self.email)
        return wrong_contact(start, end, wanted)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press("New contact", role="button")
        yield Fill("Name", self.person)
        yield Fill("Phone number", self.number)
        yield Fill("Email", self.email)
        yield Press("Save")


@dataclass(frozen=True)
class SaveSender(Template):
    name = "contacts.save_sender"
    apps = ("Messages", "Contacts")
    difficulty = "hard"
    phrasings = (
        'The stranger who wrote "{text}" is {person}. Add a contact with the label "{label}"',
        'The unknown number that texted me "{text}" is {person}. Save it with the label "{label}"',
        'Add the sender of the message "{text}" to Contacts as {person}, label "{label}"',
    )
    touches = (Contact,)
    person: str = parameter(NEW_NAMES)
    text: str = parameter(TEXTS)
    label: str = parameter(CONTACT_LABELS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        received(facts, f"560 {rng.randrange(1000, 10000)}", self.text)

    def _number(self, view: View) -> str:
        message = next(m for m in view.all(Message) if m.text == self.text)
        return view.facts.get(Conversation, message.conversation).number

    def missing(self, start: View, end: View) -> str | None:
        number = self._number(start)
        return wrong_contact(start, end, Contact(0, self.person, number, label=self.label))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self._number(start))
        yield Press("More options")
        yield Press("Add to contacts")
        yield Fill("Name", self.person)
        yield Press(self.label)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    CreateContact,
    CreateFullContact,
    SaveSender,
)
