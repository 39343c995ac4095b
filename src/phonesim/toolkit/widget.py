"""The protocol of widgets: measure, then draw at the place that the parent assigns.

Widgets are rebuilt for each frame from the phone's facts, so they hold no state. `size` takes the
available width and returns (width, height); `place` draws and registers elements with the scene.
"""

from __future__ import annotations

from typing import Protocol

from phonesim.drawing.theme import Theme
from phonesim.scene import Scene

Size = tuple[int, int]  # width, height


class Widget(Protocol):
    """A part of a window that can be laid out and drawn."""

    def size(self, theme: Theme, width: int) -> Size: ...

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None: ...


class Window(Protocol):
    """A page, dialog, menu, sheet or the home screen: it fills the area it is given."""

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None: ...
