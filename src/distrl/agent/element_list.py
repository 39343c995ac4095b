"""The elements of a screen as the numbered list that a model reads; maps numbers to places.

The list is bounded. If there are more than `MAX_LISTED` elements, touchable ones are preferred, and
the list says how many are left out. Elements keep their drawing order. A number maps to a point of
its element that no other touchable element covers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distrl.errors import InvalidAction
from distrl.hierarchy import Element, Elements, scrolled_at, touched_at

MAX_LISTED = 64  # a screen of our phone has 30, a long web page hundreds
LONGEST_LABEL = 60  # characters
INSET = 0.022  # of the screen's width: distance from a slider's ends to the ends of its scale
POINTS = (0.5, 0.25, 0.75, 0.1, 0.9)  # fractions of an element, in the order they are tried


@dataclass(frozen=True, slots=True)
class ElementList:
    """Elements numbered from 1. Places are fractions of the screen; `width`, `height`: pixels."""

    elements: Elements
    width: int
    height: int
    left_out: int = 0

    @classmethod
    def of(cls, elements: Elements, width: int, height: int) -> ElementList:
        """Build the list for a screen, with at most `MAX_LISTED` elements."""
        useful = sorted(range(len(elements)), key=lambda at: (not elements[at].touchable, at))
        shown = tuple(elements[at] for at in sorted(useful[:MAX_LISTED]))
        return cls(shown, width, height, len(elements) - len(shown))

    def lines(self) -> Iterator[str]:
        """Yield one line for each element, and one for those that are left out."""
        for number, element in enumerate(self.elements, start=1):
            yield f"{number} {described(element)}"
        if not self.elements:
            yield "(nothing that could be read)"
        if self.left_out:
            yield f"({self.left_out} more are not shown)"

    def element(self, number: int) -> Element:
        if not 1 <= number <= len(self.elements):
            raise InvalidAction(
                f"there is no element {number} on this screen, only 1 to {len(self.elements)}"
            )
        return self.elements[number - 1]

    # From numbers to places ---------------------------------------------------------------------

    def place(self, number: int) -> tuple[float, float]:
        """Return a point of the element that no touchable element covers; its middle if free."""
        element = self.element(number)
        above = [each for each in self.elements[number:] if each.touchable]
        left, top, right, bottom = element.bounds
        points = [
            (left + across * (right - left), top + down * (bottom - top))
            for across in POINTS
            for down in POINTS
        ]
        free = (point for point in points if not any(each.covers(*point) for each in above))
        return self._share(*next(free, points[0]))

    def place_at(self, number: int, share: float) -> tuple[float, float]:
        """Return the point at this fraction of a slider's scale."""
        begin, end, middle = self._slider(self.element(number))
        return self._share(begin + share * (end - begin), middle)

    def scrolled(self, number: int | None) -> Element | None:
        """Return the element of that number, or for None the largest scrollable element."""
        if number is not None:
            return self.element(number)
        scrolling = [each for each in self.elements if each.scrollable]
        return max(scrolling, key=_area, default=None)

    # From places to numbers ---------------------------------------------------------------------

    def number_at(self, x: float, y: float) -> int | None:
        """Return the number of the element that a tap at this point touches."""
        return self.number_of(touched_at(self.elements, x * self.width, y * self.height))

    def share_at(self, number: int, x: float) -> float:
        """Return the fraction of a slider's scale at x."""
        begin, end, _ = self._slider(self.element(number))
        return min(max((x * self.width - begin) / max(1.0, end - begin), 0.0), 1.0)

    def scrolled_at(self, x: float, y: float) -> Element | None:
        return scrolled_at(self.elements, x * self.width, y * self.height)

    def number_of(self, element: Element | None) -> int | None:
        """Return an element's number; of several equal elements the last, which is on top."""
        places = (at for at in range(len(self.elements), 0, -1) if self.elements[at - 1] == element)
        return next(places, None)

    @property
    def focused(self) -> int | None:
        return self.number_of(next((each for each in self.elements if each.focused), None))

    def _share(self, x: float, y: float) -> tuple[float, float]:
        return min(max(x / self.width, 0.0), 1.0), min(max(y / self.height, 0.0), 1.0)

    def _slider(self, element: Element) -> tuple[float, float, float]:
        left, top, right, bottom = element.bounds
        inset = min(INSET * self.width, (right - left) / 4)
        return left + inset, right - inset, (top + bottom) / 2


def described(element: Element) -> str:
    """Return role, label, detail, value and state, as in: switch "Wi-Fi" (Home network) on."""
    words = [element.role]
    if element.text:
        words.append(named(element.text))
    if element.detail and element.detail != element.text:
        words.append(f"({_short(element.detail)})")
    if element.value:
        words.append(f"= {named(element.value)}")
    return " ".join((*words, *_states(element)))


def named(label: str) -> str:
    return f'"{_short(label)}"'


def _states(element: Element) -> Iterator[str]:
    if element.checked is not None:
        yield "on" if element.checked else "off"
    if element.selected:
        yield "selected"
    if element.focused:
        yield "focused"
    if not element.enabled:
        yield "disabled"
    if element.scrollable and element.role != "scroll":
        yield "scrolls"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"


def _area(element: Element) -> int:
    left, top, right, bottom = element.bounds
    return (right - left) * (bottom - top)
