"""Cards for offers in a list: upright with the picture on top, or flat with it on the left."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.fonts import Face, text_width, wrap
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.widget import Size
from phonesim.web.catalogue import dollars
from phonesim.web.offers import Offer

STAR: Color = (226, 150, 20)
SALE: Color = (196, 44, 44)
FLAT_PICTURE = 88


def facts_of(offer: Offer, sponsored: bool) -> str:
    """Return a card's facts as one line, for the scene's element."""
    parts = [dollars(offer.price), f"{offer.stars} stars"]
    if not offer.in_stock:
        parts.append("Sold out")
    if sponsored:
        parts.insert(0, "Sponsored")
    return " · ".join(parts)


def draw_price(scene: Scene, x: int, y: int, room: int, offer: Offer, of: Face) -> None:
    """Draw the price, and the old one struck through if it was reduced and there is room."""
    theme, text = scene.theme, dollars(offer.price)
    scene.text(x, y, text, of, SALE if offer.was and not theme.dark else None)
    old, left = dollars(offer.was), x + text_width(text, of) + 6
    if offer.was and left + text_width(old, theme.tiny) <= x + room:
        top = y + of.line_height - theme.tiny.line_height - 1
        scene.text(left, top, old, theme.tiny, theme.muted)
        middle = top + theme.tiny.line_height // 2
        scene.fill(left, middle, text_width(old, theme.tiny), 1, theme.muted)


def draw_stars(scene: Scene, x: int, y: int, offer: Offer, *, all_five: bool = False) -> None:
    theme = scene.theme
    size = theme.tiny.line_height - 2
    for place in range(5 if all_five else 1):
        name = "star_filled" if not all_five or offer.rating >= place * 10 + 5 else "star"
        scene.icon(x, y + 1, name, size, STAR)
        x += size + 1
    scene.text(x + 3, y, f"{offer.stars} ({offer.reviews})", theme.tiny, theme.muted)


def draw_tag(scene: Scene, x: int, y: int, text: str, color: Color) -> None:
    theme, behind = scene.theme, scene.background
    wide = text_width(text, theme.tiny) + 10
    scene.fill(x, y, wide, theme.tiny.line_height + 4, color)
    scene.background = color
    scene.text(x + 5, y + 2, text, theme.tiny, WHITE)
    scene.background = behind


@dataclass(slots=True)
class UprightCard:
    """Picture on top, name, price and stars below; two or more side by side."""

    offer: Offer
    on_tap: Handler
    high: int = 120  # height of the picture
    sponsored: bool = False
    framed: bool = True
    name_lines: int = 2

    def size(self, theme: Theme, width: int) -> Size:
        text = theme.small.line_height * self.name_lines + theme.strong.line_height
        return width, self.high + text + theme.tiny.line_height + 22

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind, offer = scene.theme, scene.background, self.offer
        inset = 1 if self.framed else 0
        if self.framed:
            scene.fill(x, y, width, height, theme.line)
            scene.fill(x + 1, y + 1, width - 2, height - 2, theme.surface)
            scene.background = theme.surface
        key = offer.product.picture()
        scene.canvas.picture(x + inset, y + inset, key, width - 2 * inset, self.high)
        self._place_tags(scene, x + inset, y + inset)
        left, top = x + (8 if self.framed else 2), y + self.high + 7
        for line in wrap(offer.product.name, theme.small, width - 16, self.name_lines):
            scene.text(left, top, line, theme.small)
            top += theme.small.line_height
        top = y + self.high + 9 + self.name_lines * theme.small.line_height
        draw_price(scene, left, top, width - 12, offer, theme.strong)
        draw_stars(scene, left, top + theme.strong.line_height + 2, offer)
        scene.background = behind
        scene.element(
            "row",
            offer.product.name,
            (x, y, width, height),
            detail=facts_of(offer, self.sponsored),
            on_tap=self.on_tap,
        )

    def _place_tags(self, scene: Scene, x: int, y: int) -> None:
        if self.sponsored:
            draw_tag(scene, x, y, "Sponsored", (96, 100, 110))
        elif not self.offer.in_stock:
            draw_tag(scene, x, y, "Sold out", (60, 62, 70))
        elif self.offer.was:
            percent = 100 - self.offer.price * 100 // self.offer.was
            draw_tag(scene, x, y, f"−{percent}%", SALE)


@dataclass(slots=True)
class FlatCard:
    """Picture on the left, everything else beside it; `specs` shows the product's details."""

    offer: Offer
    on_tap: Handler
    sponsored: bool = False
    specs: bool = True

    def _heights(self, theme: Theme) -> int:
        small = theme.small.line_height * 2 + (theme.tiny.line_height * 2 if self.specs else 0)
        return small + theme.strong.line_height + theme.tiny.line_height + 12

    def size(self, theme: Theme, width: int) -> Size:
        return width, max(FLAT_PICTURE, self._heights(theme)) + 20

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, offer = scene.theme, self.offer
        key = offer.product.picture()
        scene.canvas.picture(x + 12, y + 10, key, FLAT_PICTURE, FLAT_PICTURE)
        left, top = x + FLAT_PICTURE + 24, y + 9
        room = width - FLAT_PICTURE - 36
        for line in wrap(offer.product.name, theme.small, room, 2):
            scene.text(left, top, line, theme.small)
            top += theme.small.line_height
        if self.specs:
            for line in wrap(" · ".join(offer.product.details), theme.tiny, room, 2):
                scene.text(left, top, line, theme.tiny, theme.muted)
                top += theme.tiny.line_height
        draw_price(scene, left, top + 4, room, offer, theme.strong)
        top += 6 + theme.strong.line_height
        draw_stars(scene, left, top, offer, all_five=True)
        self._place_note(scene, left, top + theme.tiny.line_height)
        scene.fill(x + 12, y + height - 1, width - 24, 1, theme.line)
        scene.element(
            "row",
            offer.product.name,
            (x, y, width, height),
            detail=facts_of(offer, self.sponsored),
            on_tap=self.on_tap,
        )

    def _place_note(self, scene: Scene, x: int, y: int) -> None:
        theme = scene.theme
        if self.sponsored:
            scene.text(x, y, "Sponsored", theme.tiny, theme.muted)
        elif not self.offer.in_stock:
            scene.text(x, y, "Sold out", theme.tiny, theme.danger)
