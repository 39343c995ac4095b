"""The app To-do, by taps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.contents.todo_items import TodoItem, TodoList
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Hold, Press, Toggle


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("To-do"))
    return phone


def add(phone: Phone, title: str, place: str = "Work", done: bool = False) -> TodoItem:
    found = phone.facts.find(TodoList, lambda each: each.name == place)
    assert found
    item = phone.facts.add(TodoItem(list_id=found.id, title=title, done=done))
    phone.refresh()
    return item


def test_a_new_item_lands_on_its_list_with_day_and_star(phone: Phone, use: Use) -> None:
    use(Press("Work"), Press("New item"), Fill("What is to be done?", "Sweep"))
    use(Toggle("Starred", True), Press("Tomorrow"), Press("Save"))
    (item,) = phone.facts.where(TodoItem, lambda item: item.title == "Sweep")
    assert phone.facts.get(TodoList, item.list_id).name == "Work"
    assert item.starred
    assert item.due == phone.now.date() + timedelta(days=1)


def test_the_box_ticks_off_and_the_row_opens(phone: Phone, use: Use) -> None:
    item = add(phone, "Sweep")
    use(Press("Work"), Toggle("Sweep", True, role="checkbox"))
    assert phone.facts.get(TodoItem, item.id).done
    use(Press("Sweep", role="row"))
    assert phone.routes[-1].page == "item"


def test_clearing_takes_only_what_is_done_on_this_list(phone: Phone, use: Use) -> None:
    kept, done = add(phone, "Sweep"), add(phone, "Mop", done=True)
    other = add(phone, "Dust", place="Personal", done=True)
    use(Press("Work"), Press("More options"), Press("Clear completed"))
    left = phone.facts.all(TodoItem)
    assert kept in left
    assert other in left
    assert done not in left


def test_sorting_by_title_puts_a_before_z(phone: Phone, use: Use) -> None:
    add(phone, "Zip the bag")
    add(phone, "Air the room")
    use(Press("Work"), Press("Sort"), Press("Title"))
    boxes = [e.text for e in phone.elements() if e.role == "checkbox" and not e.checked]
    assert boxes == sorted(boxes, key=str.casefold)
    assert boxes[0] == "Air the room"


def test_an_item_moves_to_another_list(phone: Phone, use: Use) -> None:
    item = add(phone, "Sweep")
    use(Press("Work"), Press("Sweep", role="row"), Press("Personal"), Press("Save"))
    place = phone.facts.get(TodoItem, item.id).list_id
    assert phone.facts.get(TodoList, place).name == "Personal"


def test_deleting_a_list_takes_its_items_along(phone: Phone, finger: Finger, use: Use) -> None:
    item = add(phone, "Sweep")
    use(Hold("Work"), Press("Delete list"), Press("Delete"))
    assert phone.facts.find(TodoList, lambda each: each.name == "Work") is None
    assert item not in phone.facts.all(TodoItem)
    assert "Personal" in finger.labels


def test_a_deleted_item_takes_its_page_with_it(phone: Phone, finger: Finger, use: Use) -> None:
    item = add(phone, "Sweep")
    use(Press("Work"), Press("Sweep", role="row"), Press("Delete"), Press("Delete"))
    assert item not in phone.facts.all(TodoItem)
    assert "New item" in finger.labels
