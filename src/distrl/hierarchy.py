"""The view hierarchy of a screen: what is on it, where, and in which state.

The same record serves the simulated phone, uiautomator's dump of a real one and a browser's
accessibility tree. Bounds are pixels. Elements come in drawing order, so the last one that covers a
point is on top there.

`readable` makes of a hierarchy what a language model can read: few elements, each with a label or
something to do with it. `words_touched` has every word that a tap may be about. `element_rows` and
`elements_of_rows` carry elements over disks and wires.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

Rect = tuple[int, int, int, int]  # left, top, right, bottom

MAX_READ = 2000  # elements of a hierarchy that are looked at; the others are left out
MAX_READABLE = 400  # elements that are kept of it
TALLEST_ROW = 1 / 3  # of the screen's height
LONGEST_TEXT = 200  # characters of a label, a detail or a value that are kept


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

    @property
    def touchable(self) -> bool:
        """Does a finger do something to it, other than scroll?"""
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
    """The elements that a language model is told about, in drawing order.

    Keys of a keyboard become one element, bars of the system none. A row without a label of its own
    takes those of what stands on it, and the state of its switch: on Android a row is touched, and
    its parts are read. What has neither a label nor a use is left out; texts that never end are
    cut, and so are lists.
    """
    seen = [_cut(each) for each in islice(elements, MAX_READ)]
    keys = [each for each in seen if each.window == "keyboard"]
    rest = [each for each in seen if each.window not in ("keyboard", "system")]
    kept = [each for each in labelled_rows(rest) if _says_something(each)]
    keyboard = [Element("keyboard", "", _around(keys), window="keyboard")] if keys else []
    return (*kept[: MAX_READABLE - 1], *keyboard)


def labelled_rows(elements: Sequence[Element]) -> list[Element]:
    """Elements, those without a label with what stands on them, which then is no longer apart."""
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
    """Every label and detail that a tap at a pixel may act on.

    That is what covers the pixel, and all that stands on the row that is touched. A button without
    words of its own means what the row around it says; a field does not, and what is taller than a
    row (a page, a list) speaks for nothing that stands on it.
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
    """Every label and detail of what covers a pixel."""
    return [word for each in elements if each.covers(x, y) for word in _words(each)]


def _words(element: Element) -> list[str]:
    return [word for word in (element.text, element.detail) if word]


def _parts(elements: Sequence[Element]) -> dict[int, list[int]]:
    """Places of what a finger touches for itself, each with those of what is touched with it.

    On Android a row is clickable and the text on it is not. A text on a button on the row belongs
    to the button.
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
    """What a finger at a pixel meets: the topmost that reacts, or else the topmost with a label."""
    covering = [each for each in reversed(elements) if each.covers(x, y)]
    reacting = (each for each in covering if each.touchable)
    labelled = (each for each in covering if each.text)
    return next(reacting, None) or next(labelled, None)


def scrolled_at(elements: Sequence[Element], x: float, y: float) -> Element | None:
    """What a finger that moves from a pixel scrolls: the topmost that can be."""
    return next((e for e in reversed(elements) if e.scrollable and e.covers(x, y)), None)


# As rows of plain values -------------------------------------------------------------------------


def element_rows(elements: Iterable[Element]) -> list[list[Any]]:
    """Each element as a list of its values in order, as JSON can have them."""
    return [[list(value) if isinstance(value, tuple) else value for value in e] for e in elements]


def elements_of_rows(rows: Sequence[Sequence[Any]]) -> Elements:
    """The elements of `element_rows`; raises a TypeError or ValueError at anything else."""
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
