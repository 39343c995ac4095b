"""Icons, drawn by us on a 24 × 24 grid and kept as masks in any size."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

SCALE = 8  # drawn this much larger, then averaged down


class Pencil:
    """Strokes and shapes in grid units (24 × 24)."""

    def __init__(self, draw: ImageDraw.ImageDraw) -> None:
        self._draw = draw

    def line(self, *points: tuple[float, float], width: float = 2.0, ink: int = 255) -> None:
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self._draw.line(scaled, fill=ink, width=round(width * SCALE), joint="curve")
        for x, y in points:
            self.disc(x, y, width / 2, ink)

    def disc(self, x: float, y: float, radius: float, ink: int = 255) -> None:
        box = [(c) * SCALE for c in (x - radius, y - radius, x + radius, y + radius)]
        self._draw.ellipse(box, fill=ink)

    def ring(self, x: float, y: float, radius: float, width: float = 2.0) -> None:
        box = [c * SCALE for c in (x - radius, y - radius, x + radius, y + radius)]
        self._draw.ellipse(box, outline=255, width=round(width * SCALE))

    def box(
        self, x: float, y: float, to_x: float, to_y: float, corner: float = 1.0, ink: int = 255
    ) -> None:
        box = [c * SCALE for c in (x, y, to_x, to_y)]
        self._draw.rounded_rectangle(box, radius=corner * SCALE, fill=ink)

    def frame(
        self, x: float, y: float, to_x: float, to_y: float, corner: float = 1.0, width: float = 2.0
    ) -> None:
        box = [c * SCALE for c in (x, y, to_x, to_y)]
        self._draw.rounded_rectangle(
            box, radius=corner * SCALE, outline=255, width=round(width * SCALE)
        )

    def shape(self, *points: tuple[float, float], ink: int = 255) -> None:
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill=ink)


def _plus(p: Pencil) -> None:
    p.line((12, 5), (12, 19))
    p.line((5, 12), (19, 12))


def _back(p: Pencil) -> None:
    p.line((20, 12), (5, 12))
    p.line((11, 5.5), (4.5, 12), (11, 18.5))


DRAWINGS: dict[str, Callable[[Pencil], None]] = {
    "plus": _plus,
    "back": _back,
}


def _unknown(p: Pencil) -> None:
    p.frame(4, 4, 20, 20, 3)


@lru_cache(maxsize=2048)
def icon_mask(name: str, size: int) -> NDArray[np.uint8]:  # [size, size]
    image = Image.new("L", (24 * SCALE, 24 * SCALE))
    DRAWINGS.get(name, _unknown)(Pencil(ImageDraw.Draw(image)))
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS))
