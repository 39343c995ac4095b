"""Large displays of time: an alarm with its switch, and a countdown dial."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from distrl.records import Pixels
from phonesim.drawing.canvas import paint
from phonesim.drawing.colors import Color
from phonesim.drawing.fonts import face, shorten
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.controls import SWITCH, draw_switch
from phonesim.toolkit.surfaces import track_color
from phonesim.toolkit.widget import Size

DIAL = 208
STEPS = 120  # of a dial's full circle
RIM = 7


@dataclass(slots=True)
class AlarmRow:
    """An alarm: its time, its label and days, and its switch."""

    time: str
    detail: str
    on: bool
    switch_label: str
    on_tap: Handler
    on_hold: Handler
    on_switch: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return width, theme.headline.line_height + theme.small.line_height + 28

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        box = (x + 12, y + 4, width - 24, height - 8)
        fill = theme.tint if self.on else theme.surface
        scene.rounded(*box, 14, fill)
        scene.background = fill
        ink = theme.text if self.on else theme.muted
        scene.text(box[0] + 16, box[1] + 8, self.time, theme.headline, ink)
        detail = shorten(self.detail, theme.small, box[2] - SWITCH[0] - 48)
        below = box[1] + 10 + theme.headline.line_height
        scene.text(box[0] + 16, below, detail, theme.small, theme.muted)
        scene.element(
            "row",
            self.time,
            box,
            detail=self.detail,
            on_tap=self.on_tap,
            on_hold=self.on_hold,
        )
        left = box[0] + box[2] - SWITCH[0] - 16
        draw_switch(scene, left, box[1] + (box[3] - SWITCH[1]) // 2, self.on)
        target = (left - 12, box[1], SWITCH[0] + 28, box[3])
        scene.element("switch", self.switch_label, target, on_tap=self.on_switch, checked=self.on)
        scene.background = behind


@dataclass(slots=True)
class Dial:
    """A circle of which a share in [0, 1] is left, around a time in figures."""

    share: float
    figures: str
    caption: str = ""

    def size(self, theme: Theme, width: int) -> Size:
        return width, DIAL + 16

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, left, top = scene.theme, x + (width - DIAL) // 2, y + 8
        ground = scene.background or theme.page
        steps = round(STEPS * min(1.0, max(0.0, self.share)))
        ring = _ring(steps, theme.primary, track_color(theme), ground, scene.canvas.density)
        scene.canvas.tile(ring, left, top)
        size = 44 if len(self.figures) <= 5 else 34
        scene.centred_text((left, top, DIAL, DIAL), self.figures, face(size))
        caption = (left + 24, top + DIAL // 2 + 30, DIAL - 48, 24)
        scene.centred_text(caption, self.caption, theme.small, theme.muted)
        scene.element("text", self.figures, (left, top, DIAL, DIAL), detail=self.caption)


@lru_cache(maxsize=512)
def _ring(steps: int, color: Color, track: Color, ground: Color, density: int) -> Pixels:
    """Return a ring mask with `steps` parts filled, clockwise from the top."""
    scale = 3 * density
    inset, wide = RIM * scale, DIAL * density
    side = DIAL * scale
    track_mask, arc_mask = (Image.new("L", (side, side)) for _ in range(2))
    box = (inset // 2, inset // 2, side - inset // 2, side - inset // 2)
    ImageDraw.Draw(track_mask).ellipse(box, outline=255, width=inset)
    end = -90 + 360 * steps / STEPS
    ImageDraw.Draw(arc_mask).arc(box, -90, end, fill=255, width=inset)
    small = [
        np.asarray(m.resize((wide, wide), Image.Resampling.BOX)) for m in (track_mask, arc_mask)
    ]
    pixels = paint(small[0], track, ground)
    share = small[1][..., None].astype(np.int32)
    over = np.array(color, dtype=np.int32)
    blended = (pixels * (255 - share) + over * share + 127) // 255
    return blended.astype(np.uint8)
