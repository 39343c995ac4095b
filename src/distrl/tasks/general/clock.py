"""Tasks in the app Clock."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from distrl.devices.simulated.apps.timepieces import (
    DAYS,
    Alarm,
    alarm_detail,
    alarm_switch,
    days_text,
    time_text,
)
from distrl.devices.simulated.facts import Facts
from distrl.devices.simulated.system import SystemSettings
from distrl.tasks.domains import Domain, parameter
from distrl.tasks.moves import Fill, Move, Open, Press, Toggle
from distrl.tasks.template import Template, View, added, changed, differing_fields, removed

Time = tuple[int, int]  # hour, minute
TIMES = Domain(
    "alarm times",
    tuple((hour, (hour * 25 + 10 * n) % 60) for hour in range(4, 24) for n in range(3)),
    say=lambda time: f"{time[0]}:{time[1]:02d}",
)
FULL_HOURS = Domain(
    "full hours",
    tuple((hour, 0) for hour in range(4, 24)),
    say=lambda time: f"{time[0]}:{time[1]:02d}",
)
LABELS = Domain(
    "alarm labels",
    (
        "Medicine", "School run", "Swimming", "Yoga", "Feed the cat", "Radio show", "Bread",
        "Train", "Stand up", "Language course", "Take a walk", "Choir", "Night shift", "Vitamins",
        "Piano", "Laundry",
    ),
)  # fmt: skip
DAY_NAMES = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip
REPEATS = Domain(
    "alarm days",
    (
        (0,), (1,), (2,), (3,), (4,), (5,), (6,), (0, 2), (5, 6),
    ),
    say=lambda days: " and ".join(DAY_NAMES[day] for day in days),
)  # fmt: skip


def spoken(time: Time) -> str:
    return time_text(*time, use_24_hour=False)


def uses_24_hours(view: View) -> bool:
    return view.one(SystemSettings).use_24_hour


def choose_time(view: View, time: Time, shown: Time = (8, 0)) -> Iterable[Move]:
    """Pick an hour and a minute on the page of an alarm that shows another time."""
    hour, minute = time
    if uses_24_hours(view):
        if hour != shown[0]:
            yield Press(str(hour))
    else:
        if hour // 12 != shown[0] // 12:
            yield Press("PM" if hour >= 12 else "AM")
        if hour % 12 != shown[0] % 12:
            yield Press(str(hour % 12 or 12))
    if minute != shown[1]:
        yield Press(f":{minute:02d}")


def press_alarm(view: View, alarm: Alarm) -> Press:
    shown = time_text(alarm.hour, alarm.minute, uses_24_hours(view))
    return Press(shown, role="row", detail=alarm_detail(alarm))


def labelled(view: View, label: str) -> Alarm:
    return next(alarm for alarm in view.all(Alarm) if alarm.label == label)


def new_alarm_missing(
    start: View, end: View, time: Time, label: str, days: tuple[int, ...]
) -> str | None:
    """Is there just one new alarm, as wanted, and are the others as they were?"""
    new = added(start, end, Alarm)
    if len(new) != 1 or removed(start, end, Alarm) or changed(start, end, Alarm):
        return f"expected one new alarm and the others as they were; there are {len(new)} new"
    alarm = new[0]
    if (alarm.hour, alarm.minute) != time:
        return f"the new alarm is set for {alarm.hour}:{alarm.minute:02d}"
    if alarm.label.casefold() != label.casefold():
        return f"the new alarm is labelled {alarm.label!r}, not {label!r}"
    if alarm.days != days:
        return f"the new alarm rings {days_text(alarm.days)}, not {days_text(days)}"
    return None if alarm.enabled else "the new alarm is switched off"


def put_alarm(facts: Facts, rng: random.Random, label: str, **fields: object) -> None:
    """An alarm with a label, at a time that no other alarm has."""
    taken = {(alarm.hour, alarm.minute) for alarm in facts.all(Alarm)}
    free = [time for time in TIMES.train if time not in taken]
    hour, minute = rng.choice(free)
    alarm = facts.add(Alarm(hour=hour, minute=minute, label=label))
    facts.edit(alarm, **fields)


class AlarmTemplate(Template):
    """What templates about alarms have in common: the app, and two ways to say a time."""

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
        'Set an alarm for {time} on {days} with the label "{label}"',
        'Add an alarm called "{label}" at {spoken}, repeating every {days}',
        'Every {days} at {spoken}, remind me with an alarm labelled "{label}"',
    )
    time: Time = parameter(TIMES)
    label: str = parameter(LABELS)
    days: tuple[int, ...] = parameter(REPEATS)

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
        "Every {days} I want to get up at {spoken}. Set the alarm",
        "Add an alarm at {spoken}, repeating on {days}",
    )
    time: Time = parameter(FULL_HOURS)
    days: tuple[int, ...] = parameter(REPEATS)

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
        'Change the label of my alarm "{old}" into "{new}"',
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
        if len(pairs) != 1 or len(start.all(Alarm)) != len(end.all(Alarm)):
            return f"expected one changed alarm; {len(pairs)} were changed"
        before, after = pairs[0]
        if before.label != self.old or differing_fields(before, after) - {"label", "enabled"}:
            return f"something else was changed: {after}"
        right = after.label.casefold() == self.new.casefold()
        return None if right else f"its label is {after.label!r}"

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
