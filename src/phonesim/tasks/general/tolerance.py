"""When two texts or phone numbers are as good as equal, so that judges do not fuss over spaces."""

from __future__ import annotations

from collections.abc import Callable

from phonesim.contents.people import digits
from phonesim.facts import MissingFact, Record
from phonesim.tasks.template import View


def same_text(said: str, wanted: str) -> bool:
    """Equal but for capitals, spaces and a full stop at the end."""
    return _plain(said) == _plain(wanted)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


def same_number(said: str, wanted: str) -> bool:
    """Equal but for spaces and dashes."""
    return digits(said) == digits(wanted)


def as_good_as(
    wanted: str, view: View, record: Record, field: str, same: Callable[[str, str], bool]
) -> str:
    """What the record's field holds now if that is as good as wanted, else what is wanted."""
    try:
        found: str = getattr(view.facts.get(type(record), record.id), field)
    except MissingFact:
        return wanted
    return found if same(found, wanted) else wanted
