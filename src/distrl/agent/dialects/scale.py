"""How a dialect counts places on the screen, and places as models write them.

A place may be [x, y], (x, y), "x,y", "<point>x y</point>", {"x": x, "y": y}, or a box of two
corners, which means its middle. One unit beyond the far edge is the edge (some count to 999
and some to 1000); anything further out is refused rather than moved. So are shares of the screen
where pixels are counted: as pixels they would be the top left corner, which is never meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.dialects.loose_reader import Number, Value
from distrl.errors import InvalidAction

_TAG = re.compile(r"<[^<>]*>")
_PUNCTUATION = re.compile(r"[\s,，、;()（）\[\]{}]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Scale:
    """`across` and `down` units for the screen; the last unit that is written is the edge
    itself (`to_edge`), or else the one before it, as for pixels.
    """

    across: int
    down: int
    to_edge: bool = False

    @classmethod
    def of_pixels(cls, image: ImageSize) -> Scale:
        return cls(max(1, image.width), max(1, image.height))

    def write(self, x: float, y: float) -> tuple[int, int]:
        short = 0 if self.to_edge else 1
        return (
            min(round(x * self.across), self.across - short),
            min(round(y * self.down), self.down - short),
        )

    def read(self, value: Value, name: str) -> tuple[float, float]:
        """The point that a value gives; `name` says in a refusal what the value was for."""
        numbers = numbers_in(value)
        if len(numbers) not in (2, 4):
            raise InvalidAction(f"{name} is no place such as [x, y]: {value!r:.60}")
        if all(0.0 <= number <= 1.0 for number in numbers) and any(n % 1.0 for n in numbers):
            raise InvalidAction(
                f"{name} gives shares of the screen, {numbers}; here a screen counts "
                f"{self.across} by {self.down}"
            )
        xs = [_share(number, self.across, f"x of {name}") for number in numbers[::2]]
        ys = [_share(number, self.down, f"y of {name}") for number in numbers[1::2]]
        return sum(xs) / len(xs), sum(ys) / len(ys)


def _share(number: float, units: int, what: str) -> float:
    if not 0.0 <= number <= units + 1:
        raise InvalidAction(f"{what} is {number:g}, off a screen that counts 0 to {units}")
    return min(number / units, 1.0)


def numbers_in(value: Value) -> list[float]:
    """The numbers of a place; none at all, if anything else is among them."""
    match value:
        case Number():
            return [value.value]
        case list():
            parts = [numbers_in(item) for item in value]
            return [number for part in parts for number in part] if all(parts) else []
        case dict():
            return numbers_in([value.get("x"), value.get("y")])
        case str():
            words = _PUNCTUATION.sub(" ", _TAG.sub(" ", value)).split()
            read = [float(word) for word in words if _NUMBER.fullmatch(word)]
            return read if len(read) == len(words) else []
        case _:
            return []
