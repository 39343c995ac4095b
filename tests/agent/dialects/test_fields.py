"""Which way the finger goes."""

from __future__ import annotations

import pytest

from distrl.agent.dialects.fields import LENGTH, MARGIN, direction_of, scroll
from distrl.errors import InvalidAction
from distrl.records import Swipe


def test_to_look_below_the_finger_goes_up() -> None:
    assert scroll("down") == Swipe(0.5, 0.7, 0.5, 0.3)
    assert scroll("up") == Swipe(0.5, 0.3, 0.5, 0.7)
    assert scroll("right") == Swipe(0.7, 0.5, 0.3, 0.5)
    assert scroll("left") == Swipe(0.3, 0.5, 0.7, 0.5)


@pytest.mark.parametrize("direction", ["up", "down", "left", "right"])
def test_a_stroke_fits_on_the_screen_wherever_it_is_asked_for(direction: str) -> None:
    for x in (0.0, 0.05, 0.5, 1.0):
        for y in (0.0, 0.05, 0.5, 1.0):
            stroke = scroll(direction, x, y)
            moves = (stroke.x, stroke.to_x) if stroke.x != stroke.to_x else (stroke.y, stroke.to_y)
            assert abs(moves[1] - moves[0]) == pytest.approx(LENGTH)
            assert MARGIN - 1e-9 <= min(moves) < max(moves) <= 1 - MARGIN + 1e-9
            assert (stroke.x == x) if stroke.x == stroke.to_x else (stroke.y == y)
            assert direction_of(stroke) == direction


def test_a_stroke_scrolls_the_way_it_goes_furthest() -> None:
    assert direction_of(Swipe(0.1, 0.5, 0.8, 0.1)) == "left"
    assert direction_of(Swipe(0.5, 0.1, 0.8, 0.9)) == "up"
    assert direction_of(Swipe(0.5, 0.5, 0.5, 0.5)) == "down"  # it does not move at all


def test_an_unknown_direction() -> None:
    with pytest.raises(InvalidAction, match="'north', not one of down, up, right, left"):
        scroll("north")
