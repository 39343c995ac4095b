"""A new notification: a card at the top of the screen until the next action.

A tap opens its app, a swipe upwards dismisses it; it stays in the shade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phonesim.dimensions import STATUS
from phonesim.drawing.colors import WHITE, mixed
from phonesim.drawing.fonts import shorten
from phonesim.languages.language import Language
from phonesim.languages.translations import filled
from phonesim.scene import Drag, Scene
from phonesim.system import Notification

if TYPE_CHECKING:
    from phonesim.phone import Phone

SIDE, HIGH, ICON = 8, 66, 34
WINDOW = "heads_up"
# Texts that apps store in English, translated when shown; all others are shown as they are.
OWN_TEXTS = ("{count} apps can be updated",)


def note_text(language: Language, note: Notification) -> str:
    """Return a notification's text, translated if it is one of `OWN_TEXTS`."""
    return note.text if language.name == "English" else filled(language, note.text, OWN_TEXTS)


def place(scene: Scene, phone: Phone, note_id: int) -> None:
    note = phone.facts.find(Notification, lambda each: each.id == note_id)
    if note is None:
        return
    theme, app = scene.theme, phone.apps[note.app]
    title, text = theme.language.tr(note.title), note_text(theme.language, note)
    x, y, width = SIDE, STATUS + 6, scene.canvas.width - 2 * SIDE
    scene.background = None
    scene.rounded(x, y, width, HIGH, 18, mixed(theme.line, theme.muted, 0.5))
    scene.rounded(x + 1, y + 1, width - 2, HIGH - 2, 17, theme.surface)
    scene.background = theme.surface
    middle = y + (HIGH - ICON) // 2
    scene.rounded(x + 14, middle, ICON, ICON, 10, app.color)
    scene.canvas.icon(x + 21, middle + 7, app.icon, ICON - 14, WHITE, app.color)
    room, top = width - 74, y + (HIGH - theme.strong.line_height - theme.small.line_height) // 2
    scene.text(x + 60, top, shorten(title, theme.strong, room), theme.strong)
    below = top + theme.strong.line_height
    scene.text(x + 60, below, shorten(text, theme.small, room), theme.small, theme.muted)
    window, scene.window = scene.window, WINDOW
    scene.element(
        "row",
        title,
        (x, y, width, HIGH),
        detail=text,
        on_tap=lambda: phone.launch(note.app),
        on_drag=_dragged,
    )
    scene.window = window


def _dragged(_: Drag) -> bool:
    """Accept any drag: the card disappears with the next action, and nothing below may move."""
    return True
