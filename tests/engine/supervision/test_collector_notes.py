"""Who collects is written down now and then, and nothing depends on it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tests.engine.made_up_reports import report

from distrl.engine.supervision.collector_notes import NOTE_SECONDS, CollectorNotebook, note
from distrl.json_lines import read_lines
from distrl.runs.run_records import CollectorNote, CollectorNotes


def test_a_note_has_the_phones_that_are_away_and_why() -> None:
    broken = dataclasses.replace(
        report(9, 3, 7), quarantined=("phone-2",), troubles={"phone-2": "DeviceLost: gone"}
    )
    away = {"phone-2": "DeviceLost: gone"}
    assert note("c-1.1", "there", 3, broken) == CollectorNote("c-1.1", "there", 3, 7, away)
    assert note("c-1.1", "", 0, None) == CollectorNote("c-1.1", "", 0, 0, {})


def test_it_is_written_anew_when_due(tmp_path: Path) -> None:
    now = 0.0
    notebook = CollectorNotebook(tmp_path / "collectors.json", lambda: now)
    due = [notebook.is_due]
    for name in ("c-0.1", "c-0.2"):
        notebook.write([note(name, "", 1, None)])
        due.append(notebook.is_due)
        [found] = read_lines(tmp_path / "collectors.json", CollectorNotes)
        assert [each.name for each in found.collectors] == [name]
        now += NOTE_SECONDS
        due.append(notebook.is_due)
    assert due == [True, False, True, False, True]


def test_a_disk_that_refuses_it_costs_nothing_else(tmp_path: Path) -> None:
    CollectorNotebook(tmp_path / "nowhere" / "collectors.json").write([])
