"""The map of Fennbrook: one large picture for day and one for night, and a widget to show a part.

The picture is drawn once and cached; a frame copies the visible part, then draws the route and the
pins on top.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw

from distrl.records import Pixels
from phonesim.contents.places import AVENUES, HEIGHT, KINDS, SPOTS, STREETS, WIDTH
from phonesim.drawing.canvas import Canvas
from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.dense_canvas import new_canvas
from phonesim.drawing.fonts import face, text_width
from phonesim.drawing.theme import Theme
from phonesim.scene import Drag, Handler, Scene, Touch
from phonesim.toolkit.widget import Size

Point = tuple[int, int]
RIVER: tuple[Point, ...] = (
    (-20, 905), (90, 840), (170, 790), (270, 770), (390, 790), (510, 770), (620, 690), (740, 660),
    (830, 560), (920, 535),
)  # fmt: skip
PARKS: tuple[tuple[int, int, int, int], ...] = (
    (346, 240, 434, 336), (706, 366, 794, 460), (106, 740, 194, 836), (706, 116, 794, 210),
    (346, 866, 434, 960),
)  # fmt: skip
MAIN = ("Fountain Avenue", "Market Street")
KIND_COLORS: dict[str, Color] = {
    "Restaurant": (222, 110, 44),
    "Café": (150, 100, 66),
    "Park": (62, 142, 74),
    "Museum": (128, 92, 178),
    "Shop": (64, 124, 206),
    "Hotel": (206, 84, 140),
    "Station": (70, 84, 104),
}
PIN = 34


@dataclass(frozen=True, slots=True)
class Inks:
    """The colours of the map."""

    land: Color
    house: Color
    street: Color
    main: Color
    park: Color
    tree: Color
    water: Color
    text: Color


DAY = Inks(
    (239, 236, 229), (225, 220, 210), WHITE, (252, 226, 160), (201, 228, 188), (170, 208, 156),
    (163, 206, 234), (96, 98, 104),
)  # fmt: skip
NIGHT = Inks(
    (38, 41, 48), (48, 52, 60), (70, 75, 86), (104, 92, 62), (38, 62, 48), (48, 78, 58),
    (30, 56, 84), (176, 182, 192),
)  # fmt: skip


@lru_cache(maxsize=4)
def town_picture(dark: bool, zoom: int, density: int) -> Pixels:
    """Draw the whole town, light or dark; zoomed out (zoom 2) it has no names."""
    inks = NIGHT if dark else DAY
    scale = density + 1  # drawn this many times larger, then averaged down
    image = Image.new("RGB", (WIDTH * scale, HEIGHT * scale), inks.land)
    pen = ImageDraw.Draw(image)
    _draw_houses(pen, inks, scale)
    _draw_water(pen, inks, scale)
    _draw_parks(pen, inks, scale)
    _draw_streets(pen, inks, scale)
    wide, high = WIDTH // zoom, HEIGHT // zoom
    canvas = new_canvas(wide, high, density)
    fine = (wide * density, high * density)
    canvas.pixels[...] = np.asarray(image.resize(fine, Image.Resampling.BOX))
    if zoom == 1:
        _draw_names(canvas, inks)
        _draw_spots(canvas, inks)
    canvas.pixels.flags.writeable = False
    return canvas.pixels


def _scaled(scale: int, *values: float) -> list[float]:
    return [value * scale for value in values]


def _draw_houses(pen: ImageDraw.ImageDraw, inks: Inks, scale: int) -> None:
    rng = random.Random("houses of Fennbrook")
    for left in range(14, WIDTH, 30):
        for top in range(12, HEIGHT, 26):
            if rng.random() < 0.8:
                x, y = left + rng.randrange(4), top + rng.randrange(4)
                far = (x + rng.randrange(12, 24), y + rng.randrange(10, 20))
                pen.rectangle(_scaled(scale, x, y, *far), fill=inks.house)


def _draw_water(pen: ImageDraw.ImageDraw, inks: Inks, scale: int) -> None:
    points = [(x * scale, y * scale) for x, y in RIVER]
    pen.line(points, fill=inks.water, width=52 * scale, joint="curve")
    pen.ellipse(_scaled(scale, 790, 500, 980, 680), fill=inks.water)


def _draw_parks(pen: ImageDraw.ImageDraw, inks: Inks, scale: int) -> None:
    rng = random.Random("trees of Fennbrook")
    for left, top, right, bottom in PARKS:
        box = _scaled(scale, left, top, right, bottom)
        pen.rounded_rectangle(box, radius=10 * scale, fill=inks.park)
        for _ in range(14):
            x, y = rng.randrange(left + 8, right - 8), rng.randrange(top + 8, bottom - 8)
            pen.ellipse(_scaled(scale, x - 4, y - 4, x + 4, y + 4), fill=inks.tree)


def _draw_streets(pen: ImageDraw.ImageDraw, inks: Inks, scale: int) -> None:
    ways = [(name, (x, 0, x, HEIGHT)) for name, x in AVENUES.items()]
    ways += [(name, (0, y, WIDTH, y)) for name, y in STREETS.items()]
    for name, ends in sorted(ways, key=lambda way: way[0] in MAIN):
        main = name in MAIN
        color, wide = (inks.main, 14) if main else (inks.street, 10)
        pen.line(_scaled(scale, *ends), fill=color, width=wide * scale)


def _draw_names(canvas: Canvas, inks: Inks) -> None:
    """Write street names right of corners without a station, whose own name is there."""
    small = face(9)
    stations = {spot.point for spot in SPOTS if spot.kind == "Station"}
    for name, y in STREETS.items():
        free = [x + 26 for x in AVENUES.values() if (x, y) not in stations]
        for x in (free[1], free[-2]):
            canvas.blend(canvas.text_mask(name, small), x, y - 6, inks.text)
    for name, x in AVENUES.items():
        upright = np.rot90(canvas.text_mask(name, small))
        for y in (150, 650):
            canvas.blend(upright, x - 6, y, inks.text)


def _draw_spots(canvas: Canvas, inks: Inks) -> None:
    words = face(11, "medium")
    for spot in SPOTS:
        x, y = spot.point
        color = KIND_COLORS[spot.kind]
        canvas.rounded((x - 9, y - 9, 18, 18), 9, color, None)
        canvas.icon(x - 6, y - 6, KINDS[spot.kind][1], 12, WHITE, None)
        left = min(x + 12, WIDTH - text_width(spot.name, words) - 4)
        canvas.text(left, y - 7, spot.name, words, inks.text, None)


FARTHEST = 2  # zoom


@dataclass(slots=True)
class TownMap:
    """A part of the map around a point, with pins and optionally a route. A drag moves it."""

    centre: Point
    high: int
    pins: Sequence[Point] = ()
    way: Sequence[Point] = ()
    here: Point | None = None  # where the phone is
    on_move: Callable[[Point], None] | None = None
    on_spot: Callable[[str], Handler] | None = None
    zoom: int = 1  # 2: half the scale
    on_zoom: Callable[[int], None] | None = None

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.high

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        times = scene.canvas.density
        picture = town_picture(scene.theme.dark, self.zoom, times)
        left = self.centre[0] // self.zoom - width // 2
        top = self.centre[1] // self.zoom - height // 2
        left = max(0, min(left, WIDTH // self.zoom - width))
        top = max(0, min(top, HEIGHT // self.zoom - height))
        shown = picture[top * times : (top + height) * times, left * times : (left + width) * times]
        clip = scene.canvas.clip
        scene.canvas.clip = (
            max(clip[0], x), max(clip[1], y), min(clip[2], x + width), min(clip[3], y + height),
        )  # fmt: skip
        scene.canvas.tile(shown, x, y)
        behind, scene.background = scene.background, None
        self._place_way(scene, (x - left, y - top))
        self._place_pins(scene, (x - left, y - top))
        scene.background = behind
        self._tell(scene, (x, y, width, height), (x - left, y - top))
        scene.canvas.clip = clip

    def _on_screen(self, point: Point, shift: Point) -> Point:
        return point[0] // self.zoom + shift[0], point[1] // self.zoom + shift[1]

    def _place_way(self, scene: Scene, shift: Point) -> None:
        for start, end in pairwise(self._on_screen(point, shift) for point in self.way):
            left, top = min(start[0], end[0]), min(start[1], end[1])
            wide, high = abs(end[0] - start[0]), abs(end[1] - start[1])
            scene.fill(left - 3, top - 3, wide + 6, high + 6, scene.theme.primary)

    def _place_pins(self, scene: Scene, shift: Point) -> None:
        if self.here:
            x, y = self._on_screen(self.here, shift)
            scene.rounded(x - 9, y - 9, 18, 18, 9, WHITE)
            scene.rounded(x - 6, y - 6, 12, 12, 6, (38, 110, 230))
        for pin in self.pins:
            x, y = self._on_screen(pin, shift)
            left, top = x - PIN // 2, y - PIN + 4
            scene.rounded(left + 9, top + 5, 16, 16, 8, WHITE)
            scene.icon(left, top, "location", PIN, (210, 44, 44))

    def _tell(self, scene: Scene, rect: tuple[int, int, int, int], shift: Point) -> None:
        def dragged(drag: Drag) -> bool:
            if self.on_move is None:
                return False
            x, y = self.centre[0] - (drag.to_x - drag.x), self.centre[1] - (drag.to_y - drag.y)
            self.on_move((min(max(x, 0), WIDTH), min(max(y, 0), HEIGHT)))
            return True

        scene.element("picture", "Map", rect, on_drag=dragged)
        self._tell_zoom(scene, rect)
        for spot in SPOTS if self.on_spot else ():
            x, y = self._on_screen(spot.point, shift)
            if rect[0] <= x < rect[0] + rect[2] and rect[1] <= y < rect[1] + rect[3]:
                handler = self.on_spot(spot.name) if self.on_spot else None
                scene.element("pin", spot.name, (x - 14, y - 14, 28, 28), on_tap=handler)

    def _tell_zoom(self, scene: Scene, rect: tuple[int, int, int, int]) -> None:
        """Register the gestures: pinch or double tap zooms in, pinch also zooms out."""
        zoom = self.on_zoom
        if zoom is None or scene.inert:
            return
        x, y, width, height = rect
        bounds = (x, y, x + width, y + height)
        scene.touches.append(
            Touch(
                bounds,
                on_double_tap=lambda: zoom(1),
                on_pinch=lambda scale: zoom(1 if scale >= 1.0 else FARTHEST),
            )
        )
