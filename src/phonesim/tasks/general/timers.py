"""Tasks with the timers and the stopwatch of the app Clock."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.timepieces import Stopwatch, Timer
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.moves import Move, Open, Press
from phonesim.tasks.template import Template, View, added, changed, differing_fields, removed

TIMER_MINUTES = Domain(
    "timer minutes",
    (2, 4, 6, 7, 8, 9, 11, 12, 14, 16, 18, 20, 22, 25, 30, 35, 40, 45, 50, 55),
    say=lambda minutes: f"{minutes} minutes",
)
LAPS = Domain("laps", (1, 2, 3, 4), say=lambda laps: f"{laps} lap{'s' * (laps > 1)}")


@dataclass(frozen=True)
class StartTimer(Template):
    name = "clock.start_timer"
    apps = ("Clock",)
    difficulty = "medium"
    phrasings = (
        "Start a timer for {minutes}",
        "Set a timer to {minutes} and start it",
        "Count down {minutes} for me",
    )
    touches = (Timer,)
    minutes: int = parameter(TIMER_MINUTES)

    def missing(self, start: View, end: View) -> str | None:
        new = added(start, end, Timer)
        if len(new) != 1 or removed(start, end, Timer) or changed(start, end, Timer):
            return f"expected one new timer; there are {len(new)}"
        if new[0].seconds != 60 * self.minutes:
            return f"the timer is set to {new[0].seconds} seconds"
        return None if new[0].ends else "the timer is paused"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Timer", role="tab")
        yield from (Press(digit) for digit in str(self.minutes))
        yield Press("00")
        yield Press("Start")


@dataclass(frozen=True)
class ResumeTimer(Template):
    name = "clock.resume_timer"
    apps = ("Clock",)
    difficulty = "easy"
    phrasings = (
        "Resume my timer of {minutes}, which is paused",
        "The timer for {minutes} is paused. Let it run again",
        "Continue the paused timer of {minutes}",
    )
    touches = (Timer,)
    minutes: int = parameter(TIMER_MINUTES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        seconds = 60 * self.minutes
        facts.add(Timer(seconds=seconds, left=rng.randrange(seconds // 2, seconds)))

    def missing(self, start: View, end: View) -> str | None:
        wanted = next(timer for timer in start.all(Timer) if timer.seconds == 60 * self.minutes)
        if added(start, end, Timer) or removed(start, end, Timer):
            return "a timer was added or cancelled"
        pairs = changed(start, end, Timer)
        if [old.id for old, _ in pairs] != [wanted.id]:
            return f"expected only the timer of {self.minutes} minutes to change"
        if "seconds" in differing_fields(*pairs[0]):
            return "the length of the timer was changed"
        return None if pairs[0][1].ends else "the timer is still paused"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Timer", role="tab")
        yield Press("Resume")


@dataclass(frozen=True)
class CountLaps(Template):
    name = "clock.count_laps"
    apps = ("Clock",)
    difficulty = "medium"
    phrasings = (
        "Start the stopwatch and take {laps}, leaving it running",
        "Use the stopwatch: start it and record {laps}. Do not stop it",
        "Start the stopwatch, then press lap so that it shows {laps}",
    )
    touches = (Stopwatch,)
    held_out = True
    laps: int = parameter(LAPS)

    def missing(self, start: View, end: View) -> str | None:
        watch = end.one(Stopwatch)
        if len(watch.laps) != self.laps:
            return f"the stopwatch has {len(watch.laps)} laps"
        if watch.before:
            return "the stopwatch was stopped on the way"
        return None if watch.since else "the stopwatch is not running"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Stopwatch", role="tab")
        yield Press("Start")
        yield from (Press("Lap") for _ in range(self.laps))


TEMPLATES: tuple[type[Template], ...] = (StartTimer, ResumeTimer, CountLaps)
