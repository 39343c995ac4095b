"""Views for judges without the changes that the simulated world made, not the agent (events).

An agent may have acted on the phone as it was at the start, or as it has become (an answer to "how
many unread mails?" may count the one that has just come). So a judge compares twice: with an end
that lacks the world's changes, and with a start that already has them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from phonesim.facts import Facts
from phonesim.state import PhoneState
from phonesim.tasks.template import View


def the_world_did_something(state: PhoneState) -> bool:
    return bool(state.arrived or state.moved)


def without_world(start: View, end: View, state: PhoneState) -> View:
    """Return the end view without the world's changes."""
    arrived = frozenset(state.arrived)
    kept = {
        kind: {record.id: record for record in records if record.id not in arrived}
        for kind, records in end.facts.tables()
    }
    return dataclasses.replace(end, facts=_with_fields(kept, end, start, state))


def with_world(start: View, end: View, state: PhoneState) -> View:
    """Return the start view as if all of the world's changes had been made before it."""
    arrived = frozenset(state.arrived)
    before = {kind: {r.id: r for r in records} for kind, records in start.facts.tables()}
    for kind, records in end.facts.tables():
        before.setdefault(kind, {}).update({r.id: r for r in records if r.id in arrived})
    return dataclasses.replace(start, facts=_with_fields(before, start, end, state))


def _with_fields(
    tables: dict[type[Any], dict[int, Any]], of: View, values: View, state: PhoneState
) -> Facts:
    """Return the tables as facts; take the fields that the world has changed from `values`."""
    facts = Facts(tables, of.facts.next_id)
    known = {record.id: record for _, records in values.facts.tables() for record in records}
    for kind, records in list(facts.tables()):
        for record in records:
            moved = _moved(record.id, state.moved)
            if moved and type(known.get(record.id)) is kind:
                facts.edit(record, **{name: getattr(known[record.id], name) for name in moved})
    return facts


def _moved(record_id: int, moved: Iterable[tuple[int, str]]) -> list[str]:
    return [name for each, name in moved if each == record_id]
