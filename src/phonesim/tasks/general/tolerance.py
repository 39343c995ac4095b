"""Loose equality of texts and phone numbers, so that judges ignore case and spaces."""

from __future__ import annotations

from collections.abc import Callable

from phonesim.contents.people import digits
from phonesim.facts import MissingFact, Record
from phonesim.tasks.template import View


def same_text(said: str, wanted: str) -> bool:
    """Return whether two texts are equal apart from case, extra spaces and a final full stop."""
    return _plain(said) == _plain(wanted)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


def same_number(said: str, wanted: str) -> bool:
    """Return whether two phone numbers are equal apart from spaces and dashes."""
    return digits(said) == digits(wanted)


def as_good_as(
    wanted: str, view: View, record: Record, field: str, same: Callable[[str, str], bool]
) -> str:
    """Return the current value of the record's field if it is `same` as wanted, else `wanted`."""
    try:
        found: str = getattr(view.facts.get(type(record), record.id), field)
    except MissingFact:
        return wanted
    return found if same(found, wanted) else wanted
