"""What every widget can do: say how much room it wants, and stand in the room it gets.

Widgets are made anew for each frame from the phone's facts, so they hold no state. `size` gets the
width on offer and answers (width, height); `place` draws, and tells the scene what stands there.
"""

from __future__ import annotations

from typing import Protocol

from phonesim.drawing.theme import Theme
from phonesim.scene import Scene

Size = tuple[int, int]  # width, height


class Widget(Protocol):
    """A thing that can be laid out and drawn."""

    def size(self, theme: Theme, width: int) -> Size: ...

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None: ...


class Window(Protocol):
    """A page, a dialog, a menu, a sheet, the home screen: it fills the room it is given."""

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None: ...
