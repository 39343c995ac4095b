"""Shared parts of templates about alarms: domains, preparation, moves and a judge."""

from __future__ import annotations

import random
from collections.abc import Iterable

from phonesim.contents.timepieces import (
    Alarm,
    alarm_detail,
    days_text,
    time_text,
)
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Move, Press
from phonesim.tasks.template import View, added, changed, removed

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
    """Yield the moves that set hour and minute on an alarm page that shows the time `shown`."""
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
    """Return None if exactly one alarm was added, as wanted, and no other changed; else why not."""
    new = added(start, end, Alarm)
    if len(new) != 1 or removed(start, end, Alarm) or changed(start, end, Alarm):
        return f"expected one new alarm and the others as they were; there are {len(new)} new"
    alarm = new[0]
    if (alarm.hour, alarm.minute) != time:
        return f"the new alarm is set for {alarm.hour}:{alarm.minute:02d}"
    if not same_text(alarm.label, label):
        return f"the new alarm is labelled {alarm.label!r}, not {label!r}"
    if alarm.days != days:
        return f"the new alarm rings {days_text(alarm.days)}, not {days_text(days)}"
    return None if alarm.enabled else "the new alarm is switched off"


def put_alarm(facts: Facts, rng: random.Random, label: str, **fields: object) -> None:
    """Add an alarm with a label, at a time that no other alarm has."""
    taken = {(alarm.hour, alarm.minute) for alarm in facts.all(Alarm)}
    free = [time for time in TIMES.train if time not in taken]
    hour, minute = rng.choice(free)
    alarm = facts.add(Alarm(hour=hour, minute=minute, label=label))
    facts.edit(alarm, **fields)


def put_others(facts: Facts, rng: random.Random, label: str, **fields: object) -> None:
    """Add three more alarms, so that the label matters."""
    for other in rng.sample([name for name in LABELS.train if name != label], 3):
        put_alarm(facts, rng, other, **fields)


def free_time(facts: Facts, time: Time) -> None:
    """Remove the alarms at this time, so that none can be switched on instead of adding one."""
    facts.remove_where(Alarm, lambda alarm: (alarm.hour, alarm.minute) == time)
