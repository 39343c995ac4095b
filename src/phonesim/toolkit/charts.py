"""Charts: columns over a line of captions, and a barcode."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from phonesim.drawing.colors import BLACK, WHITE
from phonesim.drawing.theme import Theme
from phonesim.scene import Scene
from phonesim.toolkit.surfaces import track_color
from phonesim.toolkit.widget import Size


@dataclass(slots=True)
class Columns:
    """A column for each value; the highest one fills the available height."""

    values: Sequence[int]
    captions: Sequence[str]
    high: int = 120

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.high + theme.tiny.line_height + 6

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, cell = scene.theme, width // max(1, len(self.values))
        most = max((*self.values, 1))
        for index, (value, caption) in enumerate(zip(self.values, self.captions, strict=True)):
            left, tall = x + index * cell, max(4, self.high * value // most)
            last = index == len(self.values) - 1
            fill = theme.primary if last else track_color(theme)
            scene.rounded(left + 6, y + self.high - tall, cell - 12, tall, 4, fill)
            box = (left, y + self.high + 4, cell, theme.tiny.line_height)
            scene.centred_text(box, caption, theme.tiny, theme.muted)


@dataclass(slots=True)
class Barcode:
    """Black bars on white that are derived from a text, with the text below."""

    code: str
    high: int = 96

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.high + theme.body.line_height + 24

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        behind = scene.background
        scene.rounded(x, y, width, height, 10, WHITE)
        scene.background = WHITE
        left, bits = x + 20, hashlib.blake2b(self.code.encode(), digest_size=48).digest()
        for byte in bits:
            wide = 1 + byte % 4
            if left + wide > x + width - 20:
                break
            scene.fill(left, y + 12, wide, self.high, BLACK)
            left += wide + 2 + byte // 64
        box = (x, y + self.high + 14, width, scene.theme.body.line_height)
        scene.centred_text(box, self.code, scene.theme.body, BLACK)
        scene.background = behind
        scene.element("text", self.code, (x, y, width, height), detail="Code")
