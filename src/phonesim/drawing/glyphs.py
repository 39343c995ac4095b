"""Letters as pictures: one face of Roboto, its glyphs, and lines put together from them.

The typeface is Roboto, from the package `font-roboto`, laid out by Pillow's own basic engine, so
that the same text gives the same pixels on every machine.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal, NamedTuple

import font_roboto
import numpy as np
from numpy.typing import NDArray
from PIL import ImageFont

Weight = Literal["regular", "medium", "bold"]
Mask = NDArray[np.uint8]  # [height, width]


class Face:
    """One size and weight of the typeface. Made by `face`, so equal faces are the same object."""

    __slots__ = ("ascent", "font", "line_height", "size", "weight")

    def __init__(self, size: int, weight: Weight) -> None:
        path = font_roboto.font_files[
            "Roboto" if weight == "regular" else f"Roboto{weight.title()}"
        ]
        self.size = size
        self.weight: Weight = weight
        self.font = ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
        self.ascent = round(size * 1.02)
        self.line_height = round(size * 1.32)


@cache
def face(size: int, weight: Weight = "regular") -> Face:
    return Face(size, weight)


class Glyph(NamedTuple):
    """One character as a mask, and where it stands on the line."""

    mask: Mask
    left: int
    top: int
    advance: int


@lru_cache(maxsize=4096)
def glyph(character: str, of: Face) -> Glyph:
    core, (left, top) = of.font.getmask2(character, mode="L", anchor="ls")
    width, height = core.size
    mask = np.array(core, dtype=np.uint8).reshape(height, width)
    return Glyph(mask, int(left), of.ascent + int(top), round(of.font.getlength(character)))


def plain_width(text: str, of: Face) -> int:
    """The width in pixels. The basic engine knows no kerning, so advances simply add up."""
    return sum(glyph(character, of).advance for character in text)


def plain_mask(text: str, of: Face, density: int = 1) -> Mask:
    """A line of text, put together from its characters: ten times faster than drawing it anew.

    [line_height, width], each `density` times as many; the larger letters share the very width that
    the layout has given to the small ones, whose advances were rounded.
    """
    fine = face(of.size * density, of.weight)
    width, height = max(1, density * plain_width(text, of)), density * of.line_height
    natural = max(1, plain_width(text, fine))
    drop = density * of.ascent - fine.ascent
    line = np.zeros((height, width), dtype=np.uint8)
    at = 0
    for character in text:
        mask, left, top, advance = glyph(character, fine)
        x, y = max(0, at * width // natural + left), max(0, top + drop)
        room = line[y : y + mask.shape[0], x : x + mask.shape[1]]
        np.maximum(room, mask[: room.shape[0], : room.shape[1]], out=room)
        at += advance
    return line
