"""Dialogs are drawn where their buttons are, and answered there."""

from __future__ import annotations

import numpy as np
import pytest

from distrl.devices.browser.browser_page import Dialog
from distrl.devices.browser.page_dialog import DialogBox
from distrl.records import Back, Enter, Swipe, Tap, TypeText

PAGE = np.full((720, 360, 3), 255, np.uint8)


@pytest.mark.parametrize("size", [(360, 720), (160, 210), (1080, 2400)])
@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
def test_buttons_are_on_the_screen_and_answer(kind: str, size: tuple[int, int]) -> None:
    width, height = size
    box = DialogBox(Dialog(kind, "word " * 200), width, height)
    for element in box.elements():
        left, top, right, bottom = element.bounds
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    buttons = [element for element in box.elements() if element.clickable]
    assert [each.text for each in buttons] == (["OK"] if kind == "alert" else ["Cancel", "OK"])
    answers = [box.answer(Tap(x / width, y / height)) for x, y in (b.centre for b in buttons)]
    assert answers == (["accept"] if kind == "alert" else ["dismiss", "accept"])


def test_the_page_below_is_dimmed_and_the_box_is_not() -> None:
    drawn = DialogBox(Dialog("confirm", "Sure?"), 360, 720).over(PAGE)
    assert drawn[5, 5].tolist() == [127, 127, 127]
    assert drawn[360, 30].min() > 200
    assert PAGE.min() == 255


def test_only_answers_close_it_and_a_prompt_takes_text() -> None:
    box = DialogBox(Dialog("prompt", "Name?", "Bo"), 360, 720)
    assert box.answer(Back()) == "dismiss"
    assert box.answer(Enter()) == "accept"
    for action in (Tap(0.01, 0.01), TypeText("b"), Swipe(0.5, 0.5, 0.5, 0.1)):
        assert box.answer(action) is None
    assert box.typed(TypeText("b")).text == "Bob"
    assert DialogBox(Dialog("alert", "x"), 360, 720).typed(TypeText("b")).text == ""
