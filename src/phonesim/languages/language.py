"""One language: translations of our English texts, and formats of numbers, money, dates and times.

`Language.tr` looks an English text up in the TOML files of the language's folder and returns the
text itself if it is not there: what nobody has translated stays English, and on an English phone
every text is the identical object. A text with placeholders is translated first and filled
afterwards: `tr("About {count} hours left", count=3)`. Where one English word means two things, a
bar in the key says which: `tr("Open|network")`; the English files contain only such keys.

Facts keep English words (an app's name, a setting's value); only what is shown is translated, so
judges do not depend on the language.

Why not Babel: it has formats for every locale, but we need only the few languages with
translations. It is tens of MB that change with each release, and the phone's pixels must not.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

DateStyle = Literal["full", "medium", "short", "numeric", "month", "day", "day_year"]

# Name in Settings -> folder. Languages that are not listed here are shown in English.
FOLDERS: Mapping[str, str] = {
    "English": "english",
    "German": "german",
    "Spanish": "spanish",
    "Chinese": "chinese",
}


@dataclass(frozen=True, slots=True)
class Formats:
    """How a language writes figures. Patterns have `str.format` placeholders, as commented."""

    decimal: str
    group: str
    percent: str  # {number}
    money: str  # {amount}, {symbol}
    weekdays: tuple[str, ...]  # from Monday on
    weekdays_short: tuple[str, ...]
    months: tuple[str, ...]
    months_short: tuple[str, ...]
    dates: Mapping[str, str]  # by style: {weekday}, {day}, {month}, {year} and their short forms
    morning_and_afternoon: tuple[str, str]
    twelve_hours: str  # {hour}, {minute}, {half}


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """Translations and formats. Made by `language`, so the same name gives the same object."""

    name: str
    words: Mapping[str, str]
    formats: Formats

    def tr(self, text: str, **values: object) -> str:
        """Return the text in this language, with its placeholders filled."""
        translated = self.words.get(text, text)
        return translated.format(**values) if values else translated

    def plural(self, one: str, many: str, count: int, **values: object) -> str:
        """Translate `one` if `count` is 1, else `many`; both may contain {count}."""
        return self.tr(one if count == 1 else many, count=count, **values)

    def number(self, value: float, places: int = 0) -> str:
        """Format a number: 1,234.5 in English, 1.234,5 in German."""
        formats = self.formats
        return f"{value:,.{places}f}".translate(
            {ord(","): formats.group, ord("."): formats.decimal}
        )

    def percent(self, share: float) -> str:
        return self.formats.percent.format(number=self.number(100 * share))

    def money(self, amount: float, symbol: str = "€", places: int = 2) -> str:
        """Format an amount: €1,234.50 in English, 1.234,50 € in German. The minus sign is first."""
        shown = self.formats.money.format(amount=self.number(abs(amount), places), symbol=symbol)
        return f"-{shown}" if round(amount, places) < 0 else shown

    def date(self, day: dt.date, style: DateStyle = "full") -> str:
        """Format a date. English examples of the styles:

        full: Monday, 5 January · medium: Mon, 5 Jan · short: 5 Jan · numeric: 05/01/2026 ·
        month: January 2026 · day: Monday 5 January · day_year: Monday 5 January 2026.
        """
        formats = self.formats
        return formats.dates[style].format(
            weekday=formats.weekdays[day.weekday()],
            weekday_short=formats.weekdays_short[day.weekday()],
            day=day.day,
            month=formats.months[day.month - 1],
            month_short=formats.months_short[day.month - 1],
            month_number=day.month,
            year=day.year,
        )

    def time(self, moment: dt.time | dt.datetime, use_24_hour: bool = True) -> str:
        """Format a time: 13:05, or 1:05 PM."""
        if use_24_hour:
            return f"{moment.hour:02}:{moment.minute:02}"
        return self.formats.twelve_hours.format(
            hour=moment.hour % 12 or 12,
            minute=f"{moment.minute:02}",
            half=self.formats.morning_and_afternoon[moment.hour >= 12],
        )


@cache
def language(name: str) -> Language:
    """Return the language of that name in Settings; without a folder, English texts and formats."""
    folder = FOLDERS.get(name, FOLDERS["English"])
    words: dict[str, str] = {}
    formats: dict[str, Any] = {}
    for path in sorted(files(__package__).joinpath(folder).iterdir(), key=lambda path: path.name):
        if path.name.endswith(".toml"):
            page = tomllib.loads(path.read_text(encoding="utf-8"))
            words |= page.get("words", {})
            formats |= page.get("formats", {})
    return Language(name, words, _formats(formats))


def _formats(table: dict[str, Any]) -> Formats:
    """Build `Formats` from a TOML table, with tuples in place of lists."""
    read: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return Formats(**read)
