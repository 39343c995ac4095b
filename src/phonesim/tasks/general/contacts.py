"""Tasks in the app Contacts about existing contacts."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.people import Contact
from phonesim.contents.timestamps import MONTHS
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.differences import only_changed, only_removed
from phonesim.tasks.general.people import (
    BIRTHDAYS,
    CONTACT_LABELS,
    HOSTS,
    NAMES,
    NEW_NAMES,
    NUMBERS,
    address_at,
    contact_named,
    known,
)
from phonesim.tasks.general.tolerance import as_good_as, same_number, same_text
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class ChangeNumber(Template):
    name = "contacts.change_number"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        "Change the phone number of {person} to {number}",
        "{person} has a new number: {number}. Update the contact",
        "In Contacts, set {person}'s number to {number}",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)
    number: str = parameter(NUMBERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        number = as_good_as(self.number, end, person, "phone", same_number)
        return only_changed(start, end, Contact, person.id, phone=number)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Edit contact")
        yield Fill("Phone number", self.number)
        yield Press("Save")


@dataclass(frozen=True)
class ChangeEmail(Template):
    name = "contacts.change_email"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        "Change {person}'s email address to {email}",
        "{person} can now be reached at {email}. Please correct the contact",
        "Update the email of {person} in Contacts: it is {email} now",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)
    host: str = parameter(HOSTS)

    @property
    def email(self) -> str:
        return address_at(self.person, self.host)

    def words(self) -> dict[str, str]:
        return {"person": self.person, "email": self.email}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        email = as_good_as(self.email, end, person, "email", same_text)
        return only_changed(start, end, Contact, person.id, email=email)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Edit contact")
        yield Fill("Email", self.email)
        yield Press("Save")


@dataclass(frozen=True)
class RenameContact(Template):
    name = "contacts.rename"
    apps = ("Contacts",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Rename the contact {person} to {new_name}",
        "{person} is called {new_name} now. Change the name in Contacts",
        "The contact {person} should be named {new_name}",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)
    new_name: str = parameter(NEW_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        new_name = as_good_as(self.new_name, end, person, "name", same_text)
        return only_changed(start, end, Contact, person.id, name=new_name)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Edit contact")
        yield Fill("Name", self.new_name)
        yield Press("Save")


@dataclass(frozen=True)
class DeleteContact(Template):
    name = "contacts.delete"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        "Delete the contact {person}",
        "Remove {person} from my contacts",
        "I no longer need {person} in my address book. Please delete the entry",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, Contact, contact_named(start, self.person).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Delete contact")
        yield Press("Delete")


@dataclass(frozen=True)
class AddFavourite(Template):
    name = "contacts.favourite"
    apps = ("Contacts",)
    difficulty = "easy"
    phrasings = (
        "Make {person} a favourite",
        "Add {person} to my favourite contacts",
        "Put a star on the contact {person}",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng, favourite=False)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        return only_changed(start, end, Contact, person.id, favourite=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Add to favourites")


@dataclass(frozen=True)
class RemoveFavourite(Template):
    name = "contacts.unfavourite"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        "Take {person} off my favourite contacts",
        "{person} should not be a favourite any more",
        "Remove the star from the contact {person}",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng, favourite=True)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        return only_changed(start, end, Contact, person.id, favourite=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press("Favourites", role="tab")
        yield Press(self.person)
        yield Press("Remove from favourites")


@dataclass(frozen=True)
class AddBirthday(Template):
    name = "contacts.birthday"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        "{person} was born on {birthday}. Add the birthday to the contact",
        "Set the birthday of {person} in Contacts to {birthday}",
        "Note in Contacts that {person} has a birthday on {birthday}",
    )
    touches = (Contact,)
    person: str = parameter(NAMES)
    birthday: tuple[int, int] = parameter(BIRTHDAYS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng, birthday=None)

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        return only_changed(start, end, Contact, person.id, birthday=self.birthday)

    def solve(self, start: View) -> Iterable[Move]:
        month, day = self.birthday
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Add birthday")
        yield Press(MONTHS[month - 1])
        yield Press(str(day))


@dataclass(frozen=True)
class SetLabel(Template):
    name = "contacts.label"
    apps = ("Contacts",)
    difficulty = "medium"
    phrasings = (
        'Give the contact {person} the label "{label}"',
        'Label {person} as "{label}" in Contacts',
        'File {person} under "{label}" in my address book',
    )
    touches = (Contact,)
    person: str = parameter(NAMES)
    label: str = parameter(CONTACT_LABELS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        others = [label for label in ("", *CONTACT_LABELS.train) if label != self.label]
        known(facts, self.person, rng, label=rng.choice(others))

    def missing(self, start: View, end: View) -> str | None:
        person = contact_named(start, self.person)
        return only_changed(start, end, Contact, person.id, label=self.label)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person)
        yield Press("Edit contact")
        yield Press(self.label)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    ChangeNumber,
    ChangeEmail,
    RenameContact,
    DeleteContact,
    AddFavourite,
    RemoveFavourite,
    AddBirthday,
    SetLabel,
)
