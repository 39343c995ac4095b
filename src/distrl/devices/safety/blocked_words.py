"""Search the labels on a phone's screen for the words of `blocked_words.toml`.

The match ignores case, letter width and invisible characters; a hyphen equals a space.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib import resources

BETWEEN_WORDS = re.compile(r"[\s\-\u2010-\u2015]+")


@cache
def blocked_words() -> tuple[str, ...]:
    """Return the blocked words of all languages."""
    text = resources.files(__package__).joinpath("blocked_words.toml").read_text("utf-8")
    return tuple(word for words in tomllib.loads(text).values() for word in words)


def blocked_word(label: str, words: tuple[str, ...]) -> str:
    """Return the first blocked word in a label, or "". Match whole words in scripts with spaces."""
    found = _pattern(words).search(_plain(label))
    return next(word for word in words if _plain(word) == found[0]) if found else ""


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the words, longer ones first, so that the longest match is reported."""
    plain = sorted({_plain(word) for word in words}, key=len, reverse=True)
    edged = (rf"(?<!\w){re.escape(word)}(?!\w)" if _has_spaces(word) else word for word in plain)
    return re.compile("|".join(edged))


def _has_spaces(word: str) -> bool:
    """Return whether the word's script puts spaces between words. Chinese, Japanese and Thai do
    not, and in Korean endings follow the word without a space.
    """
    return word[0] < "\u2e80" and not "\u0e00" <= word[0] < "\u0e80"


def _plain(text: str) -> str:
    """Normalize: lower case, spaces for hyphens and line breaks, no invisible characters."""
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    folded = unicodedata.normalize("NFKC", seen).casefold().replace("\u2019", "'")
    return BETWEEN_WORDS.sub(" ", folded)
