"""Text that Roboto cannot draw: Chinese, Japanese and Korean, Arabic, Hebrew, Devanagari, emoji.

Fonts come from packages (the extra `world`), shaping from Pillow's Raqm engine, visual order from
`scripts`. A character without a font becomes a box with its code point, and the log says once what
to install: a text must never stop a phone.
"""

from __future__ import annotations

import logging
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from PIL import ImageFont, features

from phonesim.drawing.emoji import EMOJI, clusters
from phonesim.drawing.glyphs import Face, Mask, face, glyph, plain_mask, plain_width
from phonesim.drawing.scripts import Run, Script, runs

log = logging.getLogger(__name__)

FONTS: dict[Script, tuple[str, str]] = {  # package, file
    "cjk": ("noto_cjk_sans_otc", "NotoSansCJK-Regular.ttc"),
    "arabic": ("fontpkg_noto_sans_arabic", "files/NotoSansArabic[wdth,wght].ttf"),
    "hebrew": ("fontpkg_heebo", "files/Heebo[wght].ttf"),
    "devanagari": ("fontpkg_noto_sans_devanagari", "files/NotoSansDevanagari[wdth,wght].ttf"),
}
SIMPLIFIED_CHINESE = 2  # index into the font collection; all four fonts have every character
WEIGHTS = {"regular": 400, "medium": 500, "bold": 700}
EMOJI_SIZE = 1.2  # relative to the letters beside it
BOX = 1.0


class PlacedEmoji(NamedTuple):
    """An emoji that we have a drawing of, with its place on the line and its size in units."""

    cluster: str
    left: int
    top: int
    size: int


def missing_fonts() -> list[str]:
    """Return what `pip install distrl[world]` or libfribidi would add; empty if all is there."""
    lacking = [package for package, file in FONTS.values() if _path(package, file) is None]
    return lacking if features.check("raqm") else [*lacking, "Raqm in Pillow (libfribidi0)"]


@cache
def _path(package: str, file: str) -> Path | None:
    try:
        path = Path(str(files(package))) / file
    except ModuleNotFoundError:
        return None
    return path if path.is_file() else None


@cache
def _font(script: Script, of: Face) -> ImageFont.FreeTypeFont | None:
    """Return the font of a script in a face's size and weight; None if it is not installed."""
    place = FONTS.get(script)
    path = _path(*place) if place else None
    if path is None:
        _tell(script)
        return None
    engine = ImageFont.Layout.RAQM if features.check("raqm") else ImageFont.Layout.BASIC
    index = SIMPLIFIED_CHINESE if script == "cjk" else 0
    font = ImageFont.truetype(str(path), of.size, index=index, layout_engine=engine)
    if script != "cjk":  # variable fonts
        axes = [a["name"] for a in font.get_variation_axes()]
        font.set_variation_by_axes([WEIGHTS[of.weight] if a == b"Weight" else 100 for a in axes])
    return font


@cache
def _tell(script: Script) -> None:
    if script in FONTS:
        log.warning(
            "no font for %s text, so it is drawn as boxes: pip install 'distrl[world]'", script
        )


# Width -------------------------------------------------------------------------------------------


@lru_cache(maxsize=16384)
def world_width(text: str, of: Face) -> int:
    return sum(_run_width(run, of) for run in runs(text))


def _run_width(run: Run, of: Face) -> int:
    if run.script == "roboto":
        return plain_width(run.text, of)
    if run.script == "emoji":
        return sum(_emoji_width(cluster, of) for cluster in clusters(run.text))
    font = _font(run.script, of)
    if font is None:
        return len(run.text) * _box_size(of)
    return round(font.getlength(run.text, direction=_direction(run)))


def _direction(run: Run) -> Literal["ltr", "rtl"] | None:
    if not features.check("raqm"):
        return None
    return "rtl" if run.right_to_left else "ltr"


def _emoji_width(cluster: str, of: Face) -> int:
    return round(EMOJI_SIZE * of.size) + 2 if cluster in EMOJI else _box_size(of)


def _box_size(of: Face) -> int:
    return round(BOX * of.size)


# Drawing -----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def world_mask(text: str, of: Face, density: int) -> Mask:
    """Return the line as a mask without emoji: those have their own colours (see `emoji_in`)."""
    width = max(1, density * world_width(text, of))
    line = np.zeros((density * of.line_height, width), dtype=np.uint8)
    at = 0
    for run in runs(text):
        wide = _run_width(run, of)
        _draw_run(line[:, at * density : (at + wide) * density], run, of, density)
        at += wide
    line.flags.writeable = False
    return line


def _draw_run(room: Mask, run: Run, of: Face, density: int) -> None:
    fine = face(of.size * density, of.weight)
    if run.script == "roboto":
        _stamp(room, plain_mask(run.text, of, density), 0, 0)
        return
    font = _font(run.script, fine)
    if run.script == "emoji" or font is None:
        _draw_boxes(room, run, of, density)
        return
    core, (left, top) = font.getmask2(run.text, "L", anchor="ls", direction=_direction(run))
    mask = np.array(core, dtype=np.uint8).reshape(core.size[1], core.size[0])
    _stamp(room, mask, int(left), density * of.ascent + int(top))


def _draw_boxes(room: Mask, run: Run, of: Face, density: int) -> None:
    at = 0
    for cluster in clusters(run.text) if run.script == "emoji" else run.text:
        if cluster in EMOJI:
            at += _emoji_width(cluster, of)
            continue
        _stamp(room, _box(ord(cluster[0]), of, density), at * density, density)
        at += _box_size(of)


@lru_cache(maxsize=1024)
def _box(code: int, of: Face, density: int) -> Mask:
    """Return a frame with the code point in two rows of hexadecimal digits."""
    side, rim = _box_size(of) * density - density, density
    box = np.zeros((of.ascent * density, side), dtype=np.uint8)
    box[...] = 255
    box[rim:-rim, rim:-rim] = 0
    figures, small = f"{code:04X}", face(max(4, side * 5 // 12))
    half = -(-len(figures) // 2)
    for row, part in enumerate((figures[:half], figures[half:])):
        left = (side - plain_width(part, small)) // 2
        _stamp(box, plain_mask(part, small), left, rim + row * (len(box) // 2 - rim))
    return box


def _stamp(room: Mask, mask: Mask, left: int, top: int) -> None:
    """Draw a mask into `room`, clipped to its bounds."""
    x, y = max(0, left), max(0, top)
    part = mask[y - top :, x - left :]
    place = room[y : y + part.shape[0], x : x + part.shape[1]]
    np.maximum(place, part[: place.shape[0], : place.shape[1]], out=place)


@lru_cache(maxsize=4096)
def emoji_in(text: str, of: Face) -> tuple[PlacedEmoji, ...]:
    """Return the emoji of a line that we have drawings of."""
    found, at, size = [], 0, round(EMOJI_SIZE * of.size)
    for run in runs(text):
        for cluster in clusters(run.text) if run.script == "emoji" else ():
            if cluster in EMOJI:
                top = (of.line_height - size) // 2
                found.append(PlacedEmoji(cluster, at + 1, top, size))
            at += _emoji_width(cluster, of)
        if run.script != "emoji":
            at += _run_width(run, of)
    return tuple(found)


__all__ = ["emoji_in", "glyph", "missing_fonts", "world_mask", "world_width"]
