"""Which script a text is written in, and a line of it as runs, from left to right as one sees them.

Roboto has Latin, Greek and Cyrillic; what it lacks is told apart here. Text that runs from right to
left is put into the order of the screen by the Unicode bidirectional algorithm (`python-bidi`, from
the extra `world`); without that package each run is right in itself, and the runs follow each other
from left to right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

from phonesim.drawing.emoji import JOINERS

Script = Literal["roboto", "cjk", "arabic", "hebrew", "devanagari", "emoji"]

RANGES: tuple[tuple[int, int, Script], ...] = (
    (0x0590, 0x05FF, "hebrew"),
    (0x0600, 0x08FF, "arabic"),
    (0x0900, 0x097F, "devanagari"),
    (0x23E9, 0x23FA, "emoji"),  # clocks
    (0x2600, 0x27BF, "emoji"),
    (0x2B50, 0x2B55, "emoji"),
    (0x2E80, 0xA4CF, "cjk"),  # radicals, kana, ideographs
    (0xA8E0, 0xA8FF, "devanagari"),
    (0xAC00, 0xD7FF, "cjk"),  # Hangul
    (0xF900, 0xFAFF, "cjk"),
    (0xFB1D, 0xFB4F, "hebrew"),
    (0xFB50, 0xFDFF, "arabic"),
    (0xFE30, 0xFE4F, "cjk"),
    (0xFE70, 0xFEFE, "arabic"),
    (0xFF00, 0xFFEF, "cjk"),  # full and half widths
    (0x1F000, 0x1FAFF, "emoji"),
    (0x20000, 0x3FFFF, "cjk"),
)
RIGHT_TO_LEFT = frozenset(("hebrew", "arabic"))
_WORLD = re.compile("[" + "".join(f"{chr(a)}-{chr(b)}" for a, b, _ in RANGES) + "\u200d\ufe0f]")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


class Run(NamedTuple):
    """Characters of one script, in the order they are read."""

    text: str
    script: Script
    right_to_left: bool


def is_plain(text: str) -> bool:
    """Whether Roboto alone draws it."""
    return text.isascii() or _WORLD.search(text) is None


def starts_right(text: str) -> bool:
    """Whether the first letter with a direction runs from right to left: so does the paragraph."""
    if text.isascii():
        return False
    directions = (unicodedata.bidirectional(character) for character in text)
    return next((d for d in directions if d in ("L", "R", "AL")), "L") != "L"


def script_of(character: str) -> Script:
    code = ord(character)
    return next((script for first, last, script in RANGES if first <= code <= last), "roboto")


@lru_cache(maxsize=4096)
def runs(text: str) -> tuple[Run, ...]:
    """The line in runs, the leftmost first."""
    characters = list(zip(text, _scripts(text), _levels(text), strict=True))
    found = []
    for (script, level), part in groupby(characters, key=lambda item: item[1:]):
        found.append((Run("".join(c for c, _, _ in part), script, bool(level % 2)), level))
    return tuple(_mirrored(run) for run in _reordered(found))


def _scripts(text: str) -> list[Script]:
    """A mark, a joiner or a skin tone belongs to the character before it."""
    scripts: list[Script] = []
    for character in text:
        joins = character in JOINERS or unicodedata.combining(character)
        scripts.append(scripts[-1] if joins and scripts else script_of(character))
    return scripts


def _levels(text: str) -> list[int]:
    """The embedding level of each character: odd ones run from right to left."""
    if not any(script_of(character) in RIGHT_TO_LEFT for character in text):
        return [0] * len(text)
    try:
        from bidi import algorithm
    except ImportError:
        return [int(script_of(character) in RIGHT_TO_LEFT) for character in text]
    storage = algorithm.get_empty_storage()
    storage["base_level"] = algorithm.get_base_level(text)
    storage["base_dir"] = ("L", "R")[storage["base_level"]]
    algorithm.get_embedding_levels(text, storage)
    characters = list(storage["chars"])  # explicit marks are dropped from the storage later on
    algorithm.explicit_embed_and_overrides(storage)
    algorithm.resolve_weak_types(storage)
    algorithm.resolve_neutral_types(storage, False)
    algorithm.resolve_implicit_levels(storage, False)
    return [int(character["level"]) for character in characters]


def _reordered(levelled: Sequence[tuple[Run, int]]) -> list[Run]:
    """Rule L2: from the highest level down to the lowest odd one, turn what lies at it around."""
    order = list(levelled)
    for level in range(max((depth for _, depth in order), default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and order[end][1] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = max(end, start + 1)
    return [run for run, _ in order]


def _mirrored(run: Run) -> Run:
    """Roboto draws what it gets from left to right: turn it around here."""
    if run.right_to_left and run.script == "roboto":
        return Run(run.text[::-1].translate(_MIRRORED), run.script, False)
    return run
