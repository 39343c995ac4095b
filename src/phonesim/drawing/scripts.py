"""Splits a line of text into runs of one script, in the order they appear on the screen.

Roboto covers Latin, Greek and Cyrillic; `RANGES` lists the other scripts. Right-to-left text is
reordered by the Unicode bidirectional algorithm (`python-bidi`, from the extra `world`). Without
that package each run is correct in itself, but the runs follow each other from left to right.
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
    (0xFF00, 0xFFEF, "cjk"),  # full-width and half-width forms
    (0x1F000, 0x1FAFF, "emoji"),
    (0x20000, 0x3FFFF, "cjk"),
)
RIGHT_TO_LEFT = frozenset(("hebrew", "arabic"))
_WORLD = re.compile("[" + "".join(f"{chr(a)}-{chr(b)}" for a, b, _ in RANGES) + "\u200d\ufe0f]")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


class Run(NamedTuple):
    """Consecutive characters of one script, in reading order."""

    text: str
    script: Script
    right_to_left: bool


def is_plain(text: str) -> bool:
    """Return whether Roboto alone can draw the text."""
    return text.isascii() or _WORLD.search(text) is None


def starts_right(text: str) -> bool:
    """Return whether the paragraph runs right to left: its first letter with a direction does."""
    if text.isascii():
        return False
    directions = (unicodedata.bidirectional(character) for character in text)
    return next((d for d in directions if d in ("L", "R", "AL")), "L") != "L"


def script_of(character: str) -> Script:
    code = ord(character)
    return next((script for first, last, script in RANGES if first <= code <= last), "roboto")


@lru_cache(maxsize=4096)
def runs(text: str) -> tuple[Run, ...]:
    """Split a line into runs, the leftmost first."""
    characters = list(zip(text, _scripts(text), _levels(text), strict=True))
    found = []
    for (script, level), part in groupby(characters, key=lambda item: item[1:]):
        found.append((Run("".join(c for c, _, _ in part), script, bool(level % 2)), level))
    return tuple(_mirrored(run) for run in _reordered(found))


def _scripts(text: str) -> list[Script]:
    """Return the script of each character; combining marks and joiners take the previous one's."""
    scripts: list[Script] = []
    for character in text:
        joins = character in JOINERS or unicodedata.combining(character)
        scripts.append(scripts[-1] if joins and scripts else script_of(character))
    return scripts


def _levels(text: str) -> list[int]:
    """Return the embedding level of each character; odd levels run from right to left."""
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
    characters = list(storage["chars"])  # includes explicit marks, which the next steps drop
    algorithm.explicit_embed_and_overrides(storage)
    algorithm.resolve_weak_types(storage)
    algorithm.resolve_neutral_types(storage, False)
    algorithm.resolve_implicit_levels(storage, False)
    return [int(character["level"]) for character in characters]


def _reordered(levelled: Sequence[tuple[Run, int]]) -> list[Run]:
    """Apply rule L2: from the highest level down to 1, reverse every stretch at or above it."""
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
    """Reverse a right-to-left Roboto run, since Roboto is always drawn from left to right."""
    if run.right_to_left and run.script == "roboto":
        return Run(run.text[::-1].translate(_MIRRORED), run.script, False)
    return run
