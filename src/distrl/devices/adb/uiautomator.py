"""Parse the XML of `uiautomator dump` into elements.

`phonesim.hierarchy_xml` is the inverse, for the simulated phone. The text comes from a phone and
is not trusted: document types and entities are refused, and elements with invalid bounds are left
out. Elements are in drawing order, parents before their children.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from distrl.devices.adb.adb_shell import PhoneShell
from distrl.errors import CommandRefused, ScreenRestless
from distrl.hierarchy import Element, Rect

DUMP_FILE = "/data/local/tmp/distrl-window.xml"
TAKE_DUMP = f"cat {DUMP_FILE} && rm -f {DUMP_FILE}"
MAX_DUMP = 32 << 20
HIERARCHY_SECONDS = 20.0
TRIES = 2  # attempts on a screen that does not rest; Android waits 10 s each time
ROLES = (  # the end of a view's class name, and our role for it; the first match applies
    ("EditText", "field"),
    ("AutoCompleteTextView", "field"),
    ("CheckBox", "checkbox"),
    ("CheckedTextView", "checkbox"),
    ("RadioButton", "radio"),
    ("Switch", "switch"),
    ("SwitchCompat", "switch"),
    ("ToggleButton", "switch"),
    ("SeekBar", "slider"),
    ("Button", "button"),
    ("ScrollView", "scroll"),
    ("RecyclerView", "scroll"),
    ("ListView", "scroll"),
    ("ViewPager", "scroll"),
    ("ImageView", "picture"),
    ("TextView", "text"),
)
BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
KEYBOARDS = ("inputmethod", "latin", "keyboard", "swiftkey", "gboard", "honeyboard")


def dump_hierarchy(shell: PhoneShell, seconds: float) -> str:
    """Dump the hierarchy to a file on the phone, read the file and remove it. Without a terminal,
    uiautomator can only write to a file.

    uiautomator waits for a screen without events. If the screen never rests it gives up; after
    `TRIES` attempts raise `ScreenRestless`.
    """
    shown = ""
    for _ in range(TRIES):
        said = shell.shell(f"uiautomator dump {DUMP_FILE}", seconds)
        if "dumped to" in said.text:
            return shell.shell(TAKE_DUMP, seconds).checked_text(shell.serial, ("cat", DUMP_FILE))
        shown = " ".join((said.text + said.errors.decode("utf-8", "replace")).split())[:200]
        if "idle state" not in shown:
            raise CommandRefused(
                f"device {shell.serial}: uiautomator wrote no hierarchy: {shown!r}"
            )
    raise ScreenRestless(
        f"device {shell.serial}: its screen did not rest in {TRIES} tries: {shown!r}"
    )


def read_hierarchy(dump: str, serial: str) -> tuple[Element, ...]:
    """Return the elements in a dump; ignore whatever uiautomator wrote around the XML."""
    start, end = dump.find("<hierarchy"), dump.rfind("</hierarchy>")
    if start < 0:
        said = " ".join(dump.split())[:200]
        raise CommandRefused(f"device {serial}: uiautomator wrote no hierarchy but: {said!r}")
    if end < 0 and not re.search(r"<hierarchy[^>]*/>", dump[start:]):
        raise CommandRefused(
            f"device {serial}: a hierarchy that is cut off after {len(dump)} bytes"
        )
    text = dump[start : end + len("</hierarchy>")] if end >= 0 else "<hierarchy/>"
    if "<!" in text or len(text) > MAX_DUMP:
        raise CommandRefused(f"device {serial}: a hierarchy with declarations, or far too long")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise CommandRefused(f"device {serial}: a hierarchy that is no XML: {error}") from error
    found = (_element(node) for node in root.iter("node"))
    return tuple(element for element in found if element is not None)


def _element(node: ET.Element) -> Element | None:
    bounds = _bounds(node.get("bounds", ""))
    if bounds is None:
        return None
    flags = {name: node.get(name) == "true" for name in node.keys()}  # noqa: SIM118 (no mapping)
    role = _role(node.get("class", ""), children=len(node) > 0)
    text, description = node.get("text", ""), node.get("content-desc", "")
    if role == "field":
        label, value, detail = description or node.get("hint", ""), text, ""
    else:
        label, value = text or description, ""
        detail = description if text else ""
    return Element(
        role=role,
        text=label,
        bounds=bounds,
        detail=detail,
        value=value,
        window=_window(node.get("package", "")),
        clickable=flags.get("clickable", False),
        holdable=flags.get("long-clickable", False),
        scrollable=flags.get("scrollable", False),
        checked=flags.get("checked", False) if flags.get("checkable") else None,
        selected=flags.get("selected", False),
        focused=flags.get("focused", False),
        enabled=flags.get("enabled", True),
    )


def _bounds(text: str) -> Rect | None:
    found = BOUNDS.fullmatch(text)
    if found is None:
        return None
    left, top, right, bottom = (int(number) for number in found.groups())
    return (left, top, right, bottom) if left < right and top < bottom else None


def _role(view: str, *, children: bool) -> str:
    for ending, role in ROLES:
        if view.endswith(ending):
            return role
    return "row" if children or view.endswith(("ViewGroup", "Layout")) else "view"


def _window(package: str) -> str:
    if package == "com.android.systemui":
        return "system"
    return "keyboard" if any(word in package for word in KEYBOARDS) else "app"
