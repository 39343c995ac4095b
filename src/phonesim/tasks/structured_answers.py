"""Judges of answers by their meaning: a number with its unit, a date, a list.

"3,5 km" equals "3.5 kilometres" and 3500 m, "5 March" equals 5.3.2026 and "next Thursday", and a
list may be on one line or on several. If a text is ambiguous (3,500 is three and a half or three
thousand five hundred; 5/3 is in March or in May), either reading counts. As in `answers`, an answer
that also says something else is wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from phonesim.tasks.answers import MAX_WORDS, NUMBER_WORDS

Scale = tuple[str, float]  # the dimension, and the factor to its base unit
UNITS: dict[str, Scale] = {
    **dict.fromkeys(("mm", "millimetre", "millimeter"), ("length", 0.001)),
    **dict.fromkeys(("cm", "centimetre", "centimeter"), ("length", 0.01)),
    **dict.fromkeys(("m", "metre", "meter"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometer"), ("length", 1000.0)),
    **dict.fromkeys(("mi", "mile"), ("length", 1609.344)),
    **dict.fromkeys(("s", "sec", "second"), ("time", 1.0)),
    **dict.fromkeys(("min", "minute"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hour"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day"), ("time", 86400.0)),
    **dict.fromkeys(("g", "gram", "gramme"), ("mass", 1.0)),
    **dict.fromkeys(("kg", "kilo", "kilogram"), ("mass", 1000.0)),
    **dict.fromkeys(("kb", "kilobyte"), ("data", 1e3)),
    **dict.fromkeys(("mb", "megabyte"), ("data", 1e6)),
    **dict.fromkeys(("gb", "gigabyte"), ("data", 1e9)),
    **dict.fromkeys(("€", "eur", "euro"), ("euro", 1.0)),
    **dict.fromkeys(("$", "usd", "dollar"), ("dollar", 1.0)),
    **dict.fromkeys(("£", "gbp", "pound"), ("pound", 1.0)),
    **dict.fromkeys(("%", "percent", "per cent"), ("share", 1.0)),
    **dict.fromkeys(("°c", "°", "degree", "celsius"), ("temperature", 1.0)),
}
WORDS = sorted(UNITS, key=len, reverse=True)
FIGURE = r"(?<![\d.,])-?\d+(?:[.,' ]\d+)*(?![\d])"
QUANTITY = re.compile(
    rf"(?P<sign>[€$£])?\s?(?P<figure>{FIGURE})\s?(?P<unit>(?:{'|'.join(map(re.escape, WORDS))})"
    r"s?(?![a-z]))?"
)
MONTHS = (
    ("january", "jan", "januar", "enero"), ("february", "feb", "februar", "febrero"),
    ("march", "mar", "marz", "marzo"), ("april", "apr", "abril"), ("may", "mai", "mayo"),
    ("june", "jun", "juni", "junio"), ("july", "jul", "juli", "julio"),
    ("august", "aug", "agosto"), ("september", "sep", "sept", "septiembre"),
    ("october", "oct", "oktober", "octubre"), ("november", "nov", "noviembre"),
    ("december", "dec", "dezember", "diciembre"),
)  # fmt: skip
MONTH_OF = {word: number for number, words in enumerate(MONTHS, 1) for word in words}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_WORDS = "|".join(sorted(MONTH_OF, key=len, reverse=True))
DATE = re.compile(
    r"(?P<iso>\b\d{4}-\d{1,2}-\d{1,2}\b)"
    r"|(?P<figures>\b\d{1,2}[./]\s?\d{1,2}(?:[./]\s?(?:\d{4}|\d{2}))?\b)"
    rf"|(?P<day_first>\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of| de)? (?:{MONTH_WORDS})\b\.?"
    r"(?:,? (?:de )?\d{4})?)"
    rf"|(?P<month_first>\b(?:{MONTH_WORDS})\b\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?)"
    rf"|(?P<near>\b(?:today|tomorrow|yesterday|{'|'.join(WEEKDAYS)})\b)"
)
CHINESE_DATE = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})日")
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
BETWEEN = re.compile(r"[,;，；、\n]|\s(?:and|und|y|&|和)\s")


def states_quantity(answer: str | None, value: float, unit: str, *, within: float = 0.0) -> bool:
    """Return whether the answer gives this quantity only; a number without a unit is in `unit`.

    Parts are added up: 1 h 15 min is 75 min. `within` is the tolerance, in `unit`.
    """
    dimension, factor = UNITS[unit]
    if answer is None or len(answer.split()) > MAX_WORDS:
        return False
    totals = _totals(_plain(answer), dimension, factor)
    allowed = (within + 1e-9 * max(1.0, abs(value))) * factor
    return totals is not None and any(abs(each - value * factor) <= allowed for each in totals)


def _totals(text: str, dimension: str, factor: float) -> set[float] | None:
    """Return the sum of a text's quantities for every reading; None if others are in it."""
    totals: set[float] | None = None
    before = 0.0  # the unit of the previous part: parts go from large to small
    for found in QUANTITY.finditer(text):
        word = (found["sign"] or found["unit"] or "").strip()
        kind, size = _unit(word) if word else (dimension, factor)
        if kind != dimension or (totals is not None and size >= before):
            return None
        read = {number * size for number in _numbers(found["figure"])}
        totals = read if totals is None else {a + b for a in totals for b in read}
        before = size
    return totals if totals is not None else _spoken(text, factor)


def _unit(word: str) -> Scale:
    return UNITS[word] if word in UNITS else UNITS[word.removesuffix("s")]


def _spoken(text: str, factor: float) -> set[float] | None:
    numbers = [NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text) if word in NUMBER_WORDS]
    return {numbers[0] * factor} if len(numbers) == 1 else None


def _numbers(figure: str) -> set[float]:
    """Return every reading of a figure: commas and points separate thousands or decimals."""
    bare = figure.replace(" ", "").replace("'", "")
    read = set()
    if re.fullmatch(r"-?\d{1,3}(?:[.,]\d{3})+", bare):
        read.add(float(re.sub(r"[.,]", "", bare)))
    if re.fullmatch(r"-?\d+(?:[.,]\d+)?", bare):
        read.add(float(bare.replace(",", ".")))
    both = re.fullmatch(r"(-?\d{1,3}(?:([.,])\d{3})+)([.,])(\d+)", bare)
    if both and both[2] != both[3]:
        read.add(float(f"{re.sub(r'[.,]', '', both[1])}.{both[4]}"))
    return read


def states_date(answer: str | None, day: date, today: date | None = None) -> bool:
    """Return whether the answer gives this day only, in any usual form; the year is optional.

    Weekdays and words such as "tomorrow" are understood only if `today` is given.
    """
    text = CHINESE_DATE.sub(
        lambda found: f" {found[1] or day.year}-{found[2]}-{found[3]} ", _plain(answer or "")
    )
    if len(text.split()) > MAX_WORDS:
        return False
    said = [_days(found, day, today) for found in DATE.finditer(text)]
    return bool(said) and all(day in days for days in said)


def _days(found: re.Match[str], near: date, today: date | None) -> set[date]:
    """Return the days that may be meant. A missing year is that of the expected day, `near`."""
    words = found[0]
    if found["near"]:
        return _near(words, today)
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    if found["iso"]:
        return _valid([(numbers[0], numbers[1], numbers[2])])
    if found["figures"]:
        first, second, *rest = numbers
        year = _year(rest, near)
        return _valid([(year, second, first), (year, first, second)])
    month = next(MONTH_OF[word] for word in re.findall(r"[a-z]+", words) if word in MONTH_OF)
    return _valid([(_year(numbers[1:], near), month, numbers[0])])


def _near(word: str, today: date | None) -> set[date]:
    if today is None:
        return set()
    if word in WEEKDAYS:
        ahead = (WEEKDAYS.index(word) - today.weekday()) % 7
        return {today + timedelta(days=days) for days in (ahead - 7, ahead, ahead + 7)}
    return {today + timedelta(days={"yesterday": -1, "today": 0, "tomorrow": 1}[word])}


def _year(given: list[int], near: date) -> int:
    if not given:
        return near.year
    return given[0] if given[0] > 99 else 2000 + given[0]


def _valid(triples: Iterable[tuple[int, int, int]]) -> set[date]:
    days = set()
    for year, month, day in triples:
        try:
            days.add(date(year, month, day))
        except ValueError:
            continue
    return days


def states_list(answer: str | None, items: Sequence[str], *, ordered: bool = False) -> bool:
    """Return whether the answer lists exactly these items; `ordered`: in this order."""
    lines = [BULLET.sub("", line) for line in (answer or "").splitlines()]
    last = lines[-1].rpartition(":")[2] if len(lines) == 1 else "\n".join(lines)
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        last = "\n".join(lines[1:])
    said = [part for each in BETWEEN.split(last) if (part := _item(each))]
    wanted = [_item(item) for item in items]
    return said == wanted if ordered else Counter(said) == Counter(wanted)


def _item(text: str) -> str:
    return " ".join(_plain(text).strip(" .!\"'“”").split()).removeprefix("the ")


def _plain(text: str) -> str:
    """Return the text casefolded, without accents, with ASCII minus, apostrophe and spaces."""
    signs = text.replace("−", "-").replace("’", "'").replace("\u202f", " ").replace("\xa0", " ")
    apart = unicodedata.normalize("NFKD", signs.replace("°", "\x00"))
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return bare.replace("\x00", "°").casefold()
