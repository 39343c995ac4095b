"""Does an answer say what was asked for? Strict enough that guessing everything does not pass."""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_WORDS = 15  # an answer, not an inventory


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:[.,:]\d+)*", text.casefold().replace("’", "'"))


def _contains(words: list[str], run: list[str]) -> bool:
    return any(words[i : i + len(run)] == run for i in range(len(words) - len(run) + 1))


def mentions(answer: str | None, expected: str, others: Iterable[str] = ()) -> bool:
    """The answer has `expected` in it, as whole words, and none of the `others`."""
    if answer is None:
        return False
    words, wanted = _words(answer), _words(expected)
    if not wanted or len(words) > MOST_WORDS or not _contains(words, wanted):
        return False
    wrong = (run for run in map(_words, others) if run and run != wanted)
    return not any(_contains(words, run) and not _contains(wanted, run) for run in wrong)


def states_number(answer: str | None, expected: float) -> bool:
    """The answer has exactly one number in it, and it is the right one."""
    if answer is None:
        return False
    numbers = re.findall(r"-?\d+(?:\.\d+)?", answer.replace(",", ""))
    return len(numbers) == 1 and abs(float(numbers[0]) - expected) < 1e-6
