"""The app Files, by taps."""

from __future__ import annotations

from datetime import date

import pytest

from distrl.devices.simulated.apps.file_records import Folder, StoredFile, size_words
from distrl.devices.simulated.drift import NO_DRIFT
from distrl.devices.simulated.phone import Phone
from distrl.records import FINAL_ACTIONS, OpenApp
from distrl.tasks.moves import Fill, Hold, Move, Press
from distrl.tasks.solver import Solver


def use(phone: Phone, *moves: Move) -> None:
    """Carry out the moves as a person would, by what the screen shows."""
    solver = Solver(moves)
    while not isinstance(action := solver.next(phone.elements()), FINAL_ACTIONS):
        phone.perform(action)


def labels(phone: Phone) -> set[str]:
    return {element.text for element in phone.elements()}


@pytest.fixture
def phone() -> Phone:
    phone = Phone(1, NO_DRIFT)
    phone.perform(OpenApp("Files"))
    return phone


def add(phone: Phone, name: str, folder: str = "Downloads", kilobytes: int = 10) -> StoredFile:
    place = phone.facts.find(Folder, lambda each: each.name == folder)
    assert place
    file = phone.facts.add(StoredFile(0, name, place.id, kilobytes, date(2026, 1, 2)))
    phone.refresh()
    return file


def test_a_deleted_file_can_be_restored(phone: Phone) -> None:
    file = add(phone, "aa.txt")
    use(phone, Press("Downloads"), Press("aa.txt"), Press("Delete"), Press("Delete"))
    assert phone.facts.get(StoredFile, file.id).trashed
    assert "aa.txt" not in labels(phone)
    assert phone.routes[-1].page == "folder"
    use(phone, Press("Navigate up"), Press("Trash"), Press("aa.txt"), Press("Restore"))
    assert phone.facts.get(StoredFile, file.id) == file


def test_renaming_starts_from_the_old_name(phone: Phone) -> None:
    file = add(phone, "aa.txt")
    use(phone, Press("Downloads"), Hold("aa.txt"), Press("Rename"))
    field = next(e for e in phone.elements() if e.role == "field")
    assert field.value == "aa.txt"
    use(phone, Fill("File name", "bb.txt"), Press("Rename", role="button"))
    assert phone.facts.get(StoredFile, file.id).name == "bb.txt"


def test_copying_leaves_the_first_one_where_it_is(phone: Phone) -> None:
    file = add(phone, "aa.txt")
    use(phone, Press("Downloads"), Hold("aa.txt"), Press("Copy"), Press("Letters"))
    both = phone.facts.where(StoredFile, lambda each: each.name == "aa.txt")
    assert file in both
    assert {phone.facts.get(Folder, each.folder_id).name for each in both} == {
        "Downloads",
        "Letters",
    }


def test_a_file_moves_into_a_new_folder(phone: Phone) -> None:
    file = add(phone, "aa.txt")
    use(phone, Press("Downloads"), Press("New folder"), Fill("Folder name", "Cellar"))
    use(phone, Press("Create"), Hold("aa.txt"), Press("Move"), Press("Cellar"))
    place = phone.facts.get(StoredFile, file.id).folder_id
    assert phone.facts.get(Folder, place).name == "Cellar"


def test_sorting_by_size_puts_the_largest_first(phone: Phone) -> None:
    add(phone, "huge.zip", kilobytes=9_000_000)
    use(phone, Press("Downloads"), Press("Sort"), Press("Size"))
    rows = [e.text for e in phone.elements() if e.role == "row"]
    assert rows[0] == "huge.zip"


@pytest.mark.parametrize(
    ("kilobytes", "words"), [(820, "820 KB"), (3_400, "3.4 MB"), (21_400_000, "21.4 GB")]
)
def test_sizes_read_well(kilobytes: int, words: str) -> None:
    assert size_words(kilobytes) == words
