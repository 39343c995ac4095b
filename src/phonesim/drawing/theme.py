"""How the phone looks: colours, faces, layout variant and language, derived from a few settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from phonesim.drawing.colors import WHITE, Color, mixed
from phonesim.drawing.fonts import Face, face
from phonesim.languages.language import Language, language

ACCENTS: dict[str, Color] = {
    "blue": (26, 115, 232),
    "teal": (0, 121, 107),
    "green": (46, 125, 50),
    "orange": (214, 92, 12),
    "red": (198, 40, 52),
    "pink": (194, 24, 91),
    "violet": (103, 58, 183),
    "slate": (69, 90, 100),
}
FONT_SCALES = (0.9, 1.0, 1.15, 1.3)


@dataclass(frozen=True, slots=True, eq=False)
class Theme:
    """Colours and faces by role. `cards`, `centred` and `floating` are layout variants."""

    dark: bool
    page: Color  # behind everything
    surface: Color  # cards, dialogs, bars
    field: Color  # text fields, chips, tracks
    text: Color
    muted: Color
    line: Color
    primary: Color
    on_primary: Color
    tint: Color  # a soft primary, for selected things
    danger: Color
    headline: Face
    title: Face
    body: Face
    strong: Face
    small: Face
    tiny: Face
    cards: bool  # list rows as cards instead of plain rows with lines
    centred: bool  # titles in the middle of the bar
    floating: bool  # a page's main action floats; otherwise it is in the bar
    row_pad: int  # pixels above and below the text of a list row
    language: Language


@lru_cache(maxsize=256)
def theme(
    dark: bool, accent: str, font_scale: float, variant: int, speaks: str = "English"
) -> Theme:
    """Return the theme of the settings. Bits of `variant`, 0..7: cards, centred, not floating."""
    base = ACCENTS[accent]
    cards = bool(variant & 1)
    page = (18, 19, 22) if dark else (241, 243, 247) if cards else (250, 250, 252)
    ink = (236, 238, 242) if dark else (28, 30, 34)
    primary = mixed(base, WHITE, 0.45) if dark else base

    def sized(size: int) -> int:
        return max(9, round(size * font_scale))

    return Theme(
        dark=dark,
        page=page,
        surface=(34, 36, 41) if dark else WHITE,
        field=(50, 53, 60) if dark else (235, 238, 243),
        text=ink,
        muted=mixed(page, ink, 0.62),
        line=mixed(page, ink, 0.13),
        primary=primary,
        on_primary=(20, 22, 26) if dark else WHITE,
        tint=mixed(page, primary, 0.22 if dark else 0.16),
        danger=(255, 120, 110) if dark else (190, 38, 38),
        headline=face(sized(24), "regular"),
        title=face(sized(18), "medium"),
        body=face(sized(15), "regular"),
        strong=face(sized(14), "medium"),
        small=face(sized(13), "regular"),
        tiny=face(sized(11), "regular"),
        cards=cards,
        centred=bool(variant & 2),
        floating=not variant & 4,
        row_pad=8 if font_scale <= 1.0 else 6,
        language=language(speaks),
    )
