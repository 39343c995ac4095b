"""The view hierarchy of a screen: what is on it, where, and in which state.

The same record serves the simulated phone and uiautomator's dump of a real one. Bounds are pixels.
Elements come in drawing order, so the last one that covers a point is on top there.
"""

from __future__ import annotations

from typing import NamedTuple

Rect = tuple[int, int, int, int]  # left, top, right, bottom


class Element(NamedTuple):
    """One thing on the screen.

    `text` is its label; `detail` a second line or a description; `value` what a field or slider
    holds. `checked` is None where there is nothing to check.
    """

    role: str
    text: str
    bounds: Rect
    detail: str = ""
    value: str = ""
    window: str = "app"  # app, dialog, popup, keyboard, shade, system
    clickable: bool = False
    holdable: bool = False
    scrollable: bool = False
    checked: bool | None = None
    selected: bool = False
    focused: bool = False
    enabled: bool = True

    @property
    def centre(self) -> tuple[int, int]:
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2
