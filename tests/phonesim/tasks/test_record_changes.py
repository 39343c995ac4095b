"""Changes of records are found by id and said in words."""

from __future__ import annotations

from dataclasses import replace

from phonesim.apps.notes import Note
from phonesim.facts import Facts
from phonesim.tasks.record_changes import record_changes


def test_each_change_is_found_and_named() -> None:
    start = Facts()
    kept, edited, gone = (start.add(Note(title=title)) for title in ("Kept", "Edited", "Gone"))
    end = start.copy()
    end.put(replace(edited, pinned=True, text="x" * 60))
    end.remove(gone)
    new = end.add(Note(title="New"))
    words = [str(change) for change in record_changes(start, end, (Note,))]
    cut = f"'{'x' * 38}…"
    assert words == [
        f"changed Note 'Edited' (id {edited.id}): pinned False → True, text '' → {cut}",
        f"removed Note 'Gone' (id {gone.id})",
        f"added Note 'New' (id {new.id})",
    ]
    assert kept in end.all(Note)


def test_a_record_written_back_as_it_was_is_no_change() -> None:
    start = Facts()
    note = start.add(Note(title="Same"))
    end = start.copy()
    end.put(replace(note, pinned=True))
    end.put(note)
    assert not start.shares_table(end, Note)
    assert list(record_changes(start, end, (Note,))) == []
