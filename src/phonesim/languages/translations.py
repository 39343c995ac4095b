"""Translations of an English text of the phone into every language that we have.

Scripts name elements by their English labels; `forms` lets them find the same elements on a phone
that speaks another language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import time
from functools import lru_cache

from phonesim.languages.language import FOLDERS, Language, language

MONEY = re.compile(r"\$(\d[\d,]*\.\d\d)")
TIME = re.compile(r"\b(\d{1,2}):(\d\d) (AM|PM)\b")


@lru_cache(maxsize=4096)
def forms(text: str) -> frozenset[str]:
    """Return the text and its translations, with values in placeholders translated, too.

    Amounts such as $12.50 and times such as 7:05 PM are reformatted for each language.
    """
    found = {text}
    for name in FOLDERS:
        of = language(name)
        found |= {*_forms_in(of, text), *_forms_in(of, figures_in(of, text))}
    return frozenset(found)


def filled(of: Language, text: str, keys: Iterable[str]) -> str:
    """Translate an English text that is one of `keys` with its placeholders filled.

    For texts that were stored as facts in English. Any other text is returned unchanged.
    """
    for key in keys:
        match = _holes(key).fullmatch(text)
        if match:
            return of.tr(key).format(**match.groupdict())
    return text


def figures_in(of: Language, text: str) -> str:
    """Return the text with its amounts and times in the language's formats."""

    def moment(found: re.Match[str]) -> str:
        hour = int(found[1]) % 12 + 12 * (found[3] == "PM")
        return of.time(time(hour, int(found[2])), use_24_hour=False)

    written = MONEY.sub(lambda amount: of.money(float(amount[1].replace(",", "")), "$"), text)
    return TIME.sub(moment, written)


def _forms_in(of: Language, text: str) -> Iterator[str]:
    yield of.tr(text)
    for key, translated in of.words.items():
        if key.partition("|")[0] == text:
            yield translated
        match = _holes(key).fullmatch(text) if "{" in key else None
        if match:
            filled = match.groupdict()
            yield translated.format(**filled)
            yield translated.format(**{name: of.tr(value) for name, value in filled.items()})


@lru_cache(maxsize=4096)
def _holes(key: str) -> re.Pattern[str]:
    """Return a pattern that matches the key with any values in its placeholders."""
    parts = re.split(r"\{(\w+)\}", key)  # text, name, text, name, …
    return re.compile(
        "".join(
            f"(?P<{part}>.+)" if index % 2 else re.escape(part) for index, part in enumerate(parts)
        ),
        re.DOTALL,
    )
