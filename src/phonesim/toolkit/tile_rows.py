"""A list row that starts with a coloured tile, as in settings and lists of apps."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.colors import WHITE, Color
from phonesim.scene import Scene
from phonesim.toolkit.rows import ListRow

TILE = 34


@dataclass(slots=True)
class TileRow(ListRow):
    """A list row with a white icon on a tile of its own colour."""

    color: Color = (110, 116, 128)
    corner: int = TILE // 2

    def _lead(self) -> int:
        return TILE + 14

    def _place_lead(self, scene: Scene, x: int, y: int, height: int) -> None:
        behind, top = scene.background, y + (height - TILE) // 2
        scene.rounded(x, top, TILE, TILE, self.corner, self.color)
        scene.background = self.color
        scene.icon(x + 8, top + 8, self.icon, TILE - 16, WHITE)
        scene.background = behind
