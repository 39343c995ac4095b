"""A canvas that also records what it drew: which letter, icon or control is where.

The record is the ground truth from which a model learns to read: a coarse map of signs beside the
pixels. A cell covers 3 × 10 pixels. A line of text fills the row of cells nearest to its middle,
each letter at its own middle; drawing over a cell clears it. The alphabet maps names to numbers: a
letter is named by itself, an icon "icon:name", a control by its `Canvas.mark`; "space" also ends
every text, "other" is anything the alphabet lacks. `STARTS` is added where a word, an icon or a
control begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from distrl.records import Pixels
from phonesim.drawing.canvas import Canvas, Mask
from phonesim.drawing.colors import Color
from phonesim.drawing.fonts import Face, glyph

ACROSS = 3  # pixels per cell; no letter of a readable size is narrower
DOWN = 10  # pixels per cell; no line of text is lower
STARTS = 0x8000

Signs = NDArray[np.uint16]  # [height / DOWN, width / ACROSS]


class LabelledCanvas(Canvas):
    """A canvas that also fills `signs`: one number per cell, 0 where there is none."""

    __slots__ = ("_alphabet", "signs")

    def __init__(self, width: int, height: int, alphabet: Mapping[str, int]) -> None:
        super().__init__(width, height)
        self._alphabet = alphabet
        self.signs: Signs = np.zeros((height // DOWN, width // ACROSS), dtype=np.uint16)

    def fill(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        super().fill(x, y, width, height, color)
        self._forget(x, y, width, height)

    def tile(self, tile: Pixels, x: int, y: int) -> None:
        super().tile(tile, x, y)
        self._forget(x, y, tile.shape[1], tile.shape[0])

    def blend(self, mask: Mask, x: int, y: int, color: Color) -> None:
        super().blend(mask, x, y, color)
        self._forget(x, y, mask.shape[1], mask.shape[0])

    def text(
        self, x: int, y: int, text: str, of: Face, color: Color, background: Color | None
    ) -> None:
        super().text(x, y, text, of, color, background)
        row = (y + of.line_height // 2) // DOWN
        if not self._visible(x, row * DOWN + DOWN // 2, within=False):
            return
        left, right = self.clip[0] // ACROSS, self.clip[2] // ACROSS
        for place, letter, starts in _places(text, of, x % ACROSS):
            column = x // ACROSS + place
            if left <= column < right:
                self._put(row, column, letter, starts)

    def icon(
        self, x: int, y: int, name: str, size: int, color: Color, background: Color | None
    ) -> None:
        super().icon(x, y, name, size, color, background)
        self.mark(f"icon:{name}", x, y, size, size)

    def picture(self, x: int, y: int, key: str, width: int, height: int) -> None:
        super().picture(x, y, key, width, height)
        self.mark("picture", x, y, width, height)

    def mark(self, name: str, x: int, y: int, width: int, height: int) -> None:
        across, down = x + width // 2, y + height // 2
        if self._visible(across, down, within=True):
            self._put(down // DOWN, across // ACROSS, name, True)

    def _put(self, row: int, column: int, name: str, starts: bool) -> None:
        sign = self._alphabet.get(name) or self._alphabet["other"]
        self.signs[row, column] = sign | STARTS if starts else sign

    def _visible(self, x: int, y: int, *, within: bool) -> bool:
        left, top, right, bottom = self.clip
        return top <= y < bottom and (not within or left <= x < right)

    def _forget(self, x: int, y: int, width: int, height: int) -> None:
        """Clear the cells whose middle lies in a region that was drawn over."""
        left, top, right, bottom = self.clip
        x0, x1 = max(x, left), min(x + width, right)
        y0, y1 = max(y, top), min(y + height, bottom)
        half_across, half_down = ACROSS // 2, DOWN // 2
        self.signs[
            max(0, (y0 - half_down + DOWN - 1) // DOWN) : max(0, (y1 - half_down - 1) // DOWN + 1),
            max(0, (x0 - half_across + ACROSS - 1) // ACROSS) : max(
                0, (x1 - half_across - 1) // ACROSS + 1
            ),
        ] = 0


@lru_cache(maxsize=65536)
def _places(text: str, of: Face, offset: int) -> tuple[tuple[int, str, bool], ...]:
    """Return (column, name, starts a word) per letter of a line `offset` pixels into a cell."""
    places: list[tuple[int, str, bool]] = []
    at, fresh = offset, True
    for letter in text:
        advance = glyph(letter, of).advance
        place = (at + advance // 2) // ACROSS
        at += advance
        if letter == " ":
            places.append((place, "space", False))
            fresh = True
        else:
            starts = fresh and (letter.isalnum() or letter in "$+-#@/")
            fresh = fresh and not starts
            places.append((place, letter, starts))
    if text:
        places.append(((at + glyph(" ", of).advance // 2) // ACROSS, "space", False))
    return tuple(places)
