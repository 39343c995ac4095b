"""The app Files, by taps."""

from __future__ import annotations

from datetime import date

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.contents.file_records import Folder, StoredFile, size_words
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Hold, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Files"))
    return phone


def add(phone: Phone, name: str, folder: str = "Downloads", kilobytes: int = 10) -> StoredFile:
    place = phone.facts.find(Folder, lambda each: each.name == folder)
    assert place
    file = phone.facts.add(StoredFile(0, name, place.id, kilobytes, date(2026, 1, 2)))
    phone.refresh()
    return file


def test_a_deleted_file_can_be_restored(phone: Phone, finger: Finger, use: Use) -> None:
    file = add(phone, "aa.txt")
    use(Press("Downloads"), Press("aa.txt"), Press("Delete"), Press("Delete"))
    assert phone.facts.get(StoredFile, file.id).trashed
    assert "aa.txt" not in finger.labels
    assert phone.routes[-1].page == "folder"
    use(Press("Navigate up"), Press("Trash"), Press("aa.txt"), Press("Restore"))
    assert phone.facts.get(StoredFile, file.id) == file


def test_renaming_starts_from_the_old_name(phone: Phone, use: Use) -> None:
    file = add(phone, "aa.txt")
    use(Press("Downloads"), Hold("aa.txt"), Press("Rename"))
    field = next(e for e in phone.elements() if e.role == "field")
    assert field.value == "aa.txt"
    use(Fill("File name", "bb.txt"), Press("Rename", role="button"))
    assert phone.facts.get(StoredFile, file.id).name == "bb.txt"


def test_copying_leaves_the_first_one_where_it_is(phone: Phone, use: Use) -> None:
    file = add(phone, "aa.txt")
    use(Press("Downloads"), Hold("aa.txt"), Press("Copy"), Press("Letters"))
    both = phone.facts.where(StoredFile, lambda each: each.name == "aa.txt")
    assert file in both
    assert {phone.facts.get(Folder, each.folder_id).name for each in both} == {
        "Downloads",
        "Letters",
    }


def test_a_file_moves_into_a_new_folder(phone: Phone, use: Use) -> None:
    file = add(phone, "aa.txt")
    use(Press("Downloads"), Press("New folder"), Fill("Folder name", "Cellar"))
    use(Press("Create"), Hold("aa.txt"), Press("Move"), Press("Cellar"))
    place = phone.facts.get(StoredFile, file.id).folder_id
    assert phone.facts.get(Folder, place).name == "Cellar"


def test_sorting_by_size_puts_the_largest_first(phone: Phone, use: Use) -> None:
    add(phone, "huge.zip", kilobytes=9_000_000)
    use(Press("Downloads"), Press("Sort"), Press("Size"))
    rows = [e.text for e in phone.elements() if e.role == "row"]
    assert rows[0] == "huge.zip"


@pytest.mark.parametrize(
    ("kilobytes", "words"), [(820, "820 KB"), (3_400, "3.4 MB"), (21_400_000, "21.4 GB")]
)
def test_sizes_read_well(kilobytes: int, words: str) -> None:
    assert size_words(kilobytes) == words
