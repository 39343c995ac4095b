"""The view hierarchy of a screen: what is on it, where, and in which state.

The same record serves the simulated phone and uiautomator's dump of a real one. Bounds are pixels.
Elements come in drawing order, so the last one that covers a point is on top there.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.sax.saxutils import quoteattr

Rect = tuple[int, int, int, int]  # left, top, right, bottom

_CLASSES = {
    "text": "android.widget.TextView",
    "button": "android.widget.Button",
    "row": "android.view.ViewGroup",
    "switch": "android.widget.Switch",
    "checkbox": "android.widget.CheckBox",
    "radio": "android.widget.RadioButton",
    "slider": "android.widget.SeekBar",
    "field": "android.widget.EditText",
    "picture": "android.widget.ImageView",
    "scroll": "android.widget.ScrollView",
}


class Element(NamedTuple):
    """One thing on the screen.

    `text` is its label; `detail` a second line or a description; `value` what a field or slider
    holds. `checked` is None where there is nothing to check.
    """

    role: str
    text: str
    bounds: Rect
    detail: str = ""
    value: str = ""
    window: str = "app"  # app, dialog, popup, keyboard, shade, system
    clickable: bool = False
    holdable: bool = False
    scrollable: bool = False
    checked: bool | None = None
    selected: bool = False
    focused: bool = False
    enabled: bool = True

    @property
    def centre(self) -> tuple[int, int]:
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2


def uiautomator_xml(elements: tuple[Element, ...], package: str) -> str:
    """The elements as `uiautomator dump` would write them."""
    nodes = "".join(_node(index, element, package) for index, element in enumerate(elements))
    return (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
        f'<hierarchy rotation="0">{nodes}</hierarchy>'
    )


def _node(index: int, element: Element, package: str) -> str:
    left, top, right, bottom = element.bounds

    def flag(value: object) -> str:
        return "true" if value else "false"

    attributes = {
        "index": str(index),
        "text": element.value if element.role == "field" else element.text,
        "class": _CLASSES.get(element.role, "android.view.View"),
        "package": package,
        "content-desc": element.text if element.role == "field" else element.detail,
        "checkable": flag(element.checked is not None),
        "checked": flag(element.checked),
        "clickable": flag(element.clickable),
        "enabled": flag(element.enabled),
        "focusable": flag(element.role == "field"),
        "focused": flag(element.focused),
        "scrollable": flag(element.scrollable),
        "long-clickable": flag(element.holdable),
        "selected": flag(element.selected),
        "bounds": f"[{left},{top}][{right},{bottom}]",
    }
    return "<node " + " ".join(f"{k}={quoteattr(v)}" for k, v in attributes.items()) + " />"
