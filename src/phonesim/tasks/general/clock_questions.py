"""Tasks that first look up the time of an alarm and then use it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time

from phonesim.apps.notes import Note
from phonesim.contents.timepieces import Alarm, time_text
from phonesim.facts import Facts
from phonesim.tasks.answers import states_time
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.alarms import (
    LABELS,
    choose_time,
    labelled,
    new_alarm_missing,
    put_alarm,
    uses_24_hours,
)
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.notes import TITLES as NOTE_TITLES
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal
from phonesim.tasks.template import Template, View, added

DELAYS = Domain(
    "delays",
    (10, 15, 20, 25, 30, 35, 40, 45, 50, 55),
    say=lambda minutes: f"{minutes} minutes",
)


@dataclass(frozen=True)
class NoteAlarm(Template):
    name = "clock.note_alarm"
    apps = ("Clock", "Notes")
    difficulty = "hard"
    phrasings = (
        'Look up when my alarm "{label}" rings, and write a note titled "{title}" with that time',
        'Make a note "{title}" that says at what time the alarm "{label}" is set',
        'Find the time of the alarm "{label}" and put it into a new note called "{title}"',
    )
    touches = (Note,)
    label: str = parameter(LABELS)
    title: str = parameter(NOTE_TITLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_alarm(facts, rng, self.label)

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, Note, title=self.title)
        if wrong:
            return wrong
        alarm, (note,) = labelled(start, self.label), added(start, end, Note)
        right = states_time(note.text, time(alarm.hour, alarm.minute))
        return None if right else f"the note says {note.text!r}"

    def solve(self, start: View) -> Iterable[Move]:
        alarm = labelled(start, self.label)
        shown = time_text(alarm.hour, alarm.minute, uses_24_hours(start))
        yield Open("Clock")
        yield Reveal(shown)
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", self.title)
        yield Fill("Text", shown)
        yield Press("Save")


@dataclass(frozen=True)
class FollowAlarm(Template):
    name = "clock.follow_alarm"
    apps = ("Clock",)
    difficulty = "medium"
    phrasings = (
        'Set another alarm {delay} after my alarm "{label}"',
        'I need a second alarm that rings {delay} later than "{label}"',
        'See when the alarm "{label}" rings and add another one {delay} after it',
    )
    touches = (Alarm,)
    label: str = parameter(LABELS)
    delay: int = parameter(DELAYS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_alarm(facts, rng, self.label)

    def time(self, view: View) -> tuple[int, int]:
        alarm = labelled(view, self.label)
        hour, minute = divmod(alarm.hour * 60 + alarm.minute + self.delay, 60)
        return hour % 24, minute

    def missing(self, start: View, end: View) -> str | None:
        new = added(start, end, Alarm)
        label = new[0].label if len(new) == 1 else ""  # any label will do
        return new_alarm_missing(start, end, self.time(start), label, ())

    def solve(self, start: View) -> Iterable[Move]:
        alarm = labelled(start, self.label)
        yield Open("Clock")
        yield Reveal(time_text(alarm.hour, alarm.minute, uses_24_hours(start)))
        yield Press("Add alarm")
        yield from choose_time(start, self.time(start))
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    NoteAlarm,
    FollowAlarm,
)
