"""The records of the app Clock (alarms, cities, timers, a stopwatch) and their texts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm. Without days it rings once."""

    id: int = 0
    hour: int = 7
    minute: int = 0
    label: str = ""
    days: tuple[int, ...] = ()  # 0 is Monday
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class WorldCity:
    """A city on the world clock."""

    id: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer: it runs while `ends` is set, and is paused with `left` seconds otherwise."""

    id: int = 0
    seconds: int = 0
    ends: datetime | None = None
    left: int = 0


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """The stopwatch: it runs while `since` is set; `before` are the seconds of earlier runs."""

    SINGLE: ClassVar[bool] = True
    id: int = 0
    since: datetime | None = None
    before: int = 0
    laps: tuple[int, ...] = ()  # stopwatch seconds of each lap


def time_text(hour: int, minute: int, use_24_hour: bool) -> str:
    if use_24_hour:
        return f"{hour:02d}:{minute:02d}"
    return f"{hour % 12 or 12}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


def days_text(days: tuple[int, ...]) -> str:
    if not days:
        return "Once"
    if len(days) == len(DAYS):
        return "Every day"
    return ", ".join(DAYS[day] for day in sorted(days))


def alarm_detail(alarm: Alarm) -> str:
    """Return the second line of an alarm's row."""
    return f"{alarm.label} · {days_text(alarm.days)}" if alarm.label else days_text(alarm.days)


def alarm_switch(alarm: Alarm, use_24_hour: bool) -> str:
    """Return the label of an alarm's switch, as a screen reader would read it."""
    return f"{time_text(alarm.hour, alarm.minute, use_24_hour)} {alarm_detail(alarm)}"


def figures(seconds: int) -> str:
    """Format seconds as 4:05 or 1:04:05."""
    hours, rest = divmod(max(0, seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def timer_left(timer: Timer, now: datetime) -> int:
    """Return the seconds that a timer still has to run."""
    return timer.left if timer.ends is None else max(0, round((timer.ends - now).total_seconds()))


def stopwatch_seconds(watch: Stopwatch, now: datetime) -> int:
    running = round((now - watch.since).total_seconds()) if watch.since else 0
    return watch.before + running
