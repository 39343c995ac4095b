"""Text as pictures: widths, wrapped lines and masks, each computed once and kept.

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
ELLIPSIS = "…"


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

    mask: NDArray[np.uint8]  # [height, width]
    left: int
    top: int
    advance: int


@lru_cache(maxsize=4096)
def glyph(character: str, of: Face) -> Glyph:
    core, (left, top) = of.font.getmask2(character, mode="L", anchor="ls")
    width, height = core.size
    mask = np.array(core, dtype=np.uint8).reshape(height, width)
    return Glyph(mask, int(left), of.ascent + int(top), round(of.font.getlength(character)))


@lru_cache(maxsize=65536)
def text_width(text: str, of: Face) -> int:
    """The width in pixels. The basic engine knows no kerning, so advances simply add up."""
    return sum(glyph(character, of).advance for character in text)


@lru_cache(maxsize=16384)
def text_mask(text: str, of: Face, density: int = 1) -> NDArray[np.uint8]:
    """A line of text, put together from its characters: ten times faster than drawing it anew.

    [line_height, width], each `density` times as many; the larger letters share the very width that
    the layout has given to the small ones, whose advances were rounded.
    """
    fine = face(of.size * density, of.weight)
    width, height = max(1, density * text_width(text, of)), density * of.line_height
    natural = max(1, text_width(text, fine))
    drop = density * of.ascent - fine.ascent
    line = np.zeros((height, width), dtype=np.uint8)
    at = 0
    for character in text:
        mask, left, top, advance = glyph(character, fine)
        x, y = max(0, at * width // natural + left), max(0, top + drop)
        room = line[y : y + mask.shape[0], x : x + mask.shape[1]]
        np.maximum(room, mask[: room.shape[0], : room.shape[1]], out=room)
        at += advance
    line.flags.writeable = False
    return line


def shorten(text: str, of: Face, width: int) -> str:
    """The text, cut with an ellipsis where it would be wider than `width`."""
    if text_width(text, of) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(text[:middle].rstrip() + ELLIPSIS, of) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + ELLIPSIS


@lru_cache(maxsize=16384)
def wrap(text: str, of: Face, width: int, max_lines: int = 99) -> tuple[str, ...]:
    """The text as lines no wider than `width`; the last one cut where lines ran out."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.extend(_wrap_paragraph(paragraph, of, width))
    if len(lines) > max_lines:
        rest = lines[max_lines - 1] + " " + lines[max_lines]
        lines = [*lines[: max_lines - 1], shorten(rest, of, width)]
    return tuple(lines)


def _wrap_paragraph(paragraph: str, of: Face, width: int) -> list[str]:
    lines, line = [], ""
    for word in paragraph.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer, of) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while text_width(line, of) > width and len(line) > 1:  # one word wider than the line
            cut = _fitting_prefix(line, of, width)
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line]


def _fitting_prefix(word: str, of: Face, width: int) -> int:
    cut = len(word) - 1
    while cut > 1 and text_width(word[:cut], of) > width:
        cut -= 1
    return cut
