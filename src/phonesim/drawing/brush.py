"""A brush for pictures: antialiased shapes in a 100-unit square, with gradients and soft edges.

The square 0..100 is the largest centred square of the picture, so a subject drawn in it is visible
in every format; `left`, `top`, `right` and `bottom` are the picture's edges in the same units.
Everything is drawn several times larger and averaged down. Only integer and exactly rounded
arithmetic touches pixels, so a picture is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from distrl.records import Pixels
from phonesim.drawing import outlines
from phonesim.drawing.colors import Color, Ink
from phonesim.drawing.outlines import Point


@lru_cache(maxsize=64)
def _gradient(colors: tuple[Color, ...], across: bool, length: int) -> Image.Image:
    places = np.linspace(0, length - 1, len(colors))
    channels = [np.interp(np.arange(length), places, [c[i] for c in colors]) for i in range(3)]
    line = np.rint(np.stack(channels, axis=-1)).astype(np.uint8)
    return Image.fromarray(line[None] if across else line[:, None])


@lru_cache(maxsize=1)
def _glow() -> Image.Image:
    """Return a radial mask: 255 in the middle, 0 at the edge, with a smooth falloff."""
    edge = 180  # the level Pillow's radial gradient has in the middle of each side
    distances = [min(level / edge, 1.0) for level in range(256)]
    return Image.radial_gradient("L").point(
        [round(255 * (1 - d) ** 2 * (1 + 2 * d)) for d in distances]
    )


class Brush:
    """Draws one picture; `pixels` returns it at its final size."""

    def __init__(self, width: int, height: int, background: Ink) -> None:
        largest, short = max(width, height), min(width, height)
        self._scale = 4 if largest <= 128 else 3 if largest <= 256 else 2
        self._unit = short * self._scale / 100
        self._image = Image.new("RGB", (width * self._scale, height * self._scale))
        self._draw = ImageDraw.Draw(self._image)
        self._turn: tuple[float, float, float] | None = None
        self.left, self.right = 50 - 50 * width / short, 50 + 50 * width / short
        self.top, self.bottom = 50 - 50 * height / short, 50 + 50 * height / short
        self.band(self.top, self.bottom, background)

    @contextmanager
    def turned(self, degrees: float, x: float = 50, y: float = 50) -> Iterator[None]:
        """Rotate everything drawn inside the `with` block clockwise around (x, y)."""
        before, self._turn = self._turn, (degrees, x, y)
        yield
        self._turn = before

    def polygon(self, points: Sequence[Point], ink: Ink, share: float = 1.0) -> None:
        """Fill an outline. `share` is the opacity: below 1 the pixels underneath show through."""
        self._stain(self._placed(points), ink, share)

    def blob(self, points: Sequence[Point], ink: Ink, share: float = 1.0) -> None:
        """Fill a smooth closed curve through the points."""
        self.polygon(outlines.smooth(points, closed=True), ink, share)

    def oval(
        self, x: float, y: float, wide: float, high: float, ink: Ink, share: float = 1.0
    ) -> None:
        self.polygon(outlines.oval(x, y, wide, high), ink, share)

    def disc(self, x: float, y: float, radius: float, ink: Ink, share: float = 1.0) -> None:
        self.oval(x, y, radius, radius, ink, share)

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        ink: Ink,
        corner: float = 0.0,
        share: float = 1.0,
    ) -> None:
        self.polygon(outlines.rounded_box(left, top, right, bottom, corner), ink, share)

    def band(self, top: float, bottom: float, ink: Ink, share: float = 1.0) -> None:
        """Fill a horizontal band over the full width of the picture."""
        self.box(self.left, top, self.right, bottom, ink, share=share)

    def ridge(self, points: Sequence[Point], ink: Ink, share: float = 1.0) -> None:
        """Fill everything below a line, down to the bottom of the picture."""
        foot = [(points[-1][0], self.bottom), (points[0][0], self.bottom)]
        self.polygon([*points, *foot], ink, share)

    def line(self, points: Sequence[Point], color: Color, width: float) -> None:
        """Draw an open stroke with round ends."""
        placed, thick = self._placed(points), max(1.0, width * self._unit)
        self._draw.line(placed, fill=color, width=round(thick), joint="curve")
        for x, y in (placed[0], placed[-1]):
            half = thick / 2
            self._draw.ellipse((x - half, y - half, x + half, y + half), fill=color)

    def curve(self, points: Sequence[Point], color: Color, width: float) -> None:
        self.line(outlines.smooth(points), color, width)

    def loop(self, points: Sequence[Point], color: Color, width: float) -> None:
        self.line([*points, points[0], points[1]], color, width)

    def ring(
        self, x: float, y: float, wide: float, high: float, color: Color, width: float
    ) -> None:
        """Draw an axis-aligned ellipse. `turned` rotates its centre, not the ellipse."""
        ((x, y),) = self._placed([(x, y)])
        thick = max(1.0, width * self._unit)
        wide, high = wide * self._unit + thick / 2, high * self._unit + thick / 2
        box = (x - wide, y - high, x + wide, y + high)
        self._draw.ellipse(box, outline=color, width=round(thick))

    def glow(
        self, x: float, y: float, wide: float, high: float, color: Color, share: float = 1.0
    ) -> None:
        """Blend in a soft spot of light or shade that fades out at its edge."""
        (left, top), (right, bottom) = self._placed([(x - wide, y - high), (x + wide, y + high)])
        size = max(1, round(right - left)), max(1, round(bottom - top))
        mask = _glow().resize(size, Image.Resampling.BILINEAR)
        if share < 1.0:
            mask = mask.point([round(level * share) for level in range(256)])
        self._image.paste(color, (round(left), round(top)), mask)

    def pixels(self) -> Pixels:
        return np.asarray(self._image.reduce(self._scale))

    def _placed(self, points: Sequence[Point]) -> list[Point]:
        if self._turn:
            points = outlines.turned(points, *self._turn)
        left, top, unit = self.left, self.top, self._unit
        return [((x - left) * unit, (y - top) * unit) for x, y in points]

    def _stain(self, placed: list[Point], ink: Ink, share: float) -> None:
        if isinstance(ink, tuple) and share >= 1.0:
            self._draw.polygon(placed, fill=ink)
            return
        xs, ys = [x for x, _ in placed], [y for _, y in placed]
        left, top = int(min(xs)), int(min(ys))
        size = max(1, int(max(xs)) - left + 1), max(1, int(max(ys)) - top + 1)
        mask = Image.new("L", size)
        level = round(255 * share)
        ImageDraw.Draw(mask).polygon([(x - left, y - top) for x, y in placed], fill=level)
        if isinstance(ink, tuple):
            self._image.paste(ink, (left, top), mask)
            return
        run = _gradient(ink.colors, ink.across, size[0] if ink.across else size[1])
        self._image.paste(run.resize(size, Image.Resampling.NEAREST), (left, top), mask)
