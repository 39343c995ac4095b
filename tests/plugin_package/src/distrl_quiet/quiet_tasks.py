"""A task of our own with the phone's Clock."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.timepieces import Alarm, alarm_switch
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.moves import Move, Open, Toggle
from phonesim.tasks.template import Template, View, added, removed

NAPS = Domain("naps", ("Siesta", "Power nap", "Rest", "Forty winks"))


@dataclass(frozen=True)
class SilenceQuietly(Template):
    name = "quiet.silence_alarm"
    apps = ("Clock",)
    difficulty = "easy"
    phrasings = (
        'Let nothing ring for "{nap}"',
        'Switch the alarm "{nap}" off',
        'I want to sleep through "{nap}"',
    )
    touches = (Alarm,)
    nap: str = parameter(NAPS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(Alarm(hour=13, minute=30, label=self.nap))

    def missing(self, start: View, end: View) -> str | None:
        if added(start, end, Alarm) or removed(start, end, Alarm):
            return "an alarm was added or deleted"
        rings = [alarm for alarm in end.all(Alarm) if alarm.label == self.nap and alarm.enabled]
        return "it still rings" if rings else None

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        [alarm] = (each for each in start.all(Alarm) if each.label == self.nap)
        shown = alarm_switch(alarm, start.one(SystemSettings).use_24_hour)
        yield Toggle(shown, on=False, role="switch")
