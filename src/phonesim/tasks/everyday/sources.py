"""Sources whose values are read in the apps of every phone: mail, calendar, contacts, …."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time
from typing import ClassVar

from phonesim.apps.mail import Mail
from phonesim.apps.notes import Note
from phonesim.apps.weather import WeatherSettings
from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.conversations import Conversation, Message, conversation_with
from phonesim.contents.forecasts import degrees
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.parts import Cents, Gives, PhoneNumber, Source, Value
from phonesim.tasks.general import weather
from phonesim.tasks.general.calendar import EVENTS, add_event, event_called, find
from phonesim.tasks.general.calls import called, last_missed
from phonesim.tasks.general.chats import received
from phonesim.tasks.general.mailbox import (
    COMPANIES,
    booked,
    booking_code,
    company_address,
    delivered,
)
from phonesim.tasks.general.maps import BUSINESSES, open_place, place_of
from phonesim.tasks.general.notes import TITLES
from phonesim.tasks.general.people import BIRTHDAYS, NAMES, contact_named, known
from phonesim.tasks.moves import Move, Open, Press
from phonesim.tasks.template import View

LEAP_YEAR = 2024  # birthdays have no year
MEETING_PLACES = Domain(
    "meeting places",
    (
        "Copper Bridge", "Tin Whistle", "Blue Door", "Sunflower Hall", "Old Mint", "Rope Walk",
        "Glass House", "Fox Corner", "Paper Mill", "Salt Yard", "Kite Hill", "Plum Court",
    ),
)  # fmt: skip
SHOPS = Domain("shops and restaurants in town", BUSINESSES)
HOURS = tuple(time(hour, minute) for hour in range(8, 21) for minute in (0, 15, 30, 45))


@dataclass(frozen=True)
class MailedBill(Source):
    app, steps = "Mail", 1
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the amount on the bill that {biller} mailed me",
        "the sum that {biller} asked me for by mail",
    )
    biller: str = parameter(COMPANIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        rivals = [other for other in COMPANIES.train if other != self.biller]
        for company in (rng.choice(rivals), self.biller):
            cents = rng.randrange(6_00, 48_00, 5)
            body = f"Dear customer,\n\nyour bill is ready.\n\nAmount due: {Cents(cents).typed}"
            address = company_address(company)
            delivered(facts, rng, "Your bill", sender=company, address=address, body=body)

    def value(self, view: View) -> Value:
        mail = next(m for m in view.all(Mail) if m.sender == self.biller)
        return Cents(round(float(mail.body.split()[-1]) * 100))

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.biller, role="row")


@dataclass(frozen=True)
class MailedCode(Source):
    app, steps = "Mail", 1
    gives: ClassVar[Gives] = "words"
    nouns = (
        "the booking code that {company} mailed me",
        "the code of my booking in the mail from {company}",
    )
    company: str = parameter(COMPANIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        booked(facts, rng, self.company)

    def value(self, view: View) -> Value:
        return booking_code(view, self.company)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.company, role="row")


@dataclass(frozen=True)
class MailedTime(Source):
    app, steps = "Mail", 1
    gives: ClassVar[Gives] = "time"
    nouns = (
        "the time at which {sender} can meet according to their mail",
        "the meeting time that {sender} proposed by mail",
    )
    sender: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        person, when = known(facts, self.sender, rng), rng.choice(HOURS)
        body = f"Hello,\n\nshall we talk about it in person? I would be free at {when:%H:%M}."
        facts.remove_where(Mail, lambda m: m.sender == self.sender)
        delivered(facts, rng, "Let us meet", sender=self.sender, address=person.email, body=body)

    def value(self, view: View) -> Value:
        mail = next(m for m in view.all(Mail) if m.sender == self.sender)
        return time.fromisoformat(mail.body.split()[-1].rstrip("."))

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Mail")
        yield Press(self.sender, role="row")


@dataclass(frozen=True)
class EventTime(Source):
    app, steps = "Calendar", 2.5
    gives: ClassVar[Gives] = "time"
    nouns = (
        'the time at which "{event}" in my calendar starts',
        'the starting time that my calendar gives for "{event}"',
    )
    event: str = parameter(EVENTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(CalendarEvent, lambda e: e.title == self.event)
        add_event(facts, rng, self.event)

    def value(self, view: View) -> Value:
        return event_called(view, self.event).start.time()

    def moves(self, start: View) -> Iterable[Move]:
        return find(self.event)


@dataclass(frozen=True)
class EventPlace(EventTime):
    gives = "words"
    nouns = (
        'the place of "{event}" in my calendar',
        'the place that my calendar gives for "{event}"',
    )

    def value(self, view: View) -> Value:
        return event_called(view, self.event).place


@dataclass(frozen=True)
class ContactPhone(Source):
    app, steps = "Contacts", 1.5
    gives: ClassVar[Gives] = "phone"
    nouns = ("the phone number of {person}", "{person}'s number from my contacts")
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def value(self, view: View) -> Value:
        return PhoneNumber(contact_named(view, self.person).phone)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.person, role="row")


@dataclass(frozen=True)
class ContactMail(ContactPhone):
    gives = "words"
    nouns = ("the mail address of {person}", "{person}'s mail address from my contacts")

    def value(self, view: View) -> Value:
        return contact_named(view, self.person).email


@dataclass(frozen=True)
class ContactBirthday(ContactPhone):
    gives = "day"
    nouns = ("the birthday of {person}", "{person}'s birthday from my contacts")

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng, birthday=rng.choice(BIRTHDAYS.train))

    def value(self, view: View) -> Value:
        month, day = contact_named(view, self.person).birthday or (1, 1)
        return date(LEAP_YEAR, month, day)


@dataclass(frozen=True)
class NotedCode(Source):
    app, steps = "Notes", 1.5
    gives: ClassVar[Gives] = "words"
    nouns = ('the code in my note "{note}"', 'the code that stands in the note "{note}"')
    note: str = parameter(TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Note, lambda note: note.title == self.note)
        text = f"Kept here so that I find it again. The code is {rng.randrange(1000, 10000)}"
        facts.add(Note(title=self.note, text=text))

    def value(self, view: View) -> Value:
        return next(n for n in view.all(Note) if n.title == self.note).text.split()[-1]

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield Press(self.note)


@dataclass(frozen=True)
class TextedPlace(Source):
    app, steps = "Messages", 1
    gives: ClassVar[Gives] = "words"
    nouns = (
        "the place that {friend} proposed in their text message",
        "the meeting place from {friend}'s text message",
    )
    friend: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        place = rng.choice(MEETING_PLACES.train)
        received(facts, known(facts, self.friend, rng).phone, f"Let us meet at {place}")

    def value(self, view: View) -> Value:
        return _last_text(view, self.friend).removeprefix("Let us meet at ")

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.friend, role="row")


@dataclass(frozen=True)
class TextedAmount(TextedPlace):
    gives = "cents"
    nouns = (
        "the amount that {friend} texted me I owe them",
        "the sum that {friend} asked me for in their text message",
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        typed = Cents(rng.randrange(5_00, 48_00, 10)).typed
        received(facts, known(facts, self.friend, rng).phone, f"You owe me {typed}")

    def value(self, view: View) -> Value:
        return Cents(round(float(_last_text(view, self.friend).split()[-1]) * 100))


def _last_text(view: View, person: str) -> str:
    chat = conversation_with(view.facts, contact_named(view, person).phone)
    assert isinstance(chat, Conversation)
    said = [m for m in view.all(Message) if m.conversation == chat.id]
    return max(said, key=lambda message: (message.time, message.id)).text


@dataclass(frozen=True)
class MissedCaller(Source):
    app, steps = "Phone", 1
    gives: ClassVar[Gives] = "person"
    nouns = ("the person whose call I missed last", "the last person whose call I missed")

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        numbers = [c.phone for c in facts.all(Contact) if c.phone]
        rng.shuffle(numbers)
        called(facts, numbers[0], "missed")
        called(facts, numbers[1], "incoming", rng.randrange(20, 400))

    def value(self, view: View) -> Value:
        number = last_missed(view).number
        return next(c.name for c in view.all(Contact) if c.phone == number)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Recents", role="tab")


@dataclass(frozen=True)
class PlaceAddress(Source):
    app, steps = "Maps", 3
    gives: ClassVar[Gives] = "words"
    nouns = ("the address of {place} in Maps", "the address that Maps has for {place}")
    place: str = parameter(SHOPS)

    def value(self, view: View) -> Value:
        return place_of(view, self.place).address

    def moves(self, start: View) -> Iterable[Move]:
        return open_place(self.place)


@dataclass(frozen=True)
class PlacePhone(PlaceAddress):
    gives = "phone"
    nouns = ("the phone number of {place} in Maps", "the number that Maps has for {place}")

    def value(self, view: View) -> Value:
        return PhoneNumber(place_of(view, self.place).phone)


@dataclass(frozen=True)
class ForecastHigh(Source):
    app, steps = "Weather", 3.5
    gives: ClassVar[Gives] = "number"
    nouns = (
        "the highest temperature forecast for {city} {on_day}",
        "the forecast high for {city} {on_day}",
    )
    city: str = parameter(weather.CITY_NAMES)
    day: str = parameter(weather.FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": weather.on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        weather.put_city(facts, self.city)

    def value(self, view: View) -> Value:
        high = weather.forecast_of(view, self.city, self.day).high
        return degrees(high, view.one(WeatherSettings).fahrenheit)

    def moves(self, start: View) -> Iterable[Move]:
        return weather.open_day(start, self.city, self.day)
