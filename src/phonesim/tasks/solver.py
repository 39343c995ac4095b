"""Plays a scripted solution on a live screen, one action at a time.

The solver reads the view hierarchy, never the facts. It finds the target of the next move, scrolls
to it if it is out of sight, closes pop-ups that are in the way, and hides the keyboard if that may
cover the target. `ScriptLost` means that the solution or the app has a bug.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from distrl.hierarchy import Element
from distrl.records import (
    Action,
    Answer,
    AskUser,
    Back,
    Done,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from phonesim.display import STANDARD, Display
from phonesim.languages.translations import forms
from phonesim.system_ui.heads_up import WINDOW as HEADS_UP
from phonesim.system_ui.popups import DECLINES
from phonesim.tasks.moves import (
    Ask,
    Fill,
    GoBack,
    GoHome,
    Hold,
    Move,
    Open,
    Pause,
    Press,
    PullShade,
    Reveal,
    Say,
    Slide,
    Submit,
    Toggle,
)

LEAST_VISIBLE = 14  # pixels of an element that must show before it is tapped
MAX_SCROLLS = 40
UNREACHED = ("keyboard", "system", HEADS_UP)  # windows in which no move has its target


class ScriptLost(RuntimeError):
    """Raised if the target of the next move is nowhere on this page."""


class Solver:
    """Turns the moves of a solution into actions, one for each screen that it is given."""

    def __init__(
        self,
        moves: Iterable[Move],
        *,
        open_by_name: bool = False,
        display: Display = STANDARD,
    ) -> None:
        self._display = display
        self._moves = iter(moves)
        self._move: Move | None = next(self._moves, None)
        self._open_by_name = open_by_name
        self._seen: list[tuple[Element, ...]] = []  # screens seen in the search for the target
        self._upward = False

    def next(self, elements: Sequence[Element]) -> Action:
        """Return the next action. `elements` is the view hierarchy of the current screen."""
        elements = self._display.in_units(elements)
        popup = self._decline(elements)
        if popup:
            return popup
        while self._move is not None:
            action, finished = self._act(self._move, tuple(elements))
            if finished:
                self._move = next(self._moves, None)
                self._seen, self._upward = [], False
            if action:
                return action
        return Done()

    def _decline(self, elements: Sequence[Element]) -> Action | None:
        for element in elements:
            if element.window == "popup" and element.text in _declines() and element.clickable:
                return self._tap(element.centre)
            if element.window == HEADS_UP:
                (x, y), (width, height) = element.centre, self._display.units
                return Swipe(x / width, y / height, x / width, 0.0)
        return None

    def _act(self, move: Move, elements: tuple[Element, ...]) -> tuple[Action | None, bool]:
        """Return an action (None if none is needed), and whether it finishes the move."""
        match move:
            case Open(app):
                return self._open(app, elements)
            case Press() | Hold():
                return self._press(move, elements)
            case Fill(field, text):
                return self._fill(field, text, elements)
            case Toggle(label, on, role):
                return self._toggle(label, on, role, elements)
            case Slide(label, share):
                return self._slide(label, share, elements)
            case Reveal(label):
                found = _matching(elements, label)
                return (None, True) if found else (self._search(elements, label), False)
            case Submit():
                return Enter(), True
            case GoBack():
                return Back(), True
            case GoHome():
                return Home(), True
            case PullShade():
                return Swipe(0.5, 0.005, 0.5, 0.6), True
            case Pause(seconds):
                return Wait(seconds), True
            case Ask(question):
                return AskUser(question), True
            case Say(text):
                return Answer(text), True

    def _open(self, app: str, elements: tuple[Element, ...]) -> tuple[Action | None, bool]:
        if self._open_by_name:
            return OpenApp(app), True
        icons = [e for e in elements if e.role == "app" and e.window == "app"]
        for icon in icons:
            if icon.text in forms(app) and _shows(icon):
                return self._tap(icon.centre), True
        if not icons:
            return Home(), False
        in_drawer = any(e.role == "field" and e.text in forms("Search apps") for e in elements)
        if in_drawer:
            return self._search(elements, app), False
        if elements in self._seen:  # the last page of the home screen: open the drawer
            return Swipe(0.5, 0.75, 0.5, 0.3), False
        self._seen.append(elements)
        return Swipe(0.85, 0.45, 0.15, 0.45), False

    def _press(self, move: Press | Hold, elements: tuple[Element, ...]) -> tuple[Action, bool]:
        found = [
            e
            for e in _matching(elements, move.label, move.role, move.detail)
            if (e.clickable if isinstance(move, Press) else e.holdable)
        ]
        if len(found) > move.nth:
            point, (width, height) = _free_point(found[move.nth], elements), self._display.units
            if point:
                x, y = point[0] / width, point[1] / height
                return (Tap(x, y) if isinstance(move, Press) else LongPress(x, y)), True
        return self._search(elements, move.label), False

    def _fill(
        self, label: str, text: str, elements: tuple[Element, ...]
    ) -> tuple[Action | None, bool]:
        found = _matching(elements, label, "field")
        if not found:
            return self._search(elements, label), False
        field = found[0]
        if field.value == text:
            return None, True
        if field.value and not text.startswith(field.value):
            clear = _matching(elements, f"Clear {label}", "button")
            if clear:
                return self._tap(clear[0].centre), False
        if not field.focused:
            return self._tap(_free_point(field, elements) or field.centre), False
        return TypeText(text[len(field.value) :]), True

    def _toggle(
        self, label: str, on: bool, role: str | None, elements: tuple[Element, ...]
    ) -> tuple[Action | None, bool]:
        found = [e for e in _matching(elements, label, role) if e.checked is not None]
        point = _free_point(found[0], elements) if found else None
        if not found or not point:
            return self._search(elements, label), False
        if found[0].checked is on:
            return None, True
        return self._tap(point), True

    def _slide(
        self, label: str, share: float, elements: tuple[Element, ...]
    ) -> tuple[Action | None, bool]:
        found = _matching(elements, label, "slider")
        if not found:
            return self._search(elements, label), False
        left, top, right, bottom = found[0].bounds
        x = left + 8 + share * (right - left - 16)
        return self._tap((min(round(x), right - 1), (top + bottom) // 2)), True

    def _search(self, elements: tuple[Element, ...], label: str) -> Action:
        """Look further for the target: hide the keyboard, else scroll down, else scroll up."""
        if any(e.window == "keyboard" for e in elements):
            return Back()
        rooms = [e for e in elements if e.scrollable]
        if not rooms or len(self._seen) > MAX_SCROLLS:
            shown = ", ".join(sorted({e.text for e in elements if e.text and e.window != "system"}))
            raise ScriptLost(f"nothing called {label!r} on this screen, which shows: {shown}")
        if elements in self._seen:
            if self._upward:
                self._seen = [*self._seen, *[()] * MAX_SCROLLS]  # both ends seen: give up next
            self._upward = True
        self._seen.append(elements)
        left, top, right, bottom = max(rooms, key=_area).bounds
        x, high, low = (left + right) / 2, top + 0.25 * (bottom - top), top + 0.75 * (bottom - top)
        start, end = (high, low) if self._upward else (low, high)
        width, height = self._display.units
        return Swipe(x / width, start / height, x / width, end / height, seconds=0.8)

    def _tap(self, point: tuple[int, int]) -> Tap:
        width, height = self._display.units
        return Tap((point[0] + 0.5) / width, (point[1] + 0.5) / height)


def _matching(
    elements: Sequence[Element], label: str, role: str | None = None, detail: str | None = None
) -> list[Element]:
    """Return the visible elements with this label, in any language of the phone."""
    labels = forms(label)
    details = None if detail is None else forms(detail)
    return [
        e
        for e in elements
        if e.text in labels
        and e.window not in UNREACHED
        and (role is None or e.role == role)
        and (details is None or e.detail in details)
        and _shows(e)
    ]


@cache
def _declines() -> frozenset[str]:
    return frozenset(form for label in DECLINES for form in forms(label))


def _shows(element: Element) -> bool:
    left, top, right, bottom = element.bounds
    return bottom - top >= LEAST_VISIBLE and right - left >= LEAST_VISIBLE


def _area(element: Element) -> int:
    left, top, right, bottom = element.bounds
    return (right - left) * (bottom - top)


def _free_point(target: Element, elements: Sequence[Element]) -> tuple[int, int] | None:
    """Return a point of the target not covered by a clickable element; None if none is found."""
    above = [e for e in elements[list(elements).index(target) + 1 :] if e.clickable]
    left, top, right, bottom = target.bounds
    for across in (0.5, 0.25, 0.1, 0.75, 0.9):
        for down in (0.5, 0.25, 0.75):
            x, y = int(left + across * (right - left)), int(top + down * (bottom - top))
            if not any(_covers(e, x, y) for e in above):
                return x, y
    return None


def _covers(element: Element, x: int, y: int) -> bool:
    left, top, right, bottom = element.bounds
    return left <= x < right and top <= y < bottom
