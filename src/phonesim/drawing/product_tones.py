"""The shades a product is painted with, and the materials that many products share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Blend, Color, darker, fade, fade_across, lighter


@dataclass(frozen=True, slots=True)
class Tones:
    """A colour in light and in shade, a second colour, and a small number that varies details."""

    base: Color
    light: Color
    dark: Color
    deep: Color
    accent: Color
    tube: Blend  # for round things, lit from the left
    face: Blend  # for flat things, lit from above
    kind: int

    @classmethod
    def of(cls, base: Color, accent: Color, kind: int = 0) -> Tones:
        light, dark, deep = lighter(base, 0.28), darker(base, 0.2), darker(base, 0.42)
        tube = fade_across(dark, lighter(base, 0.4), base, base, dark, deep)
        return cls(base, light, dark, deep, accent, tube, fade(light, base, dark), kind)


Drawing = Callable[[Brush, Tones], None]

INKY: Color = (44, 46, 54)
PAPER: Color = (250, 250, 247)
STEEL_LIGHT: Color = (214, 220, 226)
STEEL_DARK: Color = (132, 140, 150)
STEEL = fade_across(STEEL_DARK, (238, 242, 245), (190, 197, 205), STEEL_DARK)
STEEL_FLAT = fade((232, 236, 240), (176, 184, 193))
SCREEN = fade((92, 142, 214), (60, 84, 168), (88, 58, 140))
GLASS = fade((206, 228, 236), (168, 200, 214))
RUBBER = fade((78, 82, 92), (40, 42, 50))
WOOD = Tones.of((186, 134, 84), (0, 0, 0))
CARDBOARD = Tones.of((202, 160, 112), (0, 0, 0))
LEAF = Tones.of((74, 150, 84), (0, 0, 0))
