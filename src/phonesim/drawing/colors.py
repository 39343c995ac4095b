"""Colours, and functions that derive one from others."""

from __future__ import annotations

from dataclasses import dataclass

Color = tuple[int, int, int]

WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)


def mixed(under: Color, over: Color, share: float) -> Color:
    """Blend two colours: `share` (0 to 1) of `over`, the rest of `under`."""
    r, g, b = (round(u + (o - u) * share) for u, o in zip(under, over, strict=True))
    return r, g, b


def lighter(color: Color, share: float) -> Color:
    return mixed(color, WHITE, share)


def darker(color: Color, share: float) -> Color:
    return mixed(color, BLACK, share)


@dataclass(frozen=True, slots=True)
class Blend:
    """A gradient from top to bottom (or left to right) of the shape that is filled with it."""

    colors: tuple[Color, ...]
    across: bool = False


Ink = Color | Blend


def fade(*colors: Color) -> Blend:
    return Blend(colors)


def fade_across(*colors: Color) -> Blend:
    return Blend(colors, across=True)
