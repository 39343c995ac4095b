"""What widgets stand on: which colour shows up on a background, and boxes with a rim."""

from __future__ import annotations

from functools import lru_cache

from distrl.records import Pixels
from phonesim.drawing.colors import Color
from phonesim.drawing.dense_canvas import new_canvas
from phonesim.drawing.theme import Theme
from phonesim.scene import Scene


def well_color(scene: Scene) -> Color:
    """The colour of a field, chip or key, such that it shows up on what lies behind it."""
    theme = scene.theme
    if theme.dark or scene.background == theme.surface:
        return theme.field
    if scene.background == theme.page and not theme.cards:
        return theme.field
    return theme.surface  # a grey page or a band of colour: lighter reads better than greyer


def track_color(theme: Theme) -> Color:
    """The colour of what is not filled, not on or not to be used: tracks, idle buttons."""
    return theme.field if theme.dark else theme.line


@lru_cache(maxsize=1024)
def _corner_tiles(
    radius: int, thick: int, rim: Color, fill: Color, behind: Color, density: int
) -> tuple[Pixels, Pixels, Pixels, Pixels]:
    """Top left, top right, bottom left, bottom right of a small box with a rim."""
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
    """A rounded box (x, y, width, height) with a rim. Two boxes in each other, each drawn on one
    known colour, would fill the corners between their curves; these corners come from one tile.
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
