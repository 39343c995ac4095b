"""The numbered list: bounded, and its numbers mean the elements that they stand before."""

from __future__ import annotations

import pytest

from distrl.agent.element_list import MAX_LISTED, ElementList, described
from distrl.errors import InvalidAction
from distrl.hierarchy import Element, readable
from distrl.records import OpenApp, Swipe
from phonesim.phone import Phone

APPS = ("Settings", "Clock", "Notes", "Mail", "Calendar", "Browser")


def shown(app: str, seed: int) -> ElementList:
    phone = Phone(seed=seed)
    phone.perform(OpenApp(app))
    if seed % 2:
        phone.perform(Swipe(0.5, 0.7, 0.5, 0.3))
    return ElementList.of(readable(phone.elements()), 360, 720)


@pytest.mark.parametrize("app", APPS)
def test_a_number_becomes_a_place_that_means_the_same_number(app: str) -> None:
    reached = 0
    for seed in range(4):
        listed = shown(app, seed)
        for number, element in enumerate(listed.elements, start=1):
            if element.touchable:
                x, y = listed.place(number)
                assert listed.number_at(x, y) == number, (app, seed, described(element))
                reached += 1
    assert reached > 8


def test_every_element_has_a_line_with_its_number() -> None:
    listed = shown("Settings", 0)
    lines = list(listed.lines())
    assert len(lines) == len(listed.elements)
    assert [line.split()[0] for line in lines] == [str(at + 1) for at in range(len(lines))]


def test_role_label_detail_value_and_state_are_told() -> None:
    box = (0, 0, 10, 10)
    assert described(Element("switch", "Wi-Fi", box, "Home", checked=True)) == (
        'switch "Wi-Fi" (Home) on'
    )
    assert described(Element("field", "Title", box, value="milk\neggs", focused=True)) == (
        'field "Title" = "milk eggs" focused'
    )
    assert described(Element("button", "x" * 99, box, enabled=False)) == (
        f'button "{"x" * 59}…" disabled'
    )
    assert described(Element("tab", "Alarms", box, selected=True)) == 'tab "Alarms" selected'


def test_of_a_long_list_what_reacts_is_kept_and_the_rest_is_counted() -> None:
    texts = [Element("text", f"line {at}", (0, at, 9, at + 1)) for at in range(100)]
    last = Element("button", "Buy", (0, 200, 9, 210), clickable=True)
    listed = ElementList.of((*texts, last), 360, 720)
    *_, button, told = listed.lines()
    assert len(listed.elements) == MAX_LISTED
    assert button == f'{MAX_LISTED} button "Buy"'
    assert told == f"({101 - MAX_LISTED} more are not shown)"


def test_a_screen_without_elements_says_so() -> None:
    assert list(ElementList.of((), 360, 720).lines()) == ["(nothing that could be read)"]


def test_a_number_that_is_not_there_is_refused() -> None:
    listed = shown("Clock", 0)
    for number in (0, -1, len(listed.elements) + 1):
        with pytest.raises(InvalidAction, match=f"no element {number} on this screen, only 1 to"):
            listed.place(number)


def test_a_covered_element_is_touched_where_it_shows() -> None:
    below = Element("row", "Below", (0, 0, 360, 100), clickable=True)
    above = Element("button", "Above", (90, 0, 270, 100), clickable=True)
    listed = ElementList.of((below, above), 360, 720)
    x, y = listed.place(1)
    assert listed.number_at(x, y) == 1
    assert listed.number_at(0.5, 0.05) == 2
