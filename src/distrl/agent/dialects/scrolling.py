"""Scrolling in a direction, as a stroke of the finger.

A direction says where the reader wants to look: to scroll down is to show what lies below, so the
finger moves up.
"""

from __future__ import annotations

from distrl.errors import InvalidAction
from distrl.records import Swipe

LENGTH = 0.4  # of the screen
MARGIN = 0.1  # a stroke from the very edge of a phone is a gesture of the system

_FINGER = {"down": (0, -1), "up": (0, 1), "right": (-1, 0), "left": (1, 0)}


def scroll(direction: str, x: float = 0.5, y: float = 0.5) -> Swipe:
    """The stroke that scrolls what is at this point; it is centred there as far as it fits."""
    if direction not in _FINGER:
        raise InvalidAction(f"direction is {direction[:40]!r}, not one of {', '.join(_FINGER)}")
    right, down = (LENGTH / 2 * way for way in _FINGER[direction])
    x, y = _inside(x, abs(right)), _inside(y, abs(down))
    return Swipe(x - right, y - down, x + right, y + down)


def direction_of(stroke: Swipe) -> str:
    """The direction that a stroke scrolls in, by the way it goes furthest."""
    right, down = stroke.to_x - stroke.x, stroke.to_y - stroke.y
    if abs(right) > abs(down):
        return "left" if right > 0 else "right"
    return "up" if down > 0 else "down"


def _inside(middle: float, reach: float) -> float:
    """The middle of a stroke that keeps clear of the edges, if it moves along this side at all."""
    least = reach + MARGIN if reach else 0.0
    return min(max(middle, least), 1.0 - least)
