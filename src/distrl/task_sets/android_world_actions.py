"""Our actions as AndroidWorld performs them, in pixels of its screen.

What it has no words for is said with those that come nearest: a swipe becomes a scroll in its main
direction over the whole screen, and waits have AndroidWorld's own length. After typing it presses
Enter by itself.
"""

from __future__ import annotations

from typing import Any

from distrl.errors import InvalidAction
from distrl.records import (
    Action,
    Back,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Wait,
)


def json_action(action: Action, size: tuple[int, int]) -> dict[str, Any]:
    """One of AndroidWorld's JSON actions; `size` is the screen's width and height."""
    match action:
        case Tap(x, y):
            return {"action_type": "click", **_pixel(x, y, size)}
        case LongPress(x, y):
            return {"action_type": "long_press", **_pixel(x, y, size)}
        case Swipe():
            return {"action_type": "scroll", "direction": scroll_direction(action)}
        case TypeText(text):
            return {"action_type": "input_text", "text": text}
        case OpenApp(name):
            return {"action_type": "open_app", "app_name": name}
        case Back():
            return {"action_type": "navigate_back"}
        case Home():
            return {"action_type": "navigate_home"}
        case Enter():
            return {"action_type": "keyboard_enter"}
        case Wait():
            return {"action_type": "wait"}
        case _:
            raise InvalidAction(f"{action!r} is only said; there is nothing to perform")


def scroll_direction(swipe: Swipe) -> str:
    """Where the view goes: a finger that moves up scrolls down."""
    across, down = swipe.to_x - swipe.x, swipe.to_y - swipe.y
    if abs(across) > abs(down):
        return "left" if across > 0 else "right"
    return "up" if down > 0 else "down"


def _pixel(x: float, y: float, size: tuple[int, int]) -> dict[str, int]:
    width, height = size
    return {"x": min(int(x * width), width - 1), "y": min(int(y * height), height - 1)}
