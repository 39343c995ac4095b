"""Money on the phone: the account, its transfers, bills, cards, savings, tickets.

Amounts are whole cents. `pay` is the only way money leaves the account, whichever app asks for it,
so a judge that compares the balance with the transfers sees every payment.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from phonesim.contents.people import Contact
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts
from phonesim.languages.language import Language

MAX_CENTS = 10_000_00  # the largest single payment
TYPED = re.compile(
    r"(\d{1,6}|\d{1,3}(?:,\d{3})+(?=\.|$)|\d{1,3}(?:\.\d{3})+(?=,))(?:[.,](\d{1,2}))?"
)


@dataclass(frozen=True, slots=True)
class Account:
    """The account. There is one record. `code_seed` determines its confirmation codes."""

    id: int = 0
    balance_cents: int = 0
    number: str = ""
    code_seed: int = 0


@dataclass(frozen=True, slots=True)
class Transfer:
    """Money that left the account or, if the amount is negative, came in."""

    id: int = 0
    person: str = ""  # a person or a company
    cents: int = 0
    note: str = ""
    time: datetime = LONG_AGO
    reported: bool = False


@dataclass(frozen=True, slots=True)
class MoneyRequest:
    """Money that somebody requests from the user or, with `ours`, the other way round."""

    id: int = 0
    person: str = ""
    cents: int = 0
    note: str = ""
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Bill:
    """An amount to pay by a due day."""

    id: int = 0
    company: str = ""
    cents: int = 0
    due: date = date(2026, 1, 1)
    reference: str = ""
    paid: bool = False
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class PaymentCard:
    """A payment card of the account."""

    id: int = 0
    name: str = ""
    digits: str = ""
    frozen: bool = False
    limit_cents: int = 500_00
    online: bool = True


@dataclass(frozen=True, slots=True)
class SavingsPot:
    """Money set aside for a goal."""

    id: int = 0
    name: str = ""
    cents: int = 0
    goal_cents: int = 0


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket or membership to show at an entrance."""

    id: int = 0
    title: str = ""
    detail: str = ""
    code: str = ""
    day: date = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class SavedPayee:
    """A payee who is not in the address book."""

    id: int = 0
    name: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class WalletSettings:
    """The wallet's settings. There is one record."""

    id: int = 0
    code_above_cents: int = 50_00  # payments above this need a confirmation code
    hide_balance: bool = False
    payment_alerts: bool = True
    monthly_report: bool = True
    round_up: bool = False
    contactless: bool = True
    share_activity: bool = False


CARDS = ("Everyday", "Travel", "Online only", "Household", "Spare")
POTS = ("Holiday", "New bike", "Rainy days", "Gifts", "Sofa", "Camera")
BILLERS = (
    "Lumen Electric", "Nimbus Internet", "Juniper Housing", "Cobalt Telecom", "Heron Insurance",
    "Meadow Energy", "Oakroot Library", "Northgate Dental", "Brookside Water", "Harbour Rowing",
)  # fmt: skip
REASONS = (
    "Pizza night", "Cinema", "Birthday gift", "Train ticket", "Concert", "Groceries", "Rent share",
    "Coffee", "Taxi", "Flowers", "Lunch", "Football",
)  # fmt: skip
MEMBERSHIPS = (
    ("City library", "Reader since spring"), ("Harbour pool", "Ten visits"),
    ("Mosaic Museum", "Friends of the museum"), ("Climbing hall", "Day pass"),
    ("Lantern Cinema", "Two seats, row F"),
)  # fmt: skip


def money(cents: int, language: Language | None = None) -> str:
    """Format an amount as every app shows it: $1,312.50, or in the format of the language."""
    if language is not None and language.name != "English":
        return language.money(cents / 100, "$")
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02}"


def plain_money(cents: int) -> str:
    """Format an amount as instructions do, without a thousands separator: $1312.50."""
    return money(cents).replace(",", "")


def cents_of(text: str) -> int | None:
    """Parse a typed amount; return None if it is not a payable amount.

    1312.50, 1,312.50 and 1.312,50 are the same; 12.345 is rejected as ambiguous.
    """
    found = TYPED.fullmatch(text.strip().removeprefix("$").lstrip())
    if not found:
        return None
    whole = re.sub(r"\D", "", found[1])
    cents = int(whole) * 100 + int((found[2] or "0").ljust(2, "0"))
    return cents if 0 < cents <= MAX_CENTS else None


def confirmation_code(account: Account, person: str, cents: int) -> str:
    """Return the code for a payment, a hash: the same payment always has the same code."""
    named = f"{account.code_seed}/{person}/{cents}".encode()
    return f"{int.from_bytes(hashlib.blake2b(named, digest_size=4).digest(), 'big') % 9000 + 1000}"


def can_pay(facts: Facts, cents: int) -> bool:
    return cents <= facts.one(Account).balance_cents


def pay(facts: Facts, person: str, cents: int, note: str, now: datetime) -> Transfer:
    """Subtract an amount from the account and record the transfer."""
    account = facts.one(Account)
    facts.edit(account, balance_cents=account.balance_cents - cents)
    return facts.add(Transfer(person=person, cents=cents, note=note, time=now))


def furnish_money(facts: Facts, rng: random.Random, now: datetime) -> None:
    """Add an account in use: weeks of payments, open bills, cards, savings, tickets."""
    number = " ".join(str(rng.randrange(1000, 10000)) for _ in range(3))
    facts.add(Account(0, rng.randrange(1400_00, 3900_00), number, rng.randrange(10**6)))
    facts.add(WalletSettings())
    people = rng.sample([contact.name for contact in facts.all(Contact)], 7)
    time = now
    for person in people:
        time -= timedelta(minutes=rng.randrange(200, 3000))
        cents = rng.randrange(4_00, 90_00, 50) * rng.choice((1, 1, -1))
        facts.add(Transfer(0, person, cents, rng.choice(REASONS), time))
    for person in rng.sample(people, 2):
        facts.add(MoneyRequest(0, person, rng.randrange(5_00, 45_00, 50), rng.choice(REASONS)))
    _furnish_bills(facts, rng, now.date())
    for name in rng.sample(CARDS, 3):
        limit = rng.choice((300_00, 500_00, 1000_00))
        facts.add(PaymentCard(0, name, str(rng.randrange(1000, 10000)), False, limit))
    for name in rng.sample(POTS, 3):
        goal = rng.randrange(200_00, 1500_00, 50_00)
        facts.add(SavingsPot(0, name, rng.randrange(20_00, goal, 5_00), goal))
    for title, detail in rng.sample(MEMBERSHIPS, 3):
        day = now.date() + timedelta(days=rng.randrange(3, 200))
        facts.add(Ticket(0, title, detail, ticket_code(rng), day))


def _furnish_bills(facts: Facts, rng: random.Random, today: date) -> None:
    for place, company in enumerate(rng.sample(BILLERS, 6)):
        due = today + timedelta(days=rng.randrange(2, 26) - (0 if place < 4 else 40))
        facts.add(Bill(0, company, rng.randrange(9_00, 48_00, 5), due, reference(rng), place > 3))


def reference(rng: random.Random) -> str:
    return f"{rng.choice('ABCDEFGH')}{rng.randrange(10000, 100000)}"


def ticket_code(rng: random.Random) -> str:
    letters = "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(3))
    return f"{letters}{rng.randrange(100, 1000)}"
