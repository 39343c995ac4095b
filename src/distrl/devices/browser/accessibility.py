"""Read the view hierarchy of a page from its accessibility tree.

The accessibility tree has the role, name, value and state of each node, but no positions. A layout
snapshot has the positions and click listeners, under the same node ids. Both requests are sent
together. Roles are mapped to those of phones (`hierarchy`) where one exists. Nodes without a name
that listen to clicks (shapes of a drawing, for example) become elements too: their role is `shape`
and their text is the name of their tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from distrl.devices.browser.browser_page import BrowserPage
from distrl.devices.browser.devtools import Json
from distrl.hierarchy import Element, Rect

ROLES = {
    "button": "button", "checkbox": "checkbox", "combobox": "field", "heading": "heading",
    "image": "picture", "link": "link", "listbox": "list", "menuitem": "button",
    "option": "option", "radio": "radio", "searchbox": "field", "slider": "slider",
    "spinbutton": "field", "StaticText": "text", "switch": "switch", "tab": "tab",
    "textbox": "field", "cell": "text", "columnheader": "text", "menuitemcheckbox": "checkbox",
    "menuitemradio": "radio", "DisclosureTriangle": "button", "PopUpButton": "field",
    "ComboBoxSelect": "field", "ComboBoxMenuButton": "field", "ComboBoxGrouping": "field",
    "DateTime": "field", "Date": "field", "InputTime": "field", "ColorWell": "field",
}  # fmt: skip
TOUCHED = {"button", "link", "checkbox", "radio", "switch", "tab", "option", "field", "slider"}
SHAPES = {"CIRCLE", "RECT", "POLYGON", "ELLIPSE", "PATH", "LINE", "TEXT", "CANVAS", "DIV", "SPAN",
          "TD", "LI", "P", "IMG", "G"}  # fmt: skip
MAX_ELEMENTS = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a document node on the screen."""

    bounds: Rect  # in screen pixels, clipped to the screen
    tag: str
    clickable: bool  # it has a click listener


def read_page(page: BrowserPage) -> tuple[Element, ...]:
    """Return the elements that are on the screen, in document order."""
    tree = page.session.send("Accessibility.getFullAXTree")
    layout = page.session.send(
        "DOMSnapshot.captureSnapshot", computedStyles=[], includePaintOrder=True
    )
    page.finish(tree, layout)
    if not (tree.done and layout.done):  # a dialog opened meanwhile
        return ()
    size = (page.viewport.width, page.viewport.height)
    places = read_places(layout.result, size)
    return elements_of(tree.result.get("nodes", []), places)


def elements_of(nodes: Sequence[Json], places: dict[int, Place]) -> tuple[Element, ...]:
    """Return the elements of an accessibility tree that have a place on the screen."""
    return tuple(islice(_elements(nodes, places), MAX_ELEMENTS))


def read_places(snapshot: Json, size: tuple[int, int]) -> dict[int, Place]:
    """Return the places of all nodes visible on a screen of that size, by node id."""
    strings, found = snapshot.get("strings", []), {}
    for document in snapshot.get("documents", [])[:1]:  # iframes have trees of their own
        nodes, layout = document["nodes"], document["layout"]
        clickable = set(nodes.get("isClickable", {}).get("index", []))
        across, down = document.get("scrollOffsetX", 0), document.get("scrollOffsetY", 0)
        for node, box in zip(layout["nodeIndex"], layout["bounds"], strict=True):
            bounds = _cut(box, across, down, size)
            if bounds is not None:
                tag = str(strings[nodes["nodeName"][node]]).upper()
                found[nodes["backendNodeId"][node]] = Place(bounds, tag, node in clickable)
    return found


def _cut(box: Sequence[float], across: float, down: float, size: tuple[int, int]) -> Rect | None:
    left, top = round(box[0] - across), round(box[1] - down)
    right, bottom = round(box[0] - across + box[2]), round(box[1] - down + box[3])
    bounds = max(0, left), max(0, top), min(size[0], right), min(size[1], bottom)
    return bounds if bounds[0] < bounds[2] and bounds[1] < bounds[3] else None


def _elements(nodes: Sequence[Json], places: dict[int, Place]) -> Iterator[Element]:
    named = {node["nodeId"]: _name(node) for node in nodes if not node.get("ignored")}
    seen: set[int] = set()
    for node in nodes:
        number = node.get("backendDOMNodeId", -1)
        place = places.get(number)
        if node.get("ignored") or place is None or number in seen:
            continue
        element = _element(node, place)
        if element is not None and not _repeats(node, named):
            seen.add(number)
            yield element
    for number, place in places.items():
        if place.clickable and number not in seen and place.tag in SHAPES:
            yield Element("shape", place.tag.lower(), place.bounds, clickable=True)


def _repeats(node: Json, named: dict[str, str]) -> bool:
    """Return whether the node is a text that only repeats the name of its parent."""
    parent = named.get(node.get("parentId", ""), "")
    return node["role"]["value"] == "StaticText" and bool(parent) and parent == _name(node)


def _element(node: Json, place: Place) -> Element | None:
    role = ROLES.get(str(node["role"]["value"]), "")
    name = _name(node)
    states = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
    if not role:
        if not (name and place.clickable):
            return None
        role = "button"
    if role in ("text", "heading", "picture") and not (name or place.clickable):
        return None
    checked = states.get("checked")
    return Element(
        role=role,
        text=name,
        bounds=place.bounds,
        detail=str(node.get("description", {}).get("value", "")),
        value=str(node.get("value", {}).get("value", "")) if role != "text" else "",
        clickable=place.clickable or role in TOUCHED,
        checked=None if checked is None else checked in (True, "true", "mixed"),
        selected=states.get("selected") is True,
        focused=states.get("focused") is True,
        enabled=states.get("disabled") is not True,
    )


def _name(node: Json) -> str:
    return str(node.get("name", {}).get("value", "")).strip()
