"""The most common checks of judges: was this the only change to the records of one type?

Each function returns in words what is wrong, or None if nothing is.
"""

from __future__ import annotations

from typing import Any

from phonesim.facts import R
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.template import View, added, changed, differing_fields, removed


def only_changed(
    start: View, end: View, kind: type[R], record_id: int, /, **wanted: Any
) -> str | None:
    """Check that only this record changed, only in these fields, and that it has these values."""
    noun = kind.__name__
    if added(start, end, kind) or removed(start, end, kind):
        return f"a record was added or removed: {noun}"
    pairs = changed(start, end, kind)
    if any(new.id != record_id for _, new in pairs):
        return f"another record was changed: {noun}"
    for old, new in pairs:
        wrong = _wrong_fields(new, wanted)
        if wrong:
            return f"not as wanted yet: {noun} with {wrong}"
        beside = differing_fields(old, new) - set(wanted)
        return f"changed as well: {', '.join(sorted(beside))} of {noun}" if beside else None
    return f"nothing was changed: {noun}"


def only_removed(start: View, end: View, kind: type[R], *record_ids: int) -> str | None:
    """Check that exactly these records were removed and the others are unchanged."""
    noun = kind.__name__
    if added(start, end, kind) or changed(start, end, kind):
        return f"a record was added or changed: {noun}"
    gone = {record.id for record in removed(start, end, kind)}
    if gone - set(record_ids):
        return f"too many were removed: {noun}"
    return None if gone == set(record_ids) else f"not all were removed: {noun}"


def only_added(start: View, end: View, kind: type[R], /, **wanted: Any) -> str | None:
    """Check that exactly one record was added, with these values, and the others are unchanged."""
    noun = kind.__name__
    if removed(start, end, kind) or changed(start, end, kind):
        return f"a record was removed or changed: {noun}"
    new = added(start, end, kind)
    if len(new) != 1:
        return f"expected one new {noun}, got {len(new)}"
    wrong = _wrong_fields(new[0], wanted)
    return f"the new {noun} has {wrong}" if wrong else None


def _wrong_fields(record: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with unwanted values, as they are; texts are compared by `same_text`."""
    found = {name: getattr(record, name) for name in wanted}
    return {name: value for name, value in found.items() if not _same(value, wanted[name])}


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return same_text(value, wanted)
    return bool(value == wanted)
