"""The records of Calendar: events, and the initial ones on a new phone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from phonesim.drawing.colors import Color
from phonesim.facts import Facts
from phonesim.languages.language import Language

CALENDARS: dict[str, Color] = {
    "Personal": (66, 133, 214),
    "Work": (214, 110, 40),
    "Family": (70, 160, 100),
}
REMINDERS: dict[str, int | None] = {
    "No reminder": None,
    "At the start": 0,
    "10 minutes before": 10,
    "30 minutes before": 30,
    "1 hour before": 60,
    "1 day before": 24 * 60,
}
DURATIONS = {
    "15 min": 15,
    "30 min": 30,
    "45 min": 45,
    "1 h": 60,
    "1.5 h": 90,
    "2 h": 120,
    "3 h": 180,
}


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """An event. `reminder` is in minutes before it."""

    id: int = 0
    title: str = ""
    start: datetime = datetime(2026, 1, 1)
    minutes: int = 60
    place: str = ""
    reminder: int | None = None
    calendar: str = "Personal"

    @property
    def end(self) -> datetime:
        return self.start + timedelta(minutes=self.minutes)


@dataclass(frozen=True, slots=True)
class CalendarStart:
    """The day on which the calendar was set up: the day the phone was furnished."""

    id: int = 0
    day: date = date(2026, 1, 1)


FIRST_EVENTS = (
    ("Team breakfast", 9, "Canteen", "Work"), ("Yoga class", 18, "Studio Linde", "Personal"),
    ("Budget review", 11, "Room 4", "Work"), ("Call with Oslo", 15, "", "Work"),
    ("Parents' evening", 19, "School hall", "Family"), ("Haircut", 16, "Salon Mira", "Personal"),
    ("Swimming lesson", 17, "North pool", "Family"), ("Lunch with Ines", 12, "Anker", "Personal"),
    ("Design workshop", 10, "Studio 2", "Work"), ("Car inspection", 8, "Garage Holm", "Personal"),
    ("Grandma's birthday", 15, "Lake house", "Family"), ("Cinema night", 20, "Roxana", "Personal"),
    ("Quarterly planning", 13, "Room 9", "Work"), ("Flea market", 10, "Old harbour", "Family"),
    ("Choir rehearsal", 19, "St Anna", "Personal"), ("Interview with Noor", 14, "Room 1", "Work"),
    ("Picnic", 12, "Rose garden", "Family"), ("Eye test", 9, "Optics Vale", "Personal"),
)  # fmt: skip


def furnish_events(facts: Facts, rng: random.Random, today: date) -> None:
    """Add a busy month around today."""
    for title, hour, place, calendar in rng.sample(FIRST_EVENTS, 13):
        start = at(today + timedelta(days=rng.randrange(-9, 28)), hour, rng.choice((0, 0, 15, 30)))
        minutes = rng.choice((30, 45, 60, 60, 90, 120))
        reminder = rng.choice((None, 10, 30, 60))
        facts.add(CalendarEvent(0, title, start, minutes, place, reminder, calendar))


def at(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime.combine(day, time(hour, minute))


def hour_words(hour: int, use_24_hour: bool) -> str:
    """Return an hour as 14, or 2 PM."""
    half = "AM" if hour < 12 else "PM"
    return f"{hour:02}" if use_24_hour else f"{hour % 12 or 12} {half}"


def reminder_words(minutes: int | None) -> str:
    return next(words for words, value in REMINDERS.items() if value == minutes)


def duration_words(minutes: int, language: Language | None = None) -> str:
    hours, rest = divmod(minutes, 60)
    parts = [("{count} h", hours), ("{count} min", rest)]
    said = language.tr if language else str.format
    return " ".join(said(part, count=count) for part, count in parts if count)
