"""Outcomes on disk: nothing finished is lost, nothing else is mixed in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.episodes.outcome import Outcome
from distrl.episodes.outcome_log import OutcomeLog
from distrl.errors import CorruptOutcomes, OtherSettings
from distrl.records import Ending
from phonesim.tasks.task_sets import load_task

SETTINGS = {"model": "monkey", "families": ("general",), "seed": 0, "temperature": None}


UNKNOWN_TASK = (
    b'{"task": "no.such/test/1", "ending": "failure", "steps": 1, "unreadable": 0, '
    b'"weight_version": 0, "reason": ""}\n'
)


def outcome(number: int, reason: str = "") -> Outcome:
    task, _ = load_task(f"notes.create/test/{number}")
    return Outcome(task, Ending.FAILURE, 4, reason, unreadable=1, weight_version=3)


def written(path: Path, *outcomes: Outcome) -> Path:
    with OutcomeLog.new(path, SETTINGS) as log:
        for found in outcomes:
            log.append(found)
    return path


def test_what_was_appended_is_there_again_whatever_its_reason_says(tmp_path: Path) -> None:
    kept = [outcome(0, "two\nlines"), outcome(1, "Žofie 🎉 \u2028 \ud800"), outcome(2)]
    path = written(tmp_path / "new" / "log.jsonl", *kept)
    with OutcomeLog.resumed(path, SETTINGS) as log:
        assert log.outcomes == kept
        log.append(outcome(3))
    with OutcomeLog.resumed(path, SETTINGS) as log:
        assert log.outcomes == [*kept, outcome(3)]


def test_an_outcome_is_in_the_file_before_the_next_is_played(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with OutcomeLog.new(path, SETTINGS) as log:
        log.append(outcome(0))
        with OutcomeLog.resumed(path, SETTINGS) as other:
            assert other.outcomes == [outcome(0)]


def test_wherever_a_process_is_killed_only_the_last_outcome_is_lost(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", outcome(0), outcome(1, "Žofie"))
    whole = path.read_bytes()
    first = whole.rindex(b"\n", 0, -1) + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        with OutcomeLog.resumed(path, SETTINGS) as log:
            assert log.outcomes == [outcome(0)]
            log.append(outcome(1, "Žofie"))
        assert path.read_bytes() == whole


def test_killed_inside_the_first_line_it_begins_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl")
    os.truncate(path, 10)
    with OutcomeLog.resumed(path, SETTINGS) as log:
        assert log.outcomes == []
        log.append(outcome(0))
    with OutcomeLog.resumed(path, SETTINGS) as log:
        assert log.outcomes == [outcome(0)]


def test_nothing_to_resume_is_a_beginning_and_new_replaces(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with OutcomeLog.resumed(path, SETTINGS) as log:
        log.append(outcome(0))
    with OutcomeLog.new(path, SETTINGS) as log:
        assert log.outcomes == []
    with OutcomeLog.resumed(path, SETTINGS) as log:
        assert log.outcomes == []


@pytest.mark.parametrize(
    "other", [{**SETTINGS, "seed": 1}, {**SETTINGS, "blank": "screen"}, {"model": "monkey"}]
)
def test_a_log_of_other_settings_is_refused_and_left_alone(
    tmp_path: Path, other: dict[str, object]
) -> None:
    path = written(tmp_path / "log.jsonl", outcome(0))
    before = path.read_bytes()
    with pytest.raises(OtherSettings, match=r"was .*, now "):
        OutcomeLog.resumed(path, other)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b"{broken\n", "line 2 is no outcome: Expecting property name"),
        (b"[]\n", "line 2 is no outcome: Expected `object`"),
        (b"\xff\xfe\n", "line 2 is no outcome: Expecting value"),
        (b'{"task": "notes.create/test/1"}\n', "line 2 is no outcome: .*ending"),
        (
            UNKNOWN_TASK,
            "line 2 is no outcome: .*no task template",
        ),
    ],
)
def test_a_line_that_is_no_outcome_is_an_error_that_names_it(
    tmp_path: Path, line: bytes, wrong: str
) -> None:
    path = written(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(CorruptOutcomes, match=wrong):
        OutcomeLog.resumed(path, SETTINGS)


@pytest.mark.parametrize("content", [b"not ours\n", b'{"task": "x"}\n'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises((CorruptOutcomes, OtherSettings)):
        OutcomeLog.resumed(path, SETTINGS)
