"""Colours that stand out from a background, and bordered boxes."""

from __future__ import annotations

from functools import lru_cache

from distrl.records import Pixels
from phonesim.drawing.colors import Color
from phonesim.drawing.dense_canvas import new_canvas
from phonesim.drawing.theme import Theme
from phonesim.scene import Scene


def well_color(scene: Scene) -> Color:
    """Return a colour for a field, chip or key that stands out from the background."""
    theme = scene.theme
    if theme.dark or scene.background == theme.surface:
        return theme.field
    if scene.background == theme.page and not theme.cards:
        return theme.field
    return theme.surface  # on a grey page or a coloured band, lighter is easier to read


def track_color(theme: Theme) -> Color:
    """Return the colour of what is empty, off or disabled: slider tracks, idle buttons."""
    return theme.field if theme.dark else theme.line


@lru_cache(maxsize=1024)
def _corner_tiles(
    radius: int, thick: int, rim: Color, fill: Color, behind: Color, density: int
) -> tuple[Pixels, Pixels, Pixels, Pixels]:
    """Return the four corners (left to right, top to bottom) of a small bordered box."""
    side = 2 * radius
    canvas = new_canvas(side, side, density)
    canvas.fill(0, 0, side, side, behind)
    canvas.rounded((0, 0, side, side), radius, rim, behind)
    inner = side - 2 * thick
    canvas.rounded((thick, thick, inner, inner), radius - thick, fill, None)
    half = radius * density
    top, bottom = canvas.pixels[:half], canvas.pixels[half:]
    return top[:, :half], top[:, half:], bottom[:, :half], bottom[:, half:]


def draw_framed(
    scene: Scene, rect: tuple[int, int, int, int], radius: int, rim: Color, fill: Color, thick: int
) -> None:
    """Draw a rounded box (x, y, width, height) with a border.

    Two nested boxes, each drawn on a single background colour, would fill the corners between
    their curves, so each corner is one tile.
    """
    x, y, width, height = rect
    canvas, behind = scene.canvas, scene.background or scene.theme.surface
    canvas.fill(x + radius, y, width - 2 * radius, height, rim)
    canvas.fill(x, y + radius, width, height - 2 * radius, rim)
    canvas.fill(x + radius, y + thick, width - 2 * radius, height - 2 * thick, fill)
    canvas.fill(x + thick, y + radius, width - 2 * thick, height - 2 * radius, fill)
    right, bottom = x + width - radius, y + height - radius
    places = ((x, y), (right, y), (x, bottom), (right, bottom))
    tiles = _corner_tiles(radius, thick, rim, fill, behind, canvas.density)
    for tile, (left, top) in zip(tiles, places, strict=True):
        canvas.tile(tile, left, top)
