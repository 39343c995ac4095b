"""The words of `blocked_words.toml`, looked for in the labels of a phone.

Case and width of letters do not matter, nor marks that nobody sees; a hyphen is a space.
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
    """Those of every language."""
    text = resources.files(__package__).joinpath("blocked_words.toml").read_text("utf-8")
    return tuple(word for words in tomllib.loads(text).values() for word in words)


def blocked_word(label: str, words: tuple[str, ...]) -> str:
    """The first blocked word in a label; empty: none. Whole words, where a script has spaces."""
    found = _pattern(words).search(_plain(label))
    return next(word for word in words if _plain(word) == found[0]) if found else ""


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Longer words first, so that the whole of what is meant is named."""
    plain = sorted({_plain(word) for word in words}, key=len, reverse=True)
    edged = (rf"(?<!\w){re.escape(word)}(?!\w)" if _has_spaces(word) else word for word in plain)
    return re.compile("|".join(edged))


def _has_spaces(word: str) -> bool:
    """Chinese, Japanese and Thai have none between words, and Korean endings follow at once."""
    return word[0] < "\u2e80" and not "\u0e00" <= word[0] < "\u0e80"


def _plain(text: str) -> str:
    """One spelling: small letters, a space for hyphens and line breaks, no unseen marks."""
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    folded = unicodedata.normalize("NFKC", seen).casefold().replace("\u2019", "'")
    return BETWEEN_WORDS.sub(" ", folded)
