"""Helpers for tasks about people: domains of names, numbers and texts, and adding contacts."""

from __future__ import annotations

import random
from typing import Any

from phonesim.contents.people import (
    LABELS,
    PEOPLE,
    Contact,
    birthday_text,
    digits,
    settle,
)
from phonesim.facts import Facts
from phonesim.tasks.answers import MAX_WORDS
from phonesim.tasks.domains import Domain
from phonesim.tasks.template import View

NAMES = Domain("people", PEOPLE)
NEW_NAMES = Domain(
    "new people",
    (
        "Adele Fontaine", "Bruno Keller", "Carla Mendes", "Dmitri Volkov", "Esther Cohen",
        "Finn Gallagher", "Greta Holm", "Hamid Karimi", "Isla Murray", "Jorge Pinto",
        "Katya Orlova", "Liam Byrne", "Meera Iyer", "Nora Jensen", "Oskar Wolf",
        "Petra Svoboda", "Quentin Roux", "Rina Goldberg", "Stella Ricci", "Umut Yilmaz",
        "Vera Lang", "Wanda Zielinska", "Xavier Duval", "Zane Carter",
    ),
)  # fmt: skip
NUMBERS = Domain(
    "phone numbers",
    (
        "557 0142", "557 2098", "557 3371", "557 4485", "557 5016", "557 6627", "557 7153",
        "557 8840", "557 9264", "558 0379", "558 1432", "558 2516", "558 3608", "558 4297",
        "558 5861", "558 6045", "558 7734", "558 8120", "558 9953", "559 0268", "559 1687",
        "559 2401", "559 3745", "559 4932",
    ),
)  # fmt: skip
HOSTS = Domain(
    "mail hosts",
    (
        "bluehill.example", "cedarpost.example", "driftmail.example", "elmstreet.example",
        "foxglove.example", "granite.example", "hazelbox.example", "inkwell.example",
        "larkpost.example", "mistral.example", "orchard.example", "paperboat.example",
    ),
)  # fmt: skip
CONTACT_LABELS = Domain("contact labels", LABELS)
BIRTHDAYS = Domain(
    "birthdays",
    (
        (1, 9), (1, 27), (2, 3), (2, 18), (3, 14), (3, 30), (4, 6), (4, 21), (5, 2), (5, 17),
        (6, 11), (6, 25), (7, 8), (7, 29), (8, 4), (8, 16), (9, 1), (9, 23), (10, 12), (10, 28),
        (11, 5), (11, 19), (12, 10), (12, 22),
    ),
    say=birthday_text,
)  # fmt: skip
TEXTS = Domain(
    "message texts",
    (
        "I am on my way", "Running ten minutes late", "Can we meet at noon?", "Dinner is ready",
        "See you at the station", "The door code has changed", "Please bring the blue folder",
        "I found the missing key", "Let us talk tomorrow", "Thanks for the lovely evening",
        "The tickets are booked", "I will call you tonight", "Could you buy some bread?",
        "The meeting starts at nine", "Happy to help", "We won the match", "It is snowing here",
        "I left the parcel next door", "Count me in for Saturday", "Do not forget the cake",
        "The train is delayed", "Your plants look great", "I have a surprise for you",
        "Good luck with the exam",
    ),
)  # fmt: skip


def known(facts: Facts, name: str, rng: random.Random, **fields: Any) -> Contact:
    """Return the contact of that name with these fields set; add one if there is none."""
    contact = facts.find(Contact, lambda c: c.name == name) or settle(facts, name, rng)
    facts.edit(contact, **fields)
    return facts.get(Contact, contact.id)


def contact_named(view: View, name: str) -> Contact:
    return next(contact for contact in view.all(Contact) if contact.name == name)


def address_at(name: str, host: str) -> str:
    return f"{name.lower().replace(' ', '.')}@{host}"


def answers_number(answer: str | None, number: str) -> bool:
    """Return whether the answer has the digits of this phone number and no others."""
    if answer is None or len(answer.split()) > MAX_WORDS:
        return False
    return digits(answer).lstrip("+") == digits(number)
