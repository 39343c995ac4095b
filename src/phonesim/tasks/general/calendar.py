"""Tasks in the app Calendar that make, move, change or delete an event."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta

from phonesim.apps.notes import Note
from phonesim.contents.calendar_events import CalendarEvent, at, hour_words
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.days import DAYS, SaidDay, pick, today_of
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.moves import Fill, GoHome, Move, Open, Press
from phonesim.tasks.template import Template, View

EVENTS = Domain(
    "event titles",
    (
        "Dental check", "Piano lesson", "Book club", "Board meeting", "Dinner with Leo",
        "Vet visit", "Rowing", "Tax appointment", "Coffee with Priya", "Language course",
        "Blood test",
        "House viewing", "Chess evening", "Concert", "Guitar practice", "Job interview",
        "Bike tour", "Theatre", "Physiotherapy", "Project kickoff", "Wine tasting", "Poker night",
        "First aid course", "Brunch with Mara",
    ),
)  # fmt: skip
PLACES = Domain(
    "event places",
    (
        "Mill Street 4", "Harbour Café", "Town hall", "Green Room", "Platform 7", "City library",
        "Studio Nine", "Elm Park", "Corner bakery", "Tower B", "Lakeside Inn", "Hall 3",
        "Museum gate", "Garden terrace", "Old station", "Bridge Street 21",
    ),
)  # fmt: skip
TIMES = Domain(
    "event times",
    tuple(time(hour, minute) for hour in range(8, 21) for minute in (0, 30)),
    say=lambda moment: f"{moment.hour:02}:{moment.minute:02}",
)
WARNINGS = Domain(
    "reminders",
    (0, 10, 30, 60, 24 * 60),
    say=lambda minutes: {
        0: "right at the start", 10: "10 minutes before", 30: "half an hour before",
        60: "an hour before", 24 * 60: "a day before",
    }[minutes],
)  # fmt: skip
REMINDER_LABELS = {
    0: "At the start", 10: "10 minutes before", 30: "30 minutes before", 60: "1 hour before",
    24 * 60: "1 day before",
}  # fmt: skip


def add_event(
    facts: Facts, rng: random.Random, title: str, *, besides: date | None = None, place: str = ""
) -> CalendarEvent:
    """Add an event within the next eight days, but not on the day `besides`."""
    today = today_of(facts)
    days = [today + timedelta(days=n) for n in range(1, 9)]
    day = rng.choice([day for day in days if day != besides])
    start = at(day, rng.randrange(8, 21), rng.choice((0, 15, 30, 45)))
    place = place or rng.choice(("Main square 2", "Room 12", "Annex", "North wing"))
    return facts.add(CalendarEvent(title=title, start=start, place=place))


def event_called(view: View, title: str) -> CalendarEvent:
    return next(event for event in view.all(CalendarEvent) if event.title == title)


def find(title: str) -> Iterable[Move]:
    """Yield the moves from anywhere to the page of an event."""
    yield Open("Calendar")
    yield Press("Agenda", role="tab")
    yield Press(title)


def choose_time(start: View, moment: time) -> Iterable[Move]:
    """Yield the moves that set a time in the form of a new event; the minute only if not 0."""
    yield Press(hour_words(moment.hour, start.one(SystemSettings).use_24_hour), role="button")
    if moment.minute:
        yield Press(f":{moment.minute:02}", role="button")


@dataclass(frozen=True)
class CreateEvent(Template):
    name = "calendar.create"
    apps = ("Calendar",)
    difficulty = "hard"
    phrasings = (
        'Create a calendar event "{title}" {when} at {moment}',
        'Put "{title}" into my calendar for {day}, {moment}',
        'I have "{title}" {when} at {moment}. Add it to the calendar, please',
        'Add the event "{title}" to Calendar: {day} at {moment}',
    )
    touches = (CalendarEvent,)
    title: str = parameter(EVENTS)
    day: SaidDay = parameter(DAYS)
    moment: time = parameter(TIMES)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def missing(self, start: View, end: View) -> str | None:
        day = self.day.after(start.now.date())
        wanted = at(day, self.moment.hour, self.moment.minute)
        return only_added(start, end, CalendarEvent, title=self.title, start=wanted, place="")

    def solve(self, start: View) -> Iterable[Move]:
        today = start.now.date()
        yield Open("Calendar")
        yield Press("New event")
        yield Fill("Title", self.title)
        yield Press("Day")
        yield from pick(self.day.after(today), today)
        yield from choose_time(start, self.moment)
        yield Press("Save")


@dataclass(frozen=True)
class CreateEventToday(Template):
    name = "calendar.create_today"
    apps = ("Calendar",)
    difficulty = "hard"
    held_out = True
    phrasings = (
        'Add "{title}" to my calendar for today at {moment}; the place is {place}',
        'Today at {moment} there is "{title}", place: {place}. Put that into Calendar',
        'Create an event for today: "{title}" at {moment} with {place} as its place',
    )
    touches = (CalendarEvent,)
    title: str = parameter(EVENTS)
    moment: time = parameter(TIMES)
    place: str = parameter(PLACES)

    def missing(self, start: View, end: View) -> str | None:
        for today in (end.now.date(), start.now.date()):  # midnight may pass during the episode
            wanted = at(today, self.moment.hour, self.moment.minute)
            wrong = only_added(
                start, end, CalendarEvent, title=self.title, start=wanted, place=self.place
            )
            if not wrong:
                return None
        return wrong

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calendar")
        yield Press("New event")
        yield Fill("Title", self.title)
        yield from choose_time(start, self.moment)
        yield Fill("Place", self.place)
        yield Press("Save")


@dataclass(frozen=True)
class MoveEvent(Template):
    name = "calendar.move"
    apps = ("Calendar",)
    difficulty = "medium"
    phrasings = (
        'Move the event "{title}" to {day}',
        '"{title}" takes place {when} instead. Change that in my calendar',
        'Please reschedule "{title}" to {day}, at the same time of day',
    )
    touches = (CalendarEvent,)
    title: str = parameter(EVENTS)
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title, besides=self.day.after(today_of(facts)))

    def missing(self, start: View, end: View) -> str | None:
        event = event_called(start, self.title)
        day = self.day.after(start.now.date())
        moved = at(day, event.start.hour, event.start.minute)
        return only_changed(start, end, CalendarEvent, event.id, start=moved)

    def solve(self, start: View) -> Iterable[Move]:
        shown = event_called(start, self.title).start.date()
        yield from find(self.title)
        yield Press("Move")
        yield from pick(self.day.after(start.now.date()), shown)


@dataclass(frozen=True)
class DeleteEvent(Template):
    name = "calendar.delete"
    apps = ("Calendar",)
    difficulty = "medium"
    phrasings = (
        'Delete the event "{title}" from my calendar',
        '"{title}" has been cancelled. Take it out of the calendar',
        'Remove "{title}" from Calendar, please',
    )
    touches = (CalendarEvent,)
    title: str = parameter(EVENTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, CalendarEvent, event_called(start, self.title).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find(self.title)
        yield Press("Delete")
        yield Press("Delete")


@dataclass(frozen=True)
class ChangePlace(Template):
    name = "calendar.place"
    apps = ("Calendar",)
    difficulty = "hard"
    phrasings = (
        'Change the place of the event "{title}" to {place}',
        '"{title}" has a new place: {place}. Update the calendar',
        'In Calendar, set the place of "{title}" to {place}',
    )
    touches = (CalendarEvent,)
    title: str = parameter(EVENTS)
    place: str = parameter(PLACES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        event = event_called(start, self.title)
        return only_changed(start, end, CalendarEvent, event.id, place=self.place)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find(self.title)
        yield Press("Edit")
        yield Fill("Place", self.place)
        yield Press("Save")


@dataclass(frozen=True)
class SetReminder(Template):
    name = "calendar.reminder"
    apps = ("Calendar",)
    difficulty = "medium"
    phrasings = (
        'Remind me of the event "{title}" {warning}',
        'Set a reminder for "{title}" in my calendar: {warning}',
        'I want Calendar to remind me of "{title}" {warning}',
    )
    touches = (CalendarEvent,)
    title: str = parameter(EVENTS)
    warning: int = parameter(WARNINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        event = event_called(start, self.title)
        return only_changed(start, end, CalendarEvent, event.id, reminder=self.warning)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find(self.title)
        yield Press("Reminder")
        yield Press(REMINDER_LABELS[self.warning])


@dataclass(frozen=True)
class NoteThePlace(Template):
    name = "calendar.note_place"
    apps = ("Calendar", "Notes")
    difficulty = "hard"
    phrasings = (
        'Look up where "{title}" takes place and make a note with that place as its title',
        'Create a note titled with the place of my calendar event "{title}"',
        'I need the place of "{title}" from Calendar as the title of a new note',
    )
    touches = (Note,)
    title: str = parameter(EVENTS)
    place: str = parameter(PLACES)

    def words(self) -> dict[str, str]:
        return {"title": self.title}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title, place=self.place)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, Note, title=self.place)

    def solve(self, start: View) -> Iterable[Move]:
        yield from find(self.title)
        yield GoHome()
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.place)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    CreateEvent, CreateEventToday, MoveEvent, DeleteEvent, ChangePlace, SetReminder, NoteThePlace,
)  # fmt: skip
