"""Questions that the address book answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from phonesim.contents.people import Contact, birthday_text
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.days import states_date
from phonesim.tasks.general.people import (
    NAMES,
    NUMBERS,
    answers_number,
    contact_named,
    known,
)
from phonesim.tasks.moves import Fill, Move, Open, Press, Say
from phonesim.tasks.template import Template, View

LEAP_YEAR = 2024  # birthdays have no year


@dataclass(frozen=True)
class AskNumber(Template):
    name = "contacts.ask_number"
    apps = ("Contacts",)
    difficulty = "easy"
    phrasings = (
        "What is the phone number of {person}?",
        "Tell me {person}'s number",
        "I need to know the number of {person}",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        number = contact_named(start, self.person).phone
        return None if answers_number(end.answer, number) else f"the number is {number}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Say(contact_named(start, self.person).phone)


@dataclass(frozen=True)
class AskEmail(Template):
    name = "contacts.ask_email"
    apps = ("Contacts",)
    difficulty = "easy"
    phrasings = (
        "What is {person}'s email address?",
        "Under which email address can I reach {person}?",
        "Look up the email of {person}",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        email = contact_named(start, self.person).email
        others = [contact.email for contact in start.all(Contact)]
        return None if mentions(end.answer, email, others) else f"the address is {email}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Say(contact_named(start, self.person).email)


@dataclass(frozen=True)
class AskBirthday(Template):
    name = "contacts.ask_birthday"
    apps = ("Contacts",)
    difficulty = "easy"
    held_out = True
    phrasings = (
        "When is {person}'s birthday?",
        "On which day was {person} born?",
        "Look up the birthday of {person}",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng, birthday=(rng.randrange(1, 13), rng.randrange(1, 29)))

    def missing(self, start: View, end: View) -> str | None:
        birthday = contact_named(start, self.person).birthday
        assert birthday is not None  # prepared
        right = states_date(end.answer, date(LEAP_YEAR, *birthday))
        return None if right else f"the birthday is {birthday_text(birthday)}"

    def solve(self, start: View) -> Iterable[Move]:
        birthday = contact_named(start, self.person).birthday
        yield Open("Contacts")
        yield Press(self.person)
        yield Say(birthday_text(birthday) if birthday else "")


@dataclass(frozen=True)
class AskOwner(Template):
    name = "contacts.ask_owner"
    apps = ("Contacts",)
    difficulty = "easy"
    phrasings = (
        "Whose phone number is {number}?",
        "Which of my contacts has the number {number}?",
        "Find out who {number} belongs to",
    )
    number: str = parameter(NUMBERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(rng.choice(facts.all(Contact)), phone=self.number)

    def _owner(self, view: View) -> Contact:
        return next(contact for contact in view.all(Contact) if contact.phone == self.number)

    def missing(self, start: View, end: View) -> str | None:
        owner = self._owner(start).name
        others = [contact.name for contact in start.all(Contact)]
        return None if mentions(end.answer, owner, others) else f"it belongs to {owner}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Fill("Search contacts", self.number)
        yield Say(self._owner(start).name)


TEMPLATES: tuple[type[Template], ...] = (
    AskNumber,
    AskEmail,
    AskBirthday,
    AskOwner,
)
