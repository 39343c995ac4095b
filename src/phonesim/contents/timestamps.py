"""How lists and pages format a moment: a time today, a weekday, a date."""

from __future__ import annotations

from datetime import datetime

from phonesim.languages.language import Language

LONG_AGO = datetime(2000, 1, 1)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def clock(moment: datetime, use_24_hour: bool, language: Language | None = None) -> str:
    if use_24_hour:
        return f"{moment.hour:02}:{moment.minute:02}"
    if language is not None:
        return language.time(moment, use_24_hour)
    half = "AM" if moment.hour < 12 else "PM"
    return f"{(moment.hour + 11) % 12 + 1}:{moment.minute:02} {half}"


def day(moment: datetime, now: datetime, language: Language | None = None) -> str:
    """Return Today, Yesterday, a weekday within the last week, or a date."""
    days = (now.date() - moment.date()).days
    if days in (0, 1):
        named = ("Today", "Yesterday")[days]
        return language.tr(named) if language else named
    if language is not None:
        weekdays = language.formats.weekdays_short
        return weekdays[moment.weekday()] if 1 < days < 7 else language.date(moment, "short")
    return DAYS[moment.weekday()] if 1 < days < 7 else f"{moment.day} {MONTHS[moment.month - 1]}"


def short(
    moment: datetime, now: datetime, use_24_hour: bool, language: Language | None = None
) -> str:
    """Return a short form for the end of a row: the time if it is today, else the day."""
    if moment.date() == now.date():
        return clock(moment, use_24_hour, language)
    return day(moment, now, language)


def full(
    moment: datetime, now: datetime, use_24_hour: bool, language: Language | None = None
) -> str:
    return f"{day(moment, now, language)}, {clock(moment, use_24_hour, language)}"
