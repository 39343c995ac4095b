"""Instructions from text files: disjoint lists whatever the files have, and honest counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.errors import InvalidSetting
from distrl.task_sets.aitw import load_aitw


def files(folder: Path, train: str, test: str) -> tuple[Path, Path]:
    (folder / "train.txt").write_text(train, encoding="utf-8")
    (folder / "test.txt").write_text(test, encoding="utf-8")
    return folder / "train.txt", folder / "test.txt"


def test_test_instructions_are_taken_out_of_training_and_counted(tmp_path: Path) -> None:
    train = "Open the clock\nSet an alarm\nPlay a song\nOpen the maps\n"
    found = load_aitw("general", *files(tmp_path, train, "Set an alarm\nPlay a song\n"))
    assert [task.instruction for task in found.train] == ["Open the clock", "Open the maps"]
    assert [task.instruction for task in found.test] == ["Set an alarm", "Play a song"]
    assert (found.leaked, found.repeated) == (2, 0)
    assert "2 of 2 test instructions were in the training file" in str(found)


def test_how_an_instruction_is_written_does_not_hide_it(tmp_path: Path) -> None:
    train = 'Go to shop.example, search for "tea"\n  Open   the Clock. \nWhat\'s new?\nRead mail\n'
    test = "Go to shop.example, search for 'tea'\nopen the clock\nWhat’s new?\n"
    found = load_aitw("web_shopping", *files(tmp_path, train, test))
    assert [task.instruction for task in found.train] == ["Read mail"]
    assert found.leaked == 3


def test_lines_that_repeat_another_are_counted_and_left_out(tmp_path: Path) -> None:
    found = load_aitw("general", *files(tmp_path, "a\n\nA\nb\nc\n", "c\nc\nd\n"))
    assert [task.instruction for task in found.train] == ["a", "b"]
    assert len(found.test) == 2
    assert (found.leaked, found.repeated) == (1, 2)


def test_tasks_are_those_of_their_subset_and_have_ids_of_their_own(tmp_path: Path) -> None:
    found = load_aitw("web_shopping", *files(tmp_path, "a\nb\nc\n", "b\n"))
    task = found.train[1]
    assert (task.id, task.family, task.split) == ("aitw_web_shopping/train/2", "shopping", "train")
    assert task.step_limit == 20
    everything = (*found.train, *found.test)
    assert len({each.id for each in everything}) == len(everything)


@pytest.mark.parametrize(
    ("train", "test", "why"),
    [
        ("", "a\n", "no instructions"),
        ("a\n", "\n\n", "no instructions"),
        ("a\nb\n", "B\nA\nc\n", "nothing is left"),
        ("x" * 3000, "a\n", "3000 characters"),
    ],
)
def test_files_without_a_use_are_refused(tmp_path: Path, train: str, test: str, why: str) -> None:
    with pytest.raises(InvalidSetting, match=why):
        load_aitw("general", *files(tmp_path, train, test))


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    train, test = files(tmp_path, "a\n", "b\n")
    with pytest.raises(InvalidSetting, match="one instruction a line"):
        load_aitw("general", tmp_path / "nothing.txt", test)
    train.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidSetting, match="one instruction a line"):
        load_aitw("general", train, test)
