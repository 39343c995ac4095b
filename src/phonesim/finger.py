"""Operate a simulated phone by the labels of its elements instead of coordinates.

For scripts, notebooks and tests, which can write `finger.tap("New note")`. Agents do not use it:
they have to find the coordinates themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.errors import UsageError
from distrl.hierarchy import Element
from distrl.records import FINAL_ACTIONS, Action, LongPress, OpenApp, Swipe, Tap, TypeText
from phonesim.phone import Phone


class Script(Protocol):
    """Chooses the next action by the elements on the screen, such as the solver of a task."""

    def next(self, elements: Sequence[Element]) -> Action: ...


class Finger:
    """Operates one phone. Of several elements with the same label it takes the topmost that reacts
    to touches: of a photo and its caption, the photo.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone

    def open(self, app: str) -> None:
        self.phone.perform(OpenApp(app))

    def tap(self, label: str, role: str | None = None) -> None:
        self.phone.perform(Tap(*self._place(label, role)))

    def hold(self, label: str, role: str | None = None) -> None:
        self.phone.perform(LongPress(*self._place(label, role)))

    def _place(self, label: str, role: str | None) -> tuple[float, float]:
        """Return the centre of the element with that label, in shares of the screen."""
        (x, y), display = self.find(label, role).centre, self.phone.display
        return x / display.width, y / display.height

    def fill(self, field: str, text: str) -> None:
        """Type into a field, after its current content."""
        self.tap(field, "field")
        self.phone.perform(TypeText(text))

    def scroll(self, up: bool = False) -> None:
        """Move the list in front by about half a screen."""
        start, end = (0.35, 0.7) if up else (0.7, 0.35)
        self.phone.perform(Swipe(0.5, start, 0.5, end, seconds=0.8))

    def follow(self, script: Script) -> None:
        """Perform a script's actions until it returns a final one, such as `Done`."""
        while not isinstance(action := script.next(self.phone.elements()), FINAL_ACTIONS):
            self.phone.perform(action)

    def find(self, label: str, role: str | None = None) -> Element:
        """Return the element with that label; raise `UsageError` if the screen has none."""
        if found := self._matching(label, role):
            reacting = [element for element in found if element.clickable or element.holdable]
            return (reacting or found)[-1]
        shown = ", ".join(sorted({repr(e.text) for e in self.phone.elements() if e.text}))
        kind = f" with the role {role!r}" if role else ""
        raise UsageError(f"nothing called {label!r}{kind} on the screen, which shows {shown}")

    def sees(self, label: str, role: str | None = None) -> bool:
        return bool(self._matching(label, role))

    def _matching(self, label: str, role: str | None) -> list[Element]:
        elements = self.phone.elements()
        return [e for e in elements if e.text == label and role in (None, e.role)]

    @property
    def labels(self) -> set[str]:
        """All texts on the screen."""
        return {element.text for element in self.phone.elements()}
