"""The on-screen keyboard: a tap on a key types into the focused field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phonesim.dimensions import KEYBOARD, NAVIGATION
from phonesim.drawing.emoji import EMOJI
from phonesim.drawing.fonts import face
from phonesim.scene import Handler, Scene, Touch

if TYPE_CHECKING:
    from phonesim.phone import Phone

COLUMNS = 10  # keys per row
ROW = 48
_EMOJI = tuple(EMOJI)
LAYERS = {
    "lower": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "upper": ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"),
    "symbols": ("1234567890", "@#$%&-+()", "*\"':;!?"),
    "emoji": ("".join(_EMOJI[:10]), "".join(_EMOJI[10:20]), "".join(_EMOJI[20:27])),
}
LETTERS = {  # of languages with another layout
    "German": ("qwertzuiopü", "asdfghjklöä", "yxcvbnmß"),
    "Spanish": ("qwertyuiop", "asdfghjklñ", "zxcvbnm"),
}
CAPITALS = {"ß": "ẞ"}  # "ß".upper() would be two letters


def rows_of(layer: str, language: str) -> tuple[str, ...]:
    """Return the rows of keys of a layer. A long press on the comma opens the emoji layer."""
    letters = LETTERS.get(language)
    if letters is None or layer not in ("lower", "upper"):
        return LAYERS[layer]
    if layer == "lower":
        return letters
    return tuple("".join(CAPITALS.get(key) or key.upper() for key in row) for row in letters)


def place(scene: Scene, phone: Phone) -> None:
    theme, width, layer = scene.theme, scene.canvas.width, phone.state.keyboard
    rows = rows_of(layer, theme.language.name)
    wide = width // max(COLUMNS, *map(len, rows))
    top = scene.canvas.height - NAVIGATION - KEYBOARD
    window, scene.window = scene.window, "keyboard"
    scene.fill(0, top, width, KEYBOARD, theme.field)
    scene.touches.append(Touch((0, top, width, top + KEYBOARD), on_tap=lambda: None))
    for row, keys in enumerate(rows):
        left = (width - len(keys) * wide) // 2
        for column, key in enumerate(keys):
            _key(scene, left + column * wide, top + 6 + row * ROW, wide, key, _typing(phone, key))
    _place_edges(scene, phone, top + 6 + 2 * ROW, (width - len(rows[2]) * wide) // 2 - 6)
    _place_foot(scene, phone, top + 6 + 3 * ROW, layer)
    scene.window = window


def _typing(phone: Phone, key: str) -> Handler:
    def press() -> None:
        phone.type_text(key)
        if phone.state.keyboard == "upper":
            phone.show_keys("lower")

    return press


def _key(
    scene: Scene,
    x: int,
    y: int,
    width: int,
    label: str,
    act: Handler,
    icon: str = "",
    hold: Handler | None = None,
) -> None:
    theme = scene.theme
    scene.background = theme.field
    scene.rounded(x + 2, y, width - 4, ROW - 6, 6, theme.surface)
    scene.background = theme.surface
    if icon:
        scene.icon(x + (width - 18) // 2, y + 12, icon, 18)
    else:
        scene.centred_text((x + 2, y, width - 4, ROW - 6), label, face(16))
    scene.element("key", label, (x, y, width, ROW - 4), on_tap=act, on_hold=hold)


def _place_edges(scene: Scene, phone: Phone, y: int, side: int) -> None:
    """Place Shift and Delete beside the last row of letters."""
    layer = phone.state.keyboard
    shifted, tr = "lower" if layer == "upper" else "upper", scene.theme.language.tr
    width = scene.canvas.width
    if layer in ("lower", "upper"):
        _key(scene, 2, y, side, tr("Shift"), lambda: phone.show_keys(shifted), "shift")
    _key(scene, width - side - 2, y, side, tr("Delete"), phone.erase, "backspace")


def _place_foot(scene: Scene, phone: Phone, y: int, layer: str) -> None:
    other, tr = "symbols" if layer in ("lower", "upper") else "lower", scene.theme.language.tr
    width = scene.canvas.width
    _key(scene, 2, y, 54, "?123" if other == "symbols" else "abc", lambda: phone.show_keys(other))
    comma = _typing(phone, ",")
    _key(scene, 58, y, 36, ",", comma, hold=lambda: phone.show_keys("emoji"))
    _key(scene, 96, y, width - 198, tr("space"), _typing(phone, " "))
    _key(scene, width - 100, y, 36, ".", _typing(phone, "."))
    _key(scene, width - 62, y, 60, tr("Enter"), phone.submit, "enter")
