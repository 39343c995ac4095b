"""One change is all that may have happened."""

from __future__ import annotations

import pytest

from phonesim.apps.notes import Note
from phonesim.drift import NO_DRIFT
from phonesim.phone import Phone
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.template import view_of


@pytest.fixture
def phone() -> Phone:
    return Phone(1, NO_DRIFT)


def test_only_changed_wants_this_change_and_no_other(phone: Phone) -> None:
    first, second, *_ = phone.facts.all(Note)
    start = view_of(phone)
    assert only_changed(start, view_of(phone), Note, first.id, text="New")
    phone.facts.edit(first, text="New")
    assert only_changed(start, view_of(phone), Note, first.id, text="New") is None
    assert only_changed(start, view_of(phone), Note, second.id, text="New")
    phone.facts.edit(first, text="New", pinned=True)
    assert only_changed(start, view_of(phone), Note, first.id, text="New")
    phone.facts.edit(first, text="New")
    phone.facts.edit(second, text="New")
    assert only_changed(start, view_of(phone), Note, first.id, text="New")


def test_only_added_wants_one_new_record(phone: Phone) -> None:
    start = view_of(phone)
    assert only_added(start, view_of(phone), Note, title="New")
    note = phone.facts.add(Note(title="New"))
    assert only_added(start, view_of(phone), Note, title="New") is None
    assert only_added(start, view_of(phone), Note, title="Other")
    phone.facts.add(Note(title="New"))
    assert only_added(start, view_of(phone), Note, title="New")
    phone.facts.remove(note)
    phone.facts.remove(phone.facts.all(Note)[0])
    assert only_added(start, view_of(phone), Note, title="New")


def test_only_removed_wants_exactly_these_gone(phone: Phone) -> None:
    first, second, third, *_ = phone.facts.all(Note)
    start = view_of(phone)
    phone.facts.remove(first)
    assert only_removed(start, view_of(phone), Note, first.id, second.id)
    phone.facts.remove(second)
    assert only_removed(start, view_of(phone), Note, first.id, second.id) is None
    phone.facts.remove(third)
    assert only_removed(start, view_of(phone), Note, first.id, second.id)


def test_text_need_not_match_to_the_last_space(phone: Phone) -> None:
    first, *_ = phone.facts.all(Note)
    start = view_of(phone)
    phone.facts.edit(first, text="new  text. ")
    assert only_changed(start, view_of(phone), Note, first.id, text="New text") is None
    assert only_changed(start, view_of(phone), Note, first.id, text="New texts")
