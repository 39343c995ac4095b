"""One table for results of the same tasks; others are refused by what differs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from distrl.episodes.outcome import Outcome
from distrl.errors import CorruptOutcomes, OtherSettings, UsageError
from distrl.records import Ending
from distrl.reporting.leaderboard import (
    ResultFile,
    TaskSetFile,
    markdown,
    ranked,
    read_result,
    read_task_set,
    result_of,
    rows,
    write_result,
    write_task_set,
)
from phonesim.tasks.task_sets import load_task

IDS = [f"notes.create/test/{number}" for number in range(4)]
SETTINGS = {"model": "a", "seed": 0, "greedy": True, "temperature": None, "dialect": None}


def result(model: str, endings: str, **changes: Any) -> ResultFile:
    """A result by one letter for each task: s for success, f for failure, l for lost."""
    kinds = {"s": Ending.SUCCESS, "f": Ending.FAILURE, "l": Ending.DEVICE_LOST}
    outcomes = [
        Outcome(load_task(task)[0], kinds[letter], 5, "", progress=float(letter == "s"))
        for task, letter in zip(IDS, endings, strict=False)
    ]
    return replace(result_of({**SETTINGS, "model": model}, outcomes), **changes)


def test_a_result_comes_back_from_its_file(tmp_path: Path) -> None:
    whole = result("a", "sfls")
    write_result(tmp_path / "a.json", whole)
    assert read_result(tmp_path / "a.json") == whole
    assert json.loads((tmp_path / "a.json").read_text())["endings"][2] == "device_lost"
    assert (whole.rate.successes, whole.rate.episodes) == (2, 3)  # a lost phone is nobody's failure


def test_the_best_is_first_and_differences_are_paired(tmp_path: Path) -> None:
    found = ranked({tmp_path / "b": result("b", "sfff"), tmp_path / "a": result("a", "sssf")})
    assert [each.model for each in found] == ["a", "b"]
    first, second = rows(found)
    assert first[1:3] == ("a (greedy)", "75.0%")
    assert second[4].startswith("-50.0 [")
    assert "| 2 | b (greedy) | 25.0% |" in markdown(found)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"seed": 1}, "seed is 1"),
        ({"distrl": "0.0.9"}, "distrl is '0.0.9'"),
        ({"tasks_digest": "x"}, "tasks_digest"),
        ({"screens_digest": "x"}, "screens_digest"),
    ],
)
def test_what_was_not_measured_on_the_same_is_refused(
    changes: dict[str, Any], name: str, tmp_path: Path
) -> None:
    one, other = result("a", "ssss"), result("b", "ssss", **changes)
    with pytest.raises(OtherSettings, match=name):
        ranked({tmp_path / "a": one, tmp_path / "b": other})


def test_digests_follow_the_tasks() -> None:
    fewer = result("a", "sss")
    assert fewer.tasks_digest != result("a", "ssss").tasks_digest
    assert result("a", "ssss").screens_digest == result("b", "ffff").screens_digest


def test_a_task_set_gives_its_tasks_unless_they_have_changed(tmp_path: Path) -> None:
    tasks = [load_task(task)[0] for task in IDS]
    path = tmp_path / "set.json"
    write_task_set(path, TaskSetFile.of("four", tasks))
    assert read_task_set(path).load(path) == tasks
    changed = replace(TaskSetFile.of("four", tasks), tasks_digest="0" * 32)
    write_task_set(path, changed)
    with pytest.raises(OtherSettings, match="make the set anew"):
        read_task_set(path).load(path)


BROKEN: dict[str, tuple[Any, type[Exception], str]] = {
    "no object": ([], CorruptOutcomes, "no format"),
    "another format": ({"format": "x"}, CorruptOutcomes, "no format"),
    "another version": ({"format": "distrl-result", "version": 9}, OtherSettings, "version 9"),
    "parts missing": ({"format": "distrl-result", "version": 1}, CorruptOutcomes, "missing"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_file_that_is_none_is_refused(what: str, tmp_path: Path) -> None:
    tree, error, words = BROKEN[what]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(error, match=words):
        read_result(path)


def test_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with pytest.raises(UsageError, match="No such file"):
        read_result(path)
    path.write_text("{")
    with pytest.raises(CorruptOutcomes, match="no JSON"):
        read_result(path)
    write_result(path, result("a", "ssss", steps=(1, 2)))
    with pytest.raises(CorruptOutcomes, match="4 tasks"):
        read_result(path)
    once = result("a", "ssss")
    write_result(path, replace(once, tasks=(once.tasks[0],) * 4))
    with pytest.raises(CorruptOutcomes, match="twice"):
        read_result(path)
