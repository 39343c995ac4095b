"""Round widgets: avatars with initials, round buttons with a caption, keys of a dial pad."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.fonts import face, text_width
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.rows import AVATAR_COLORS
from phonesim.toolkit.surfaces import track_color, well_color
from phonesim.toolkit.widget import Size


@dataclass(slots=True)
class Avatar:
    """A disc with the initials of a name, in the colour that lists give that name."""

    name: str
    px: int = 88

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.px

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        behind = scene.background
        left = x + (width - self.px) // 2
        color = AVATAR_COLORS[sum(map(ord, self.name)) % len(AVATAR_COLORS)]
        scene.rounded(left, y, self.px, self.px, self.px // 2, color)
        scene.background = color
        if self.name[:1].isalpha():
            words = self.name.split()
            initials = "".join(word[0].upper() for word in (words[:1] + words[1:][-1:]))
            box = (left, y, self.px, self.px)
            scene.centred_text(box, initials, face(self.px * 2 // 5, "medium"), WHITE)
        else:
            inset = self.px // 4
            scene.icon(left + inset, y + inset, "user", self.px - 2 * inset, WHITE)
        scene.background = behind


@dataclass(slots=True)
class RoundButton:
    """A round button with an icon, and its label below unless `caption` is off."""

    icon: str
    label: str
    on_tap: Handler
    px: int = 52
    fill: Color | None = None  # None: the theme's soft colour
    selected: bool = False
    caption: bool = True
    enabled: bool = True

    def size(self, theme: Theme, width: int) -> Size:
        wide = max(self.px, text_width(self.label, theme.small)) if self.caption else self.px
        return wide, self.px + (theme.small.line_height + 4 if self.caption else 0)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        fill = self.fill or (theme.primary if self.selected else theme.tint)
        ink = WHITE if self.fill else theme.on_primary if self.selected else theme.primary
        if not self.enabled:
            fill, ink = track_color(theme), theme.muted
        left, inset = x + (width - self.px) // 2, self.px * 7 // 24
        scene.rounded(left, y, self.px, self.px, self.px // 2, fill)
        scene.background = fill
        scene.icon(left + inset, y + inset, self.icon, self.px - 2 * inset, ink)
        scene.background = behind
        if self.caption:
            box = (x, y + self.px + 4, width, theme.small.line_height)
            scene.centred_text(box, self.label, theme.small, theme.muted)
        scene.element(
            "button",
            self.label,
            (x, y, width, height),
            on_tap=self.on_tap,
            selected=self.selected,
            enabled=self.enabled,
        )


@dataclass(slots=True)
class DialKey:
    """A key of a dial pad: a digit and, small below it, its letters."""

    digit: str
    letters: str
    on_tap: Handler
    px: int = 64

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.px

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        left = x + (width - self.px) // 2
        fill = well_color(scene)
        scene.rounded(left, y, self.px, self.px, self.px // 2, fill)
        scene.background = fill
        lift = 8 if self.letters else 0
        box = (left, y - lift, self.px, self.px)
        scene.centred_text(box, self.digit, face(26))
        if self.letters:
            box = (left, y + self.px - 24, self.px, 14)
            scene.centred_text(box, self.letters, face(10), theme.muted)
        scene.background = behind
        scene.element(
            "button", self.digit, (x, y, width, self.px), detail=self.letters, on_tap=self.on_tap
        )
