"""A canvas with two or three pixels per layout unit: drawings get finer, not larger.

Callers pass layout units, as on any canvas. Text is drawn with a larger face into exactly the width
that the layout computed; icons and pictures use every pixel; corners are smoother. Tiles and masks
that callers pass in must be made for this density (`Canvas.blank`, `text_mask`).
"""

from __future__ import annotations

from distrl.records import Pixels
from phonesim.drawing.canvas import Canvas, Mask, Rect, icon_tile, text_tile
from phonesim.drawing.colors import Color
from phonesim.drawing.fonts import Face, text_mask
from phonesim.drawing.icons import icon_mask
from phonesim.drawing.pictures import picture


class DenseCanvas(Canvas):
    """Draws on an inner pixel canvas that is `density` times as wide and as high."""

    __slots__ = ("_clip", "_fine", "density")

    def __init__(self, width: int, height: int, density: int) -> None:
        self.density = density
        self._fine = Canvas(width * density, height * density)
        self.width, self.height = width, height
        self.pixels = self._fine.pixels
        self.clip = (0, 0, width, height)

    @property
    def clip(self) -> Rect:
        """The clip rectangle in layout units."""
        return self._clip

    @clip.setter
    def clip(self, clip: Rect) -> None:
        left, top, right, bottom = self._clip = clip
        times = self.density
        self._fine.clip = (left * times, top * times, right * times, bottom * times)

    def fill(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        times = self.density
        self._fine.fill(x * times, y * times, width * times, height * times, color)

    def tile(self, tile: Pixels, x: int, y: int) -> None:
        self._fine.tile(tile, x * self.density, y * self.density)

    def blend(self, mask: Mask, x: int, y: int, color: Color) -> None:
        self._fine.blend(mask, x * self.density, y * self.density, color)

    def dim(self, x: int, y: int, width: int, height: int) -> None:
        times = self.density
        self._fine.dim(x * times, y * times, width * times, height * times)

    def text_mask(self, text: str, of: Face) -> Mask:
        return text_mask(text, of, self.density)

    def text(
        self, x: int, y: int, text: str, of: Face, color: Color, background: Color | None
    ) -> None:
        if background is None:
            self.blend(text_mask(text, of, self.density), x, y, color)
        else:
            self.tile(text_tile(text, of, color, background, self.density), x, y)
        if not text.isascii():
            self.emoji(x, y, text, of)

    def icon(
        self, x: int, y: int, name: str, size: int, color: Color, background: Color | None
    ) -> None:
        if background is None:
            self.blend(icon_mask(name, size * self.density), x, y, color)
        else:
            self.tile(icon_tile(name, size * self.density, color, background), x, y)

    def picture(self, x: int, y: int, key: str, width: int, height: int) -> None:
        self.tile(picture(key, width, height, self.density), x, y)

    def rounded(
        self, rect: tuple[int, int, int, int], radius: int, color: Color, background: Color | None
    ) -> None:
        times = self.density
        x, y, width, height = rect
        fine = (x * times, y * times, width * times, height * times)
        self._fine.rounded(fine, radius * times, color, background)

    def blank(self, width: int, height: int) -> Canvas:
        return DenseCanvas(width, height, self.density)


def new_canvas(width: int, height: int, density: int) -> Canvas:
    """Return a canvas of that size in layout units."""
    return Canvas(width, height) if density == 1 else DenseCanvas(width, height, density)
