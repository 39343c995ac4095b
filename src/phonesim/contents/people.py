"""The people in a phone's address book: the record, and invented people for new phones.

Contacts, Phone, Messages and Mail share these facts. A person's number and address differ between
phones, so that a model cannot memorise them. All names and numbers are invented.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from phonesim.facts import Facts


@dataclass(frozen=True, slots=True)
class Contact:
    """A person in the address book."""

    id: int = 0
    name: str = ""
    phone: str = ""
    email: str = ""
    birthday: tuple[int, int] | None = None  # month, day
    label: str = ""
    favourite: bool = False


LABELS = ("Family", "Friend", "Work", "School", "Sports")
MAIL_HOSTS = ("letterbox.example", "post.example", "quillmail.example", "northmail.example")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
PEOPLE = (
    "Amara Okafor", "Ana Ribeiro", "Andrei Popescu", "Anouk Visser", "Arjun Mehta",
    "Aylin Demir", "Beatriz Castro", "Bjorn Lindqvist", "Camille Laurent", "Chen Wei",
    "Chiara Rossi", "Daniel Kim", "Dario Conti", "Diego Fuentes", "Elena Petrova",
    "Elias Berg", "Emeka Nwosu", "Emma Lindholm", "Farid Haddad", "Fatima Zahra",
    "Felix Brandt", "Freya Olsen", "Gabriel Moreau", "Grace Mwangi", "Hana Sato",
    "Hugo Martins", "Ines Navarro", "Ivan Horvat", "Jakub Nowak", "Jasper de Boer",
    "Jonas Weber", "Kavya Nair", "Kenji Tanaka", "Kofi Mensah", "Lars Eriksen",
    "Layla Mansour", "Leila Rahimi", "Linh Tran", "Lucia Ferrari", "Mai Nguyen",
    "Marek Dvorak", "Maria Kowalska", "Maria Santos", "Mateo Vargas", "Mina Park",
    "Nadia Benali", "Nils Hansen", "Noor Aziz", "Olga Ivanova", "Omar Farouk",
    "Paula Schneider", "Priya Sharma", "Rafael Costa", "Rosa Jimenez", "Samir Khan",
    "Selma Kaya", "Sofia Papadakis", "Sofia Berg", "Tariq Hassan", "Theo Martin",
    "Tomas Novak", "Valentina Cruz", "Yara Haddad", "Yuki Mori",
)  # fmt: skip


def number_for(rng: random.Random) -> str:
    """Return an invented phone number."""
    return f"555 {rng.randrange(1000, 10000)}"


def settle(facts: Facts, name: str, rng: random.Random) -> Contact:
    """Add a contact of that name, with a number that nobody else has."""
    number = number_for(rng)
    while contact_of(facts, number):
        number = number_for(rng)
    mailbox = name.lower().replace(" ", rng.choice((".", "_", "")))
    person = Contact(
        name=name,
        phone=number,
        email=f"{mailbox}@{rng.choice(MAIL_HOSTS)}",
        birthday=(rng.randrange(1, 13), rng.randrange(1, 29)) if rng.random() < 0.7 else None,
        label=rng.choice(("", *LABELS)),
        favourite=rng.random() < 0.2,
    )
    return facts.add(person)


def digits(number: str) -> str:
    """Return a phone number without spaces and dashes."""
    return "".join(character for character in number if character.isdecimal() or character == "+")


def contact_of(facts: Facts, number: str) -> Contact | None:
    """Return the contact with that number."""
    return facts.find(Contact, lambda c: bool(c.phone) and digits(c.phone) == digits(number))


def names_by_number(facts: Facts) -> dict[str, str]:
    """Return the names of all contacts, by the digits of their numbers."""
    return {digits(c.phone): c.name for c in facts.all(Contact) if c.phone}


def caller(names: dict[str, str], number: str) -> str:
    """Return what a list shows for a number: the contact's name, else the number itself.

    Shops and services write under a name instead of a number.
    """
    return names.get(digits(number), number) if digits(number) else number


def by_name(facts: Facts) -> list[Contact]:
    return sorted(facts.all(Contact), key=lambda contact: contact.name.casefold())


def birthday_text(birthday: tuple[int, int]) -> str:
    month, day = birthday
    return f"{day} {MONTHS[month - 1]}"
