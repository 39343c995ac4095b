"""The app Notes, by taps."""

from __future__ import annotations

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.apps.notes import Note
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Hold, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Notes"))
    return phone


def add(phone: Phone, title: str, label: str = "") -> Note:
    note = phone.facts.add(Note(title=title, text="Something", label=label))
    phone.refresh()
    return note


def test_a_note_is_written_and_changed(phone: Phone, use: Use) -> None:
    use(Press("New note"), Fill("Title", "Tides"), Fill("Text", "High"), Press("Save"))
    (note,) = phone.facts.where(Note, lambda note: note.title == "Tides")
    use(Press("Tides"), Fill("Text", "Low"), Press("Save"))
    assert phone.facts.get(Note, note.id).text == "Low"


def test_pinned_notes_come_first(phone: Phone, use: Use) -> None:
    add(phone, "Tides")
    use(Hold("Tides"), Press("Pin"))
    rows = [element.text for element in phone.elements() if element.role == "row"]
    assert rows[0] == "Tides"


def test_a_copy_is_a_note_of_its_own(phone: Phone, use: Use) -> None:
    note = add(phone, "Tides")
    use(Hold("Tides"), Press("Make a copy"))
    (copy,) = phone.facts.where(Note, lambda each: each.title == "Tides (copy)")
    assert (copy.text, copy.id != note.id) == (note.text, True)


def test_the_filter_shows_one_label_only(phone: Phone, finger: Finger, use: Use) -> None:
    add(phone, "Tides", label="Money")
    add(phone, "Waves", label="Travel")
    use(Press("Filter by label"), Press("Money"))
    assert "Tides" in finger.labels
    assert "Waves" not in finger.labels
    use(Press("Money", role="button"))
    assert "Waves" in finger.labels


def test_archived_notes_leave_the_list_and_come_back(
    phone: Phone, finger: Finger, use: Use
) -> None:
    note = add(phone, "Tides")
    use(Hold("Tides"), Press("Archive"))
    assert "Tides" not in finger.labels
    use(Press("Archived notes"), Hold("Tides"), Press("Unarchive"))
    assert phone.facts.get(Note, note.id) == note


def test_search_looks_into_the_text(phone: Phone, use: Use) -> None:
    phone.facts.edit(add(phone, "Tides"), text="full of herring")
    phone.refresh()
    use(Fill("Search notes", "HERRING"))
    assert [e.text for e in phone.elements() if e.role == "row"] == ["Tides"]


def test_a_deleted_note_takes_its_page_with_it(phone: Phone, finger: Finger, use: Use) -> None:
    note = add(phone, "Tides")
    use(Press("Tides"), Press("Delete"), Press("Delete"))
    assert note not in phone.facts.all(Note)
    assert "New note" in finger.labels
