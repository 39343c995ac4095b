"""Questions that the app Calendar answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.calendar_events import CalendarEvent, at
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number, states_time
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.calendar import EVENTS, PLACES, add_event, event_called
from phonesim.tasks.general.days import (
    DAYS,
    SaidDay,
    date_words,
    pick,
    states_date,
    today_of,
)
from phonesim.tasks.moves import Move, Open, Press, Reveal, Say
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class WhenDoesItStart(Template):
    name = "calendar.ask_time"
    apps = ("Calendar",)
    difficulty = "easy"
    phrasings = (
        'At what time does the event "{title}" start?',
        'When does "{title}" begin, according to my calendar? Give the time of day',
        'What time is "{title}" in Calendar?',
    )
    title: str = parameter(EVENTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        moment = event_called(start, self.title).start.time()
        right = states_time(end.answer, moment)
        return None if right else f"the answer should be {moment:%H:%M}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calendar")
        yield Press("Agenda", role="tab")
        yield Reveal(self.title)
        yield Say(f"It starts at {event_called(start, self.title).start:%H:%M}")


@dataclass(frozen=True)
class OnWhichDay(Template):
    name = "calendar.ask_day"
    apps = ("Calendar",)
    difficulty = "easy"
    phrasings = (
        'On which date is the event "{title}"?',
        'What is the date of "{title}" in my calendar?',
        'Tell me the date of "{title}", day and month',
    )
    title: str = parameter(EVENTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title)

    def missing(self, start: View, end: View) -> str | None:
        day = event_called(start, self.title).start.date()
        right = states_date(end.answer, day)
        return None if right else f"the answer should be {date_words(day)}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calendar")
        yield Press("Agenda", role="tab")
        yield Reveal(self.title)
        yield Say(date_words(event_called(start, self.title).start.date()))


@dataclass(frozen=True)
class WhereIsIt(Template):
    name = "calendar.ask_place"
    apps = ("Calendar",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        'Where does the event "{title}" take place?',
        'What place does my calendar give for "{title}"?',
        'I forgot where "{title}" is. Look it up in Calendar',
    )
    title: str = parameter(EVENTS)
    place: str = parameter(PLACES)

    def words(self) -> dict[str, str]:
        return {"title": self.title}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        add_event(facts, rng, self.title, place=self.place)

    def missing(self, start: View, end: View) -> str | None:
        others = {event.place for event in start.all(CalendarEvent)}
        right = mentions(end.answer, self.place, others)
        return None if right else f"the answer should be {self.place}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calendar")
        yield Press("Search events")
        yield Press(self.title)
        yield Say(self.place)


@dataclass(frozen=True)
class HowManyEvents(Template):
    name = "calendar.ask_count"
    apps = ("Calendar",)
    difficulty = "medium"
    phrasings = (
        "How many events are in my calendar {when}?",
        "How many things have I planned {when}?",
        "Count my calendar events {when}",
    )
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {"when": f"for {self.day.words}"}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        day = self.day.after(today_of(facts))
        facts.remove_where(CalendarEvent, lambda event: event.start.date() == day)
        hours = rng.sample(range(8, 20), rng.randrange(1, 11))
        for hour, title in zip(hours, rng.sample(EVENTS.train, len(hours)), strict=True):
            facts.add(CalendarEvent(title=title, start=at(day, hour)))

    def _count(self, view: View) -> int:
        day = self.day.after(view.now.date())
        return sum(event.start.date() == day for event in view.all(CalendarEvent))

    def missing(self, start: View, end: View) -> str | None:
        count = self._count(start)
        right = states_number(end.answer, count, self.words().values())
        return None if right else f"the answer should be {count}, not {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        today = start.now.date()
        yield Open("Calendar")
        yield Press("Month", role="tab")
        yield from pick(self.day.after(today), today)
        yield Say(f"{self._count(start)} events")


TEMPLATES: tuple[type[Template], ...] = (WhenDoesItStart, OnWhichDay, WhereIsIt, HowManyEvents)
