"""The elements of a screen as the XML of Android's `uiautomator dump`.

`distrl.devices.adb.uiautomator` is the inverse, for real phones.
"""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from distrl.hierarchy import Element

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


def uiautomator_xml(elements: tuple[Element, ...], package: str) -> str:
    """Return the elements as the XML that `uiautomator dump` would write."""
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
