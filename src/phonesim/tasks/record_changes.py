"""Differences between a phone's records at two moments, and their description in words.

Judges use it to name what was wrongly touched. Tables to which neither side has written are the
same object, so comparing two phones that hardly differ costs microseconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from phonesim.facts import Facts

MAX_LABEL = 40  # characters of a value in a sentence


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One record that was added, removed or changed."""

    before: Any | None  # None: it was added
    after: Any | None  # None: it was removed

    @property
    def record(self) -> Any:
        """The record before the change, or the new one if it was added."""
        return self.after if self.before is None else self.before

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that differ; empty if the record was added or removed."""
        if self.before is None or self.after is None:
            return frozenset()
        return frozenset(differing_fields(self.before, self.after))

    def __str__(self) -> str:
        if self.before is None:
            return f"added {named(self.after)}"
        if self.after is None:
            return f"removed {named(self.before)}"
        differences = (
            f"{name} {shown(getattr(self.before, name))} → {shown(getattr(self.after, name))}"
            for name in sorted(self.fields)
        )
        return f"changed {named(self.before)}: {', '.join(differences)}"


def record_changes(start: Facts, end: Facts, kinds: Iterable[type[Any]]) -> Iterator[RecordChange]:
    """Yield every record of these types that was removed, changed or added, type by type."""
    for kind in kinds:
        if start.shares_table(end, kind):
            continue
        before = {record.id: record for record in start.all(kind)}
        after = {record.id: record for record in end.all(kind)}
        for record_id in [*before, *(each for each in after if each not in before)]:
            old, new = before.get(record_id), after.get(record_id)
            if old != new:
                yield RecordChange(old, new)


def differing_fields(old: Any, new: Any) -> set[str]:
    """Return the names of the fields in which two records of one type differ."""
    names = (field.name for field in dataclasses.fields(old) if field.compare)
    return {name for name in names if getattr(old, name) != getattr(new, name)}


def named(record: Any) -> str:
    """Return a readable name of a record: its type, the first text in it, and its id."""
    texts = (getattr(record, field.name) for field in dataclasses.fields(record))
    label = next((text for text in texts if isinstance(text, str) and text), None)
    which = f" {shown(label)}" if label else ""
    return f"{type(record).__name__}{which} (id {record.id})"


def shown(value: object) -> str:
    """Return a value as text for a sentence, truncated to `MAX_LABEL` characters."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"
