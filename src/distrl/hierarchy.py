"""The view hierarchy of a screen: its elements, their bounds and their states.

The simulated phone, the uiautomator dump of a real phone and a browser's accessibility tree all
produce the same record, `Element`. Bounds are in pixels. Elements come in drawing order, so the
last one that covers a point is on top there.

`readable` reduces a hierarchy to what a language model can read: few elements, each with a label or
a possible action. `words_touched` returns every label that a tap may act on. `element_rows` and
`elements_of_rows` convert elements to plain values for files and network messages, and back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

Rect = tuple[int, int, int, int]  # left, top, right, bottom

MAX_READ = 2000  # elements of a hierarchy that are processed; the others are dropped
MAX_READABLE = 400  # elements that `readable` returns
TALLEST_ROW = 1 / 3  # share of the screen's height
LONGEST_TEXT = 200  # characters that are kept of a label, a detail or a value


class Element(NamedTuple):
    """One element of the screen.

    `text` is its label, `detail` a second line or a description, and `value` the content of a field
    or slider. `checked` is None if the element cannot be checked.
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

    @property
    def touchable(self) -> bool:
        """Whether a touch can do something with it, other than scroll."""
        return self.clickable or self.holdable or self.checked is not None or self.role == "field"

    def covers(self, x: float, y: float) -> bool:
        left, top, right, bottom = self.bounds
        return left <= x < right and top <= y < bottom

    def contains(self, other: Element) -> bool:
        left, top, right, bottom = self.bounds
        inner = other.bounds
        return left <= inner[0] and top <= inner[1] and inner[2] <= right and inner[3] <= bottom


Elements = tuple[Element, ...]


# What can be read --------------------------------------------------------------------------------


def readable(elements: Iterable[Element]) -> Elements:
    """Return the elements that a language model is shown, in drawing order.

    The keys of a keyboard become one element; system bars are dropped. A row without a label of its
    own gets the labels of the elements on it and the state of its switch: on Android a row receives
    the touch, and its parts have the text. Elements with neither a label nor a use are dropped;
    long texts are truncated, and so are long lists.
    """
    seen = [_cut(each) for each in islice(elements, MAX_READ)]
    keys = [each for each in seen if each.window == "keyboard"]
    rest = [each for each in seen if each.window not in ("keyboard", "system")]
    kept = [each for each in labelled_rows(rest) if _says_something(each)]
    keyboard = [Element("keyboard", "", _around(keys), window="keyboard")] if keys else []
    return (*kept[: MAX_READABLE - 1], *keyboard)


def labelled_rows(elements: Sequence[Element]) -> list[Element]:
    """Return the elements, with each unlabelled row merged with the elements that stand on it."""
    kept = dict(enumerate(elements))
    for place, parts in _parts(elements).items():
        row = elements[place]
        if row.text or row.role == "field" or not row.touchable:
            continue
        kept[place] = _with_parts(row, [elements[at] for at in parts])
        for at in parts:
            del kept[at]
    return list(kept.values())


def words_touched(elements: Sequence[Element], x: float, y: float) -> list[str]:
    """Return every label and detail that a tap at a pixel may act on.

    These are the texts of the elements that cover the pixel, and all texts on the touched row. For
    a button without text, the text of the row around it counts too; not for a text field. Touchable
    containers taller than a row (a page, a list) do not add the texts that are on them.
    """
    words = words_under(elements, x, y)
    tallest = TALLEST_ROW * max((each.bounds[3] for each in elements), default=0)
    told: list[Element] = []
    for place, parts in reversed(_parts(elements).items()):
        row = elements[place]
        is_row = row.touchable and row.bounds[3] - row.bounds[1] <= tallest
        if is_row and row.covers(x, y) and not any(map(row.contains, told)):
            said = [word for at in (place, *parts) for word in _words(elements[at])]
            words += said
            told += [row] if said or row.role == "field" else []
    return words


def words_under(elements: Sequence[Element], x: float, y: float) -> list[str]:
    """Return every label and detail of the elements that cover a pixel."""
    return [word for each in elements if each.covers(x, y) for word in _words(each)]


def _words(element: Element) -> list[str]:
    return [word for word in (element.text, element.detail) if word]


def _parts(elements: Sequence[Element]) -> dict[int, list[int]]:
    """Map the index of each element that takes touches itself to the indices of its parts.

    On Android a row is clickable, and the text on it is not: the text is a part of the row. A text
    on a button on the row is a part of the button.
    """
    parts: dict[int, list[int]] = {}
    for place, each in enumerate(elements):
        holder = next((at for at in reversed(parts) if elements[at].contains(each)), None)
        if _for_itself(each) or (each.touchable and holder is None):
            parts[place] = []
        elif holder is not None:
            parts[holder].append(place)
    return parts


def _for_itself(element: Element) -> bool:
    return element.clickable or element.holdable or element.scrollable or element.role == "field"


def _with_parts(row: Element, parts: Sequence[Element]) -> Element:
    words = list(dict.fromkeys(each.text for each in parts if each.text))
    state = next((each for each in parts if each.checked is not None), None)
    label, *details = words or [""]
    detail = ", ".join(filter(None, (row.detail, *details)))[:LONGEST_TEXT]
    row = row._replace(text=label, detail=detail)
    return row if state is None else row._replace(role=state.role, checked=state.checked)


def _says_something(element: Element) -> bool:
    return bool(element.text or element.detail or element.value) or (
        element.touchable or element.scrollable
    )


def _cut(element: Element) -> Element:
    texts = (element.text, element.detail, element.value)
    if max(map(len, texts)) <= LONGEST_TEXT:
        return element
    text, detail, value = (
        each if len(each) <= LONGEST_TEXT else f"{each[: LONGEST_TEXT - 1]}…" for each in texts
    )
    return element._replace(text=text, detail=detail, value=value)


def _around(elements: Sequence[Element]) -> Rect:
    lefts, tops, rights, bottoms = zip(*(each.bounds for each in elements), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def touched_at(elements: Sequence[Element], x: float, y: float) -> Element | None:
    """Return the topmost touchable element at a pixel, else the topmost one with a label."""
    covering = [each for each in reversed(elements) if each.covers(x, y)]
    reacting = (each for each in covering if each.touchable)
    labelled = (each for each in covering if each.text)
    return next(reacting, None) or next(labelled, None)


def scrolled_at(elements: Sequence[Element], x: float, y: float) -> Element | None:
    """Return what a swipe that starts at a pixel scrolls: the topmost scrollable element."""
    return next((e for e in reversed(elements) if e.scrollable and e.covers(x, y)), None)


# As rows of plain values -------------------------------------------------------------------------


def element_rows(elements: Iterable[Element]) -> list[list[Any]]:
    """Return each element as a list of its field values, ready for JSON."""
    return [[list(value) if isinstance(value, tuple) else value for value in e] for e in elements]


def elements_of_rows(rows: Sequence[Sequence[Any]]) -> Elements:
    """Return the elements from the result of `element_rows`; raise TypeError or ValueError for
    anything else.
    """
    return tuple(map(_element, rows))


def _element(row: Sequence[Any]) -> Element:
    role, text, bounds, detail, value, window, *flags = row
    texts, rect = (role, text, detail, value, window), tuple(bounds)
    if any(type(each) is not str for each in texts):
        raise TypeError(f"{row!r:.200} is no element: a text of it is none")
    if len(rect) != 4 or any(type(each) is not int for each in rect):
        raise TypeError(f"{row!r:.200} is no element: its bounds are {bounds!r:.60}")
    clickable, holdable, scrollable, checked, *rest = flags
    plain = (clickable, holdable, scrollable, *rest)
    if len(rest) != 3 or any(type(each) is not bool for each in plain):
        raise TypeError(f"{row!r:.200} is no element: its flags are {flags!r:.60}")
    if checked is not None and type(checked) is not bool:
        raise TypeError(f"{row!r:.200} is no element: checked={checked!r:.60}")
    return Element(role, text, rect, detail, value, window, *flags)
