"""Days as people say them, and the moves that choose one in a month grid.

A day in an instruction is relative to the phone's current day. Templates read that from the facts
of the calendar, because the clock is not part of the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from phonesim.contents.calendar_events import CalendarStart
from phonesim.facts import Facts
from phonesim.languages.language import FOLDERS, language
from phonesim.tasks.answers import MAX_WORDS
from phonesim.tasks.domains import Domain
from phonesim.tasks.moves import Move, Press
from phonesim.toolkit.month import MONTHS, WEEKDAYS, months_after


@dataclass(frozen=True, slots=True)
class SaidDay:
    """A day in words. Exactly one of the three numbers defines which day it is."""

    words: str
    days: int = 0  # after today
    weekday: int = -1  # the first one after today; Monday is 0
    day_of_next_month: int = 0

    def after(self, today: date) -> date:
        """Return the day that is meant if today is `today`."""
        if self.weekday >= 0:
            return today + timedelta(days=(self.weekday - today.weekday() - 1) % 7 + 1)
        if self.day_of_next_month:
            return months_after(today, 1).replace(day=self.day_of_next_month)
        return today + timedelta(days=self.days)

    @property
    def when(self) -> str:
        """The words as an answer to "when?": tomorrow, on the coming Friday."""
        return f"on {self.words}" if self.weekday >= 0 or self.day_of_next_month else self.words


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


DAYS = Domain(
    "days",
    (
        SaidDay("tomorrow", days=1),
        SaidDay("the day after tomorrow", days=2),
        SaidDay("three days from today", days=3),
        SaidDay("four days from today", days=4),
        SaidDay("five days from today", days=5),
        SaidDay("six days from today", days=6),
        SaidDay("a week from today", days=7),
        SaidDay("eight days from today", days=8),
        SaidDay("ten days from today", days=10),
        SaidDay("two weeks from today", days=14),
        *(SaidDay(f"the coming {name}", weekday=i) for i, name in enumerate(WEEKDAYS)),
        *(
            SaidDay(f"the {ordinal(day)} of next month", day_of_next_month=day)
            for day in (1, 3, 6, 9, 12, 15, 17, 20, 22, 24, 27, 28)
        ),
    ),
    say=lambda day: day.words,
)


def today_of(facts: Facts) -> date:
    """Return the day at which the phone's calendar started: today, in `prepare`."""
    return facts.one(CalendarStart).day


def date_words(day: date) -> str:
    """Return a date as answers give it: 14 March."""
    return f"{day.day} {MONTHS[day.month - 1]}"


def states_date(answer: str | None, day: date) -> bool:
    """Return whether the answer gives this date, in a usual form, and no other."""
    if answer is None or len(answer.split()) > MAX_WORDS:
        return False
    answer = re.sub(r"(\d{1,2})月(\d{1,2})日", r"\2.\1.", answer)
    if re.findall(r"\d+-\d+-\d+", answer) == [day.isoformat()]:
        return True
    figures = re.findall(r"\b(\d{1,2})[./](\d{1,2})\b", answer)  # 14.3. or 3/14
    if [sorted(map(int, pair)) for pair in figures] == [sorted((day.day, day.month))]:
        return True
    spoken = re.findall(r"\w+", re.sub(r"\d+:\d+", "", answer.casefold()))
    words = [_english_months().get(word, word) for word in spoken]
    month = MONTHS[day.month - 1].casefold()
    named = [word for word in words if any(m.casefold().startswith(word) for m in MONTHS)]
    named = [word for word in named if len(word) >= 3]
    days = [word for word in words if word.rstrip("sthndr").isdecimal() and len(word) < 5]
    numbers = {int(word.rstrip("sthndr")) for word in days} - {day.year}
    return len(named) == 1 and month.startswith(named[0]) and numbers == {day.day}


@cache
def _english_months() -> dict[str, str]:
    """Map the casefolded month names of all phone languages to the English ones."""
    found: dict[str, str] = {}
    for formats in (language(name).formats for name in FOLDERS):
        for names in (formats.months, formats.months_short):
            for name, month in zip(names, MONTHS, strict=True):
                found[name.casefold().rstrip(".")] = month.casefold()
    return found


def pick(day: date, shown: date) -> Iterator[Move]:
    """Yield the moves that choose a day in a month grid that shows the month of `shown`."""
    months = (day.year - shown.year) * 12 + day.month - shown.month
    for _ in range(abs(months)):
        yield Press("Next month" if months > 0 else "Previous month")
    yield Press(str(day.day), role="day")
