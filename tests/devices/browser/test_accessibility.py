"""Trees of roles and a layout become elements."""

from __future__ import annotations

from distrl.devices.browser.accessibility import elements_of, read_places
from distrl.devices.browser.devtools import Json
from distrl.hierarchy import Element

SNAPSHOT: Json = {
    "strings": ["BUTTON", "#text", "circle", "DIV", "INPUT"],
    "documents": [
        {
            "scrollOffsetX": 0,
            "scrollOffsetY": 100,
            "nodes": {
                "nodeName": [0, 1, 2, 3, 4],
                "backendNodeId": [10, 11, 12, 13, 14],
                "isClickable": {"index": [0, 2]},
            },
            "layout": {
                "nodeIndex": [0, 1, 2, 3, 4],
                "bounds": [
                    [10, 110, 80, 40],
                    [12, 112, 50, 20],
                    [350, 200, 40, 40],  # half outside
                    [0, 0, 360, 50],  # scrolled away
                    [10, 300, 100, 30],
                ],
            },
        }
    ],
}


def node(number: int, role: str, name: str = "", parent: str = "", **more: object) -> Json:
    return {
        "nodeId": str(number),
        "parentId": parent,
        "backendDOMNodeId": number,
        "role": {"value": role},
        "name": {"value": name},
        **more,
    }


def test_places_are_cut_to_the_screen() -> None:
    places = read_places(SNAPSHOT, (360, 720))
    assert places[10].bounds == (10, 10, 90, 50)
    assert places[12].bounds == (350, 100, 360, 140)
    assert 13 not in places


def test_elements_have_roles_states_and_no_repeated_text() -> None:
    checked = [{"name": "checked", "value": {"value": "true"}}]
    tree = [
        node(10, "button", "Send"),
        node(11, "StaticText", "Send", parent="10"),
        node(13, "heading", "Scrolled away"),
        node(14, "checkbox", "Agree", properties=checked),
        node(99, "link", "Drawn nowhere"),
    ]
    found = elements_of(tree, read_places(SNAPSHOT, (360, 720)))
    assert found == (
        Element("button", "Send", (10, 10, 90, 50), clickable=True),
        Element("checkbox", "Agree", (10, 200, 110, 230), clickable=True, checked=True),
        Element("shape", "circle", (350, 100, 360, 140), clickable=True),
    )
