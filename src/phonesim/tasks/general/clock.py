"""Tasks in the app Clock."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.timepieces import DAYS, Alarm, alarm_switch
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.alarms import (
    FULL_HOURS,
    LABELS,
    REPEATS,
    TIMES,
    Time,
    choose_time,
    free_time,
    labelled,
    new_alarm_missing,
    press_alarm,
    put_alarm,
    put_others,
    spoken,
    uses_24_hours,
)
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Open, Press, Toggle
from phonesim.tasks.template import Template, View, added, changed, differing_fields, removed


class AlarmTemplate(Template):
    """Base class of templates about alarms; adds `spoken`, the time in 12-hour format, to words."""

    apps = ("Clock",)
    touches = (Alarm,)

    def words(self) -> dict[str, str]:
        time = getattr(self, "time", None)
        return {**super().words(), **({"spoken": spoken(time)} if time else {})}


@dataclass(frozen=True)
class SetAlarm(AlarmTemplate):
    name = "clock.set_alarm"
    difficulty = "medium"
    phrasings = (
        "Set an alarm for {time}",
        "Wake me up at {spoken}",
        "I need an alarm that rings at {time}",
        "Please add an alarm for {spoken}",
    )
    time: Time = parameter(TIMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        free_time(facts, self.time)

    def missing(self, start: View, end: View) -> str | None:
        return new_alarm_missing(start, end, self.time, "", ())

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Add alarm")
        yield from choose_time(start, self.time)
        yield Press("Save")


@dataclass(frozen=True)
class SetLabelledAlarm(AlarmTemplate):
    name = "clock.set_labelled_alarm"
    difficulty = "hard"
    phrasings = (
        'Set an alarm for {time} every {days} with the label "{label}"',
        'Add an alarm called "{label}" at {spoken}, repeating every {days}',
        'Every {days} at {spoken}, remind me with an alarm labelled "{label}"',
    )
    time: Time = parameter(TIMES)
    label: str = parameter(LABELS)
    days: tuple[int, ...] = parameter(REPEATS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        free_time(facts, self.time)

    def missing(self, start: View, end: View) -> str | None:
        return new_alarm_missing(start, end, self.time, self.label, self.days)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Add alarm")
        yield from choose_time(start, self.time)
        yield from (Press(DAYS[day]) for day in self.days)
        yield Fill("Label", self.label)
        yield Press("Save")


@dataclass(frozen=True)
class SetRepeatingAlarm(AlarmTemplate):
    name = "clock.set_repeating_alarm"
    difficulty = "medium"
    phrasings = (
        "Set an alarm for {time} that repeats every {days}",
        "I need an alarm at {spoken} every {days}. Set it",
        "Add an alarm at {spoken}, repeating on {days}",
    )
    time: Time = parameter(FULL_HOURS)
    days: tuple[int, ...] = parameter(REPEATS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        free_time(facts, self.time)

    def missing(self, start: View, end: View) -> str | None:
        return new_alarm_missing(start, end, self.time, "", self.days)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Add alarm")
        yield from choose_time(start, self.time)
        yield from (Press(DAYS[day]) for day in self.days)
        yield Press("Save")


@dataclass(frozen=True)
class ChangeAlarm(AlarmTemplate):
    name = "clock.change_alarm"
    difficulty = "medium"
    phrasings = (
        'Change the alarm "{label}" to {time}',
        'My alarm "{label}" should ring at {spoken} instead',
        'Move the alarm labelled "{label}" to {spoken}',
    )
    label: str = parameter(LABELS)
    time: Time = parameter(TIMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_alarm(facts, rng, self.label, days=rng.choice(((), (0, 2), (5,))))
        alarm = next(a for a in facts.all(Alarm) if a.label == self.label)
        if (alarm.hour, alarm.minute) == self.time:
            facts.edit(alarm, minute=(alarm.minute + 25) % 60)

    def missing(self, start: View, end: View) -> str | None:
        if added(start, end, Alarm) or removed(start, end, Alarm):
            return "an alarm was added or deleted"
        for old, new in changed(start, end, Alarm):
            allowed = {"hour", "minute", "enabled"}
            if old.label != self.label or differing_fields(old, new) - allowed:
                return f"another alarm or its label was changed: {old.label!r}"
        alarm = labelled(end, self.label)
        if (alarm.hour, alarm.minute) != self.time:
            return f"the alarm is set for {alarm.hour}:{alarm.minute:02d}"
        return None if alarm.enabled else "the alarm is switched off"

    def solve(self, start: View) -> Iterable[Move]:
        alarm = labelled(start, self.label)
        yield Open("Clock")
        yield press_alarm(start, alarm)
        yield from choose_time(start, self.time, (alarm.hour, alarm.minute))
        yield Press("Save")


@dataclass(frozen=True)
class DeleteAlarm(AlarmTemplate):
    name = "clock.delete_alarm"
    difficulty = "easy"
    phrasings = (
        'Delete the alarm "{label}"',
        'I do not need the alarm "{label}" any more, remove it',
        'Get rid of my alarm labelled "{label}"',
    )
    label: str = parameter(LABELS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_alarm(facts, rng, self.label)
        put_others(facts, rng, self.label)

    def missing(self, start: View, end: View) -> str | None:
        gone = [alarm.label for alarm in removed(start, end, Alarm)]
        if gone != [self.label]:
            return f"expected only {self.label!r} to be deleted; deleted: {gone}"
        if added(start, end, Alarm) or changed(start, end, Alarm):
            return "another alarm was added or changed"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield press_alarm(start, labelled(start, self.label))
        yield Press("Delete")


@dataclass(frozen=True)
class SilenceAlarm(AlarmTemplate):
    name = "clock.turn_off_alarm"
    difficulty = "easy"
    phrasings = (
        'Turn off the alarm "{label}", but keep it',
        'Disable my alarm labelled "{label}" without deleting it',
        'The alarm "{label}" should not ring for now. Switch it off',
    )
    wanted = False
    label: str = parameter(LABELS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_alarm(facts, rng, self.label, enabled=not self.wanted)
        put_others(facts, rng, self.label, enabled=not self.wanted)

    def missing(self, start: View, end: View) -> str | None:
        if added(start, end, Alarm) or removed(start, end, Alarm):
            return "an alarm was added or deleted"
        for old, new in changed(start, end, Alarm):
            if old.label != self.label or differing_fields(old, new) != {"enabled"}:
                return f"another alarm was changed: {old.label!r}"
        on = labelled(end, self.label).enabled
        return None if on is self.wanted else f"the alarm is {'on' if on else 'off'}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        alarm = labelled(start, self.label)
        yield Toggle(alarm_switch(alarm, uses_24_hours(start)), self.wanted, role="switch")


@dataclass(frozen=True)
class WakeAlarm(SilenceAlarm):
    name = "clock.turn_on_alarm"
    phrasings = (
        'Turn on the alarm "{label}"',
        'Switch my alarm labelled "{label}" on again',
        'The alarm "{label}" should ring from now on. Enable it',
    )
    wanted = True
    held_out = True


@dataclass(frozen=True)
class RelabelAlarm(Template):
    name = "clock.relabel_alarm"
    apps = ("Clock",)
    difficulty = "medium"
    phrasings = (
        'Rename the alarm "{old}" to "{new}"',
        'The alarm "{old}" should be labelled "{new}" instead',
        'Change the label of my alarm "{old}" to "{new}"',
    )
    touches = (Alarm,)
    old: str = parameter(LABELS)
    new: str = parameter(LABELS)

    def sensible(self) -> bool:
        return self.old != self.new

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_alarm(facts, rng, self.old)

    def missing(self, start: View, end: View) -> str | None:
        pairs = changed(start, end, Alarm)
        if len(pairs) != 1 or added(start, end, Alarm) or removed(start, end, Alarm):
            return f"expected one changed alarm and no other change; {len(pairs)} were changed"
        before, after = pairs[0]
        if before.label != self.old or differing_fields(before, after) - {"label", "enabled"}:
            return f"something else was changed: {after}"
        if not after.enabled and before.enabled:
            return "the alarm was switched off"
        return None if same_text(after.label, self.new) else f"its label is {after.label!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield press_alarm(start, labelled(start, self.old))
        yield Fill("Label", self.new)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    SetAlarm,
    SetLabelledAlarm,
    SetRepeatingAlarm,
    ChangeAlarm,
    RelabelAlarm,
    DeleteAlarm,
    SilenceAlarm,
    WakeAlarm,
)
