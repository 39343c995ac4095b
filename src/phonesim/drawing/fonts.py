"""Measures, wraps and rasterises text; every result is cached.

Text that Roboto covers (almost all text) goes to `glyphs`, text of other scripts to `world_text`.
"""

from __future__ import annotations

from functools import lru_cache

from phonesim.drawing.glyphs import Face, Mask, Weight, face, glyph, plain_mask, plain_width
from phonesim.drawing.scripts import is_plain
from phonesim.drawing.world_text import world_mask, world_width

__all__ = ["Face", "Weight", "face", "glyph", "shorten", "text_mask", "text_width", "wrap"]

ELLIPSIS = "…"


@lru_cache(maxsize=65536)
def text_width(text: str, of: Face) -> int:
    """Return the width of a line in layout units."""
    return plain_width(text, of) if is_plain(text) else world_width(text, of)


@lru_cache(maxsize=16384)
def text_mask(text: str, of: Face, density: int = 1) -> Mask:
    """Return a line as a mask: [line_height, width], both times `density`."""
    line = plain_mask(text, of, density) if is_plain(text) else world_mask(text, of, density)
    line.flags.writeable = False
    return line


def shorten(text: str, of: Face, width: int) -> str:
    """Return the text, truncated with an ellipsis if it is wider than `width`."""
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
    """Split a text into lines of at most `width`; truncate it at `max_lines`."""
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
        while text_width(line, of) > width and len(line) > 1:  # split a word that is too wide
            cut = _fitting_prefix(line, of, width)
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line]


def _fitting_prefix(word: str, of: Face, width: int) -> int:
    cut = len(word) - 1
    while cut > 1 and text_width(word[:cut], of) > width:
        cut -= 1
    return cut
