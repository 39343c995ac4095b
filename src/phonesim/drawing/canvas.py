"""A frame composed by copying: text, corners, icons and pictures are cached tiles.

A tile holds finished pixels on a known background colour, so putting it on the frame is one copy of
rows (about a microsecond). Where the background is a picture, a mask is blended instead.
All phones of a process share the caches; a canvas itself is one frame.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from distrl.records import Pixels
from phonesim.drawing.colors import Color
from phonesim.drawing.emoji import emoji_layers
from phonesim.drawing.fonts import Face, text_mask
from phonesim.drawing.icons import icon_mask
from phonesim.drawing.pictures import picture
from phonesim.drawing.world_text import emoji_in

Mask = NDArray[np.uint8]  # [height, width]
Rect = tuple[int, int, int, int]  # left, top, right, bottom

ROW = 4800  # the widest fill: the longest screen at the highest density


@lru_cache(maxsize=512)
def _color_row(color: Color) -> Pixels:
    return np.full((1, ROW, 3), color, dtype=np.uint8)


@lru_cache(maxsize=512)
def _color_words(color: Color) -> NDArray[np.uint16]:
    return np.tile(np.array(color, dtype=np.uint16), ROW)


@lru_cache(maxsize=2048)
def _shades(color: Color, background: Color) -> Pixels:  # [256, 3]
    """Return the 256 blends from the background (0) to the colour (255)."""
    share = np.arange(256, dtype=np.uint32)[:, None]
    over, under = np.array(color, dtype=np.uint32), np.array(background, dtype=np.uint32)
    return ((under * (255 - share) + over * share + 127) // 255).astype(np.uint8)


def paint(mask: Mask, color: Color, background: Color) -> Pixels:
    """Return the pixels of a mask painted in `color` on `background`."""
    return _shades(color, background).take(mask, axis=0)


@lru_cache(maxsize=8192)
def text_tile(text: str, of: Face, color: Color, background: Color, density: int = 1) -> Pixels:
    return paint(text_mask(text, of, density), color, background)


@lru_cache(maxsize=2048)
def icon_tile(name: str, size: int, color: Color, background: Color) -> Pixels:
    return paint(icon_mask(name, size), color, background)


@lru_cache(maxsize=1024)
def corner_masks(radius: int) -> tuple[Mask, Mask, Mask, Mask]:
    """Return the masks of quarter discs: top left, top right, bottom left, bottom right."""
    scale = 4
    disc = Image.new("L", (2 * radius * scale, 2 * radius * scale))
    ImageDraw.Draw(disc).ellipse((0, 0, 2 * radius * scale - 1, 2 * radius * scale - 1), fill=255)
    mask = np.asarray(disc.resize((2 * radius, 2 * radius), Image.Resampling.BOX))
    top, bottom = mask[:radius], mask[radius:]
    return top[:, :radius], top[:, radius:], bottom[:, :radius], bottom[:, radius:]


@lru_cache(maxsize=1024)
def _corner_tiles(radius: int, color: Color, background: Color) -> tuple[Pixels, ...]:
    return tuple(paint(mask, color, background) for mask in corner_masks(radius))


class Canvas:
    """The pixels of one frame, a clip rectangle, and the operations that draw into it.

    Positions and sizes are in layout units; in this class a unit is a pixel (see `DenseCanvas`).
    """

    __slots__ = ("clip", "height", "pixels", "width")

    density: int = 1

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.pixels: Pixels = np.zeros((height, width, 3), dtype=np.uint8)
        self.clip: Rect = (0, 0, width, height)

    def fill(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        left, top, right, bottom = self.clip
        x0, y0 = (x if x > left else left), (y if y > top else top)
        x1 = x + width if x + width < right else right
        y1 = y + height if y + height < bottom else bottom
        if x0 < x1 and y0 < y1:
            self.pixels[y0:y1, x0:x1] = _color_row(color)[:, : x1 - x0]

    def tile(self, tile: Pixels, x: int, y: int) -> None:
        height, width, _ = tile.shape
        left, top, right, bottom = self.clip
        if x >= left and y >= top and x + width <= right and y + height <= bottom:
            self.pixels[y : y + height, x : x + width] = tile
            return
        x0, y0 = (x if x > left else left), (y if y > top else top)
        x1 = x + width if x + width < right else right
        y1 = y + height if y + height < bottom else bottom
        if x0 < x1 and y0 < y1:
            self.pixels[y0:y1, x0:x1] = tile[y0 - y : y1 - y, x0 - x : x1 - x]

    def blend(self, mask: Mask, x: int, y: int, color: Color) -> None:
        height, width = mask.shape
        left, top, right, bottom = self.clip
        x0, y0 = max(x, left), max(y, top)
        x1, y1 = min(x + width, right), min(y + height, bottom)
        if x0 >= x1 or y0 >= y1:
            return
        shape = (y1 - y0, 3 * (x1 - x0))  # colour channels flattened: long rows are fast
        under = self.pixels[y0:y1, x0:x1].astype(np.uint16).reshape(shape)
        share = mask[y0 - y : y1 - y, x0 - x : x1 - x].repeat(3, axis=1).astype(np.uint16)
        mixed = under * (255 - share)
        mixed += _color_words(color)[: shape[1]] * share
        mixed += 128  # rounded division by 255, done with shifts
        mixed += mixed >> 8
        mixed >>= 8
        self.pixels[y0:y1, x0:x1] = mixed.reshape(shape[0], -1, 3)

    def mark(self, name: str, x: int, y: int, width: int, height: int) -> None:
        """Record what a drawing stands for. Does nothing here; see `LabelledCanvas`."""

    def dim(self, x: int, y: int, width: int, height: int) -> None:
        """Darken a region, as behind a dialog."""
        region = self.pixels[y : y + height, x : x + width]
        np.right_shift(region, 1, out=region)

    def blank(self, width: int, height: int) -> Canvas:
        """Return a new canvas of that size and this canvas's density, to draw a tile on."""
        return Canvas(width, height)

    def text_mask(self, text: str, of: Face) -> Mask:
        return text_mask(text, of)

    def text(
        self, x: int, y: int, text: str, of: Face, color: Color, background: Color | None
    ) -> None:
        if background is None:
            self.blend(text_mask(text, of), x, y, color)
        else:
            self.tile(text_tile(text, of, color, background), x, y)
        if not text.isascii():
            self.emoji(x, y, text, of)

    def emoji(self, x: int, y: int, text: str, of: Face) -> None:
        """Draw the emoji of a text in their own colours."""
        for cluster, left, top, size in emoji_in(text, of):
            for mask, color in emoji_layers(cluster, size * self.density):
                self.blend(mask, x + left, y + top, color)

    def icon(
        self, x: int, y: int, name: str, size: int, color: Color, background: Color | None
    ) -> None:
        if background is None:
            self.blend(icon_mask(name, size), x, y, color)
        else:
            self.tile(icon_tile(name, size, color, background), x, y)

    def picture(self, x: int, y: int, key: str, width: int, height: int) -> None:
        self.tile(picture(key, width, height), x, y)

    def rounded(
        self, rect: tuple[int, int, int, int], radius: int, color: Color, background: Color | None
    ) -> None:
        """Fill a rectangle (x, y, width, height) with rounded corners."""
        x, y, width, height = rect
        radius = min(radius, width // 2, height // 2)
        if radius <= 0:
            self.fill(x, y, width, height, color)
            return
        self.fill(x + radius, y, width - 2 * radius, height, color)
        self.fill(x, y + radius, radius, height - 2 * radius, color)
        self.fill(x + width - radius, y + radius, radius, height - 2 * radius, color)
        places = (
            (x, y),
            (x + width - radius, y),
            (x, y + height - radius),
            (x + width - radius, y + height - radius),
        )
        if background is None:
            for mask, (left, top) in zip(corner_masks(radius), places, strict=True):
                self.blend(mask, left, top, color)
        else:
            for tile, (left, top) in zip(
                _corner_tiles(radius, color, background), places, strict=True
            ):
                self.tile(tile, left, top)
