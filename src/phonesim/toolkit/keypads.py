"""Large keys with large labels, for the calculator and the timer, and their display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from phonesim.drawing.fonts import Face, face, shorten, text_width
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.surfaces import well_color
from phonesim.toolkit.widget import Size


@dataclass(slots=True)
class Key:
    """One key. `icon` replaces the label."""

    label: str
    on_tap: Handler
    look: Literal["plain", "soft", "filled"] = "plain"
    icon: str = ""
    high: int = 60
    corner: int = 16

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.high

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        fill, ink = {
            "plain": (well_color(scene), theme.text),
            "soft": (theme.tint, theme.primary),
            "filled": (theme.primary, theme.on_primary),
        }[self.look]
        scene.rounded(x, y, width, height, self.corner, fill)
        scene.background = fill
        if self.icon:
            scene.icon(x + (width - 24) // 2, y + (height - 24) // 2, self.icon, 24, ink)
        else:
            scene.centred_text((x, y, width, height), self.label, theme.headline, ink)
        scene.background = behind
        scene.element("button", self.label, (x, y, width, height), on_tap=self.on_tap)


@dataclass(slots=True)
class Readout:
    """A calculator's display: the input, and below it the result."""

    keyed: str
    result: str
    high: int = 150

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.high

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, room, right = scene.theme, width - 40, x + width - 20
        middle = y + height * 3 // 5
        of = self._face(room)
        keyed = self.keyed
        while keyed and text_width(keyed, of) > room:  # the end stays visible
            keyed = keyed[1:]
        scene.text(right - text_width(keyed, of), middle - of.line_height, keyed, of)
        result = shorten(self.result, theme.title, room)
        left = right - text_width(result, theme.title)
        scene.text(left, middle + 8, result, theme.title, theme.muted)
        scene.element("text", self.keyed, (x, y, width, middle - y), detail="Display")
        if self.result:
            below = (x, middle, width, y + height - middle)
            scene.element("text", self.result, below, detail="Result")

    def _face(self, room: int) -> Face:
        """Return the largest face in which the whole text fits."""
        faces = (face(size) for size in (46, 36, 28, 22))
        return next((of for of in faces if text_width(self.keyed, of) <= room), face(18))
