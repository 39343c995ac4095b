"""Actions as a person would tell them: what a judge is told that an agent did."""

from __future__ import annotations

import json

from distrl.records import (
    Action,
    Answer,
    Back,
    Done,
    Enter,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Unreadable,
    Wait,
)

MAX_QUOTE = 500  # characters of what an agent typed or answered


def in_words(action: Action) -> str:
    match action:
        case Tap(x, y):
            return f"tapped at {_place(x, y)}"
        case LongPress(x, y):
            return f"pressed long at {_place(x, y)}"
        case Swipe(x, y, to_x, to_y):
            return f"swiped from {_place(x, y)} to {_place(to_x, to_y)}"
        case TypeText(text):
            return f"typed {quoted(text)}"
        case OpenApp(name):
            return f"opened the app {quoted(name)}"
        case Answer(text):
            return f"answered {quoted(text)}"
        case Wait():
            return "waited"
        case Back() | Home() | Enter():
            return f"pressed {type(action).__name__}"
        case Done():
            return "said that the task is done"
        case Impossible():
            return "said that the task is impossible"
        case Unreadable():  # of any length and content: not repeated
            return "gave an answer that could not be read"


def quoted(text: str) -> str:
    """On one line, between quotes, and not endless, whatever somebody wrote."""
    return json.dumps(text[:MAX_QUOTE])


def _place(x: float, y: float) -> str:
    return f"{round(100 * x)} % across, {round(100 * y)} % down"
