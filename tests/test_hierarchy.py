"""What a language model is told of a hierarchy, and elements as rows of plain values."""

from __future__ import annotations

from typing import Any

import pytest

from distrl.hierarchy import (
    LONGEST_TEXT,
    MAX_READABLE,
    Element,
    element_rows,
    elements_of_rows,
    readable,
    scrolled_at,
    touched_at,
    words_touched,
    words_under,
)
from phonesim.phone import Phone

PAGE = Element("view", "", (0, 0, 360, 720))
ROW = Element("row", "", (0, 100, 360, 160), clickable=True)


def test_a_row_takes_the_labels_and_the_switch_that_stand_on_it() -> None:
    label = Element("text", "Wi-Fi", (10, 105, 100, 125))
    below = Element("text", "Home network", (10, 130, 100, 150))
    switch = Element("switch", "", (300, 110, 350, 150), checked=True)
    [row] = readable((ROW, label, below, switch))
    assert (row.role, row.text, row.detail) == ("switch", "Wi-Fi", "Home network")
    assert row.checked
    assert row.clickable
    assert row.bounds == ROW.bounds


def test_what_can_be_touched_for_itself_stays_apart() -> None:
    button = Element("button", "Delete", (300, 110, 350, 150), clickable=True)
    assert [each.text for each in readable((ROW, button))] == ["", "Delete"]


def test_a_label_belongs_to_the_nearest_that_is_touched() -> None:
    page = Element("view", "", (0, 0, 360, 720), clickable=True)
    button = Element("button", "", (300, 100, 360, 160), clickable=True)
    name = Element("text", "Ada", (10, 105, 100, 125))
    delete = Element("text", "Delete", (310, 110, 350, 150))
    found = readable((page, ROW, name, button, delete))
    assert [(each.text, each.bounds) for each in found] == [
        ("", page.bounds), ("Ada", ROW.bounds), ("Delete", button.bounds),
    ]  # fmt: skip


def test_the_words_that_a_finger_touches() -> None:
    name = Element("text", "Ada", (10, 105, 100, 125), detail="a friend")
    switch = Element("switch", "", (300, 100, 360, 160), clickable=True, checked=True)
    info = Element("button", "Info", (240, 100, 300, 160), clickable=True)
    elements = (PAGE, Element("text", "Title", (0, 0, 360, 90)), ROW, name, info, switch)
    assert words_touched(elements, 200, 150) == ["Ada", "a friend"]
    assert words_touched(elements, 310, 150) == ["Ada", "a friend"]
    assert set(words_touched(elements, 250, 150)) == {"Info"}
    assert words_touched(elements, 200, 600) == []
    assert words_under(elements, 200, 150) == []
    assert words_under(elements, 50, 110) == ["Ada", "a friend"]


def test_a_page_speaks_for_nothing_on_it_and_a_field_for_itself() -> None:
    """A whole page may react to a finger, to close the keyboard say."""
    page = PAGE._replace(clickable=True)
    tip, icon = Element("text", "Tips", (0, 0, 360, 90)), Element("button", "", (0, 200, 40, 240))
    field = Element("field", "", (100, 110, 200, 150), clickable=True)
    name = Element("text", "Ada", (10, 105, 90, 125))
    elements = (page, tip, ROW, name, field, icon._replace(clickable=True))
    assert words_touched(elements, 20, 220) == []
    assert words_touched(elements, 150, 130) == []
    assert words_touched(elements, 300, 130) == ["Ada"]
    assert words_touched(elements, 20, 40) == ["Tips"]


def test_what_has_no_label_and_no_use_is_left_out() -> None:
    frame, picture = Element("view", "", (0, 0, 9, 9)), Element("picture", "", (0, 0, 9, 9))
    assert readable((frame, picture)) == ()


def test_keys_are_one_keyboard_and_bars_are_nothing() -> None:
    keys = [Element("key", key, (at, 500, at + 30, 540), window="keyboard") for key, at in KEYS]
    back = Element("button", "Back", (0, 690, 90, 720), window="system", clickable=True)
    assert readable((*keys, back)) == (
        Element("keyboard", "", (0, 500, 90, 540), window="keyboard"),
    )


KEYS = (("q", 0), ("w", 30), ("e", 60))


def test_floods_are_cut() -> None:
    many = (Element("text", "x" * 10_000, (0, 0, 9, 9)) for _ in range(10**6))
    found = readable(many)
    assert len(found) < MAX_READABLE
    assert {each.text for each in found} == {"x" * (LONGEST_TEXT - 1) + "…"}


def test_a_finger_meets_what_reacts_on_top_and_scrolls_what_scrolls() -> None:
    page = Element("scroll", "", (0, 0, 360, 700), scrollable=True)
    title = Element("text", "Title", (0, 100, 360, 160))
    elements = (page, ROW, title)
    assert touched_at(elements, 50, 120) == ROW
    assert touched_at((page, title), 50, 120) == title
    assert touched_at(elements, 50, 500) is None
    assert scrolled_at(elements, 50, 120) == page


def test_elements_come_back_from_rows() -> None:
    phone = Phone(seed=3)
    elements = phone.elements()
    assert len(elements) > 5
    assert elements_of_rows(element_rows(elements)) == elements


GOOD = element_rows([ROW])[0]


@pytest.mark.parametrize(
    "row",
    [
        [], "row", None, 3, GOOD[:-1], [*GOOD, True], [1, *GOOD[1:]],
        [*GOOD[:2], [0, 1, 2], *GOOD[3:]], [*GOOD[:2], [0, 1, 2, 3.5], *GOOD[3:]],
        [*GOOD[:6], 1, *GOOD[7:]], [*GOOD[:9], "on", *GOOD[10:]],
    ],
)  # fmt: skip
def test_other_rows_are_refused(row: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        elements_of_rows([row])
