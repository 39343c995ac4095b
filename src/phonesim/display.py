"""A screen: its size in pixels, and its density, the number of pixels per layout unit.

Everything is laid out in units (Android's dp) and drawn with `density` pixels per unit, so a page
looks the same at every density and only gets finer. Taps are shares of the screen; the view
hierarchy and adb use pixels, as on a real phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from distrl.errors import InvalidSetting
from distrl.hierarchy import Element, Rect

DENSITIES = (1, 2, 3)
SHORTEST, LONGEST = 320, 1600  # sides, in units
DOTS_PER_INCH = 160  # at density 1


@dataclass(frozen=True, slots=True)
class Display:
    """Width and height in pixels. Wider than high is a phone on its side, or a tablet."""

    width: int = 360
    height: int = 720
    density: int = 1

    def __post_init__(self) -> None:
        sides = (self.width, self.height)
        fits = self.density in DENSITIES and not any(side % self.density for side in sides)
        if not fits or not all(SHORTEST <= side / self.density <= LONGEST for side in sides):
            raise InvalidSetting(
                f"screen {self}; its density is one of {', '.join(map(str, DENSITIES))}, and its "
                f"sides, divided by that, are whole numbers from {SHORTEST} to {LONGEST}"
            )

    def __str__(self) -> str:
        return f"{self.width}x{self.height}@{self.density}"

    @property
    def units(self) -> tuple[int, int]:
        """Width and height of the layout."""
        return self.width // self.density, self.height // self.density

    def in_pixels(self, elements: Iterable[Element]) -> tuple[Element, ...]:
        """Convert elements from layout units to pixels."""
        if self.density == 1:
            return tuple(elements)
        return tuple(e._replace(bounds=_times(e.bounds, self.density)) for e in elements)

    def in_units(self, elements: Iterable[Element]) -> tuple[Element, ...]:
        """Convert elements from pixels to layout units."""
        if self.density == 1:
            return tuple(elements)
        return tuple(e._replace(bounds=_times(e.bounds, 1 / self.density)) for e in elements)


def _times(bounds: Rect, factor: float) -> Rect:
    left, top, right, bottom = bounds
    return round(left * factor), round(top * factor), round(right * factor), round(bottom * factor)


STANDARD = Display()


def read_display(text: str) -> Display:
    """Parse a display such as "1080x2400@3": width, height and density (1 if left out)."""
    match = re.fullmatch(r"([0-9]{3,4})x([0-9]{3,4})(?:@([0-9]))?", text.strip())
    if match is None:
        raise InvalidSetting(f"screen {text!r:.40}; write width x height @ density: 1080x2400@3")
    width, height, density = match.groups()
    return Display(int(width), int(height), int(density or 1))
