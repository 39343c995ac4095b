"""Lookups of a value about a person, place, city or company, and sources that give those."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from phonesim.apps.mail import Mail
from phonesim.apps.weather import WeatherSettings
from phonesim.contents.everyday.money import Transfer
from phonesim.contents.forecasts import degrees
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.everyday_sources import CITIES, ChatPlace
from phonesim.tasks.everyday.parts import Cents, Gives, PhoneNumber, Source, Value
from phonesim.tasks.everyday.put import (
    COMPANIES,
    bill_of,
    chatted,
    not_from,
    put_bill,
    running,
    search_trips,
)
from phonesim.tasks.everyday.sources import LEAP_YEAR, SHOPS
from phonesim.tasks.everyday.two_hops import Lookup
from phonesim.tasks.general import weather
from phonesim.tasks.general.days import DAYS, SaidDay
from phonesim.tasks.general.mailbox import company_address, delivered
from phonesim.tasks.general.maps import open_place, place_of
from phonesim.tasks.general.people import BIRTHDAYS, NAMES, contact_named, known
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal
from phonesim.tasks.template import View

REMINDERS = Domain(
    "reminders",
    (
        "Payment reminder", "Your bill is still open", "Please do not forget us", "Last reminder",
        "A friendly reminder", "Waiting for your payment",
    ),
)  # fmt: skip


# Sources ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MailedPlace(Source):
    app, steps = "Mail", 1
    gives: ClassVar[Gives] = "place"
    nouns = (
        "the place where {sender} wants to meet according to their mail",
        "the place that {sender} proposed by mail",
    )
    sender: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        self._write(facts, rng, "Let us meet", f"I would like to meet at {rng.choice(SHOPS.train)}")

    def _write(self, facts: Facts, rng: random.Random, subject: str, body: str) -> None:
        person = known(facts, self.sender, rng)
        facts.remove_where(Mail, lambda mail: mail.sender == self.sender)
        delivered(facts, rng, subject, sender=self.sender, address=person.email, body=body)

    def value(self, view: View) -> Value:
        mail = next(m for m in view.all(Mail) if m.sender == self.sender)
        return mail.body.removeprefix("I would like to meet at ")

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.sender, role="row")


@dataclass(frozen=True)
class MailedCity(MailedPlace):
    gives = "city"
    nouns = (
        "the city that {sender} wants to visit according to their mail",
        "the city that {sender} wrote about by mail",
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        city = rng.choice(CITIES.train)
        not_from(facts, city)
        self._write(facts, rng, "A weekend away", f"All my life I have wanted to see {city}")

    def value(self, view: View) -> Value:
        mail = next(m for m in view.all(Mail) if m.sender == self.sender)
        return mail.body.removeprefix("All my life I have wanted to see ")


@dataclass(frozen=True)
class ReminderSender(Source):
    app, steps = "Mail", 1
    gives: ClassVar[Gives] = "company"
    nouns = (
        'the company that sent me the mail "{reminder}"',
        'the sender of the mail with the subject "{reminder}"',
    )
    reminder: str = parameter(REMINDERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        company = rng.choice(COMPANIES.train)
        facts.remove_where(Mail, lambda mail: mail.sender == company)
        body = "Dear customer,\n\nplease look at your bills. We are waiting for your payment."
        address = company_address(company)
        delivered(facts, rng, self.reminder, sender=company, address=address, body=body)

    def value(self, view: View) -> Value:
        return next(mail.sender for mail in view.all(Mail) if mail.subject == self.reminder)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(str(self.value(start)), role="row")


@dataclass(frozen=True)
class ChatShop(ChatPlace):
    gives = "place"
    nouns = (
        "the shop or restaurant from {friend}'s message in Chat",
        "the shop or restaurant that {friend} proposed in Chat",
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.friend, f"Let us try {rng.choice(SHOPS.train)}")

    def value(self, view: View) -> Value:
        return self.said(view).removeprefix("Let us try ")


# Lookups ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddressThere(Lookup):
    app, steps = "Maps", 3
    takes: ClassVar[Gives] = "place"
    gives: ClassVar[Gives] = "words"
    nouns = ("the address of that place in Maps", "the address that Maps has for that place")

    def value(self, view: View, found: Value) -> Value:
        return place_of(view, str(found)).address

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        return open_place(str(found))


@dataclass(frozen=True)
class PhoneThere(AddressThere):
    gives = "phone"
    nouns = ("the phone number of that place in Maps", "the number that Maps has for that place")

    def value(self, view: View, found: Value) -> Value:
        return PhoneNumber(place_of(view, str(found)).phone)


@dataclass(frozen=True)
class TheirPhone(Lookup):
    app, steps = "Contacts", 1.5
    takes: ClassVar[Gives] = "person"
    gives: ClassVar[Gives] = "phone"
    nouns = (
        "the phone number of that person in Contacts",
        "that person's phone number in my contacts",
    )

    def value(self, view: View, found: Value) -> Value:
        return PhoneNumber(contact_named(view, str(found)).phone)

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(str(found), role="row")


@dataclass(frozen=True)
class TheirBirthday(TheirPhone):
    gives = "day"
    nouns = ("the birthday of that person in Contacts", "that person's birthday in my contacts")

    def prepare_for(self, facts: Facts, rng: random.Random, found: Value) -> None:
        known(facts, str(found), rng, birthday=rng.choice(BIRTHDAYS.train))

    def value(self, view: View, found: Value) -> Value:
        month, day = contact_named(view, str(found)).birthday or (1, 1)
        return date(LEAP_YEAR, month, day)


@dataclass(frozen=True)
class LastPaidThem(Lookup):
    app, steps = "Wallet", 3
    takes: ClassVar[Gives] = "person"
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the amount that I last sent to that person with Wallet",
        "my last payment to that person in Wallet",
    )

    def prepare_for(self, facts: Facts, rng: random.Random, found: Value) -> None:
        facts.remove_where(Transfer, lambda transfer: transfer.person == found)
        newest = max(transfer.time for transfer in facts.all(Transfer))
        facts.add(Transfer(0, str(found), rng.randrange(5_00, 48_00, 10), "Thanks", newest))

    def value(self, view: View, found: Value) -> Value:
        return Cents(next(t.cents for t in view.all(Transfer) if t.person == found))

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("All activity")
        yield Fill("Search activity", str(found))
        yield Press(str(found), role="row")


@dataclass(frozen=True)
class FareThere(Lookup):
    app, steps = "Travel", 7
    takes: ClassVar[Gives] = "city"
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the price of the cheapest trip to that city {when} in Travel",
        "the lowest fare to that city {when} in Travel",
    )
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def value(self, view: View, found: Value) -> Value:
        return Cents(min(each.cents for each in running(view, str(found), self.day)))

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        yield from search_trips(start, str(found), self.day)
        yield Press("Earliest", role="button")
        yield Press("Cheapest", role="row")


@dataclass(frozen=True)
class HighThere(Lookup):
    app, steps = "Weather", 3.5
    takes: ClassVar[Gives] = "city"
    gives: ClassVar[Gives] = "number"
    nouns = (
        "the highest temperature forecast for that city {on_day} in Weather",
        "the forecast high for that city {on_day} in Weather",
    )
    day: str = parameter(weather.FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": weather.on(self.day)}

    def prepare_for(self, facts: Facts, rng: random.Random, found: Value) -> None:
        weather.put_city(facts, str(found))

    def value(self, view: View, found: Value) -> Value:
        high = weather.forecast_of(view, str(found), self.day).high
        return degrees(high, view.one(WeatherSettings).fahrenheit)

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        return weather.open_day(start, str(found), self.day)


@dataclass(frozen=True)
class OpenBill(Lookup):
    app, steps = "Wallet", 1.5
    takes: ClassVar[Gives] = "company"
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the amount of that company's open bill in Wallet",
        "the sum that Wallet has for that company's bill",
    )

    def prepare_for(self, facts: Facts, rng: random.Random, found: Value) -> None:
        put_bill(facts, rng, str(found))

    def value(self, view: View, found: Value) -> Value:
        return Cents(bill_of(view, str(found)).cents)

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Reveal(str(found))


@dataclass(frozen=True)
class BillDay(OpenBill):
    gives = "day"
    nouns = (
        "the day on which that company's bill in Wallet is due",
        "the due day of that company's bill in Wallet",
    )

    def value(self, view: View, found: Value) -> Value:
        return bill_of(view, str(found)).due
