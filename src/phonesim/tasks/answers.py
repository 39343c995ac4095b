"""Judges of answers: words, numbers and times. Strict enough that listing all guesses fails.

The wording is free: case, accents, units and whole sentences do not matter, small numbers may be
words, a time may be in 12-hour or 24-hour format, and what the question itself named may be
repeated.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import time

MAX_WORDS = 25  # longer answers are rejected: they could list everything
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SPOKEN = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip
NUMBER_WORDS = {word: number for number, word in enumerate(SPOKEN)}
CLOCK = re.compile(r"(?<![\d:.])(\d{1,2})[:.](\d\d)(?![\d%])\s*([ap]\.?\s?m\b)?")
FULL_HOUR = re.compile(r"(?<![\d:.])(\d{1,2})\s*([ap]\.?\s?m\b|o'clock)")
PARTS = (("half past", 30), ("quarter past", 15))


def _plain(text: str) -> str:
    """Return the text casefolded, without accents, with ASCII apostrophe and minus."""
    apart = unicodedata.normalize("NFKD", text.replace("’", "'").replace("−", "-"))
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).casefold()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:[.,:]\d+)*", _plain(text))


def _contains(words: list[str], run: list[str]) -> bool:
    return any(words[i : i + len(run)] == run for i in range(len(words) - len(run) + 1))


def mentions(answer: str | None, expected: str, others: Iterable[str] = ()) -> bool:
    """Return whether the answer contains `expected`, as whole words, and none of the `others`."""
    if answer is None:
        return False
    words, wanted = _words(answer), _words(expected)
    if not wanted or len(words) > MAX_WORDS or not _contains(words, wanted):
        return False
    wrong = (run for run in map(_words, others) if run and run != wanted)
    return not any(_contains(words, run) and not _contains(wanted, run) for run in wrong)


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text: those in digits, or the number words if there are no digits.

    1,234.50 and 1.234,50 are the same; a comma before one or two digits is a decimal comma.
    """
    plain = re.sub(r"\d{1,3}(?:\.\d{3})+,\d\d?\b", lambda n: n[0].replace(".", ""), _plain(text))
    plain = re.sub(r"(?<![\d,.])(\d+),(\d\d?)(?![\d,])", r"\1.\2", plain)
    figures = NUMBER.findall(re.sub(r"(?<=\w)-", " ", re.sub(r"(?<=\d),(?=\d)", "", plain)))
    if figures:
        return [float(figure) for figure in figures]
    return [float(NUMBER_WORDS[word]) for word in _words(plain) if word in NUMBER_WORDS]


def states_number(answer: str | None, expected: float, question: Iterable[str] = ()) -> bool:
    """Return whether the answer has the right number, and no others but those of the question."""
    if answer is None or len(answer.split()) > MAX_WORDS:
        return False
    named = [number for text in question for number in numbers_in(text)]
    said = numbers_in(answer)
    others = [number for number in said if abs(number - expected) > 1e-6]
    return len(said) > len(others) and all(number in named for number in others)


def states_time(answer: str | None, moment: time) -> bool:
    """Return whether the answer gives this time of day only. 2:30 alone may be a.m. or p.m."""
    text = _plain(answer or "")
    for word, number in NUMBER_WORDS.items():
        text = re.sub(rf"\b{word}\b", str(number), text)
    for words, minute in PARTS:
        text = re.sub(rf"{words} (\d+)", rf"\1:{minute}", text)
    text = re.sub(r"\bnoon\b", "12:00 pm", re.sub(r"\bmidnight\b", "12:00 am", text))
    said = [(hour, int(minute), half) for hour, minute, half in CLOCK.findall(text)]
    said += [(hour, 0, half) for hour, half in FULL_HOUR.findall(text)]
    if not said:
        said = [(hour, 0, "") for hour in re.findall(r"\d+", text)]
    meant = [_times(hour, minute, half) for hour, minute, half in said]
    return bool(meant) and all((moment.hour, moment.minute) in times for times in meant)


def _times(hour: str, minute: int, half: str) -> set[tuple[int, int]]:
    """Return the times of day (hour, minute) that may be meant."""
    number = int(hour)
    if half[:1] in ("a", "p"):
        return {(number % 12 + 12 * half.startswith("p"), minute)}
    if hour.startswith("0") or number > 12:
        return {(number, minute)}
    return {(number % 12, minute), (number % 12 + 12, minute)}
