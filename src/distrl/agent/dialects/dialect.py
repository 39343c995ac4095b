"""A dialect: the text format for actions that some family of models was trained on.

`read` never raises: any text yields an action, or an `Unreadable` that gives the reason. `write`
followed by `read` returns the same action, up to the rounding of the dialect's coordinates. What a
dialect cannot express is written as the nearest action that it can; its module lists these. Of the
rarer actions (double tap, drag and drop, pinch, recents, shade, volume, power, a question to the
user), `says` lists those that a dialect can write; `nearest` replaces the others.

Readers tolerate errors of form but not of meaning. Wrong quotes, code fences, thoughts around the
action and a missing bracket at the end are accepted. A place off the screen, a truncated number and
an unknown gesture are unreadable; nothing is guessed. Of several actions in one answer the first
counts: the model chose the others without seeing the screens they would act on. Text with half of a
surrogate pair is invalid and not typed. An answer of over 50,000 characters is not searched for its
action.

A place may be [x, y], (x, y), "x,y", "<point>x y</point>", {"x": x, "y": y}, or a box of two
corners, which means its middle. One unit beyond the far edge counts as the edge (some models count
to 999 and some to 1000); anything further out is an error. So are fractions of the screen where
pixels are expected: as pixels they would all be the top left corner, which is never meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from distrl.agent.dialects.loose_reader import Number, Value
from distrl.agent.element_list import ElementList
from distrl.errors import InvalidAction
from distrl.hierarchy import Element
from distrl.records import (
    Action,
    AskUser,
    DoubleTap,
    DragAndDrop,
    Home,
    OpenShade,
    Pinch,
    Power,
    Recents,
    Swipe,
    Tap,
    Unreadable,
    VolumeDown,
    VolumeUp,
    Wait,
)

_TAG = re.compile(r"<[^<>]*>")
_PUNCTUATION = re.compile(r"[\s,，、;()（）\[\]{}]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


class ImageSize(NamedTuple):
    """The size in pixels of the picture as the model saw it; some dialects count in these."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Scale:
    """The units of coordinates: the screen is `across` by `down` units. The largest coordinate that
    is written is the edge itself (`to_edge`), or else one less, as for pixels. `listed` are the
    elements in the prompt, for dialects in which an element's number stands for a place.
    """

    across: int
    down: int
    to_edge: bool = False
    listed: ElementList | None = None

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
        """Convert a value to a point in fractions of the screen; errors mention `name`."""
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


@dataclass(frozen=True, slots=True)
class Dialect:
    """A text format for actions. Its `reader` may raise `InvalidAction` with the reason.

    `numbers`: answers name elements by their numbers in the prompt; other dialects use coordinates,
    so their prompts give each element's place. `past_writer` writes a past action and the element
    it touched, where prompts show past actions in another form than answers.
    """

    name: str
    instructions: str  # the system text for models that were not trained on it; may be empty
    writer: Callable[[Action, Scale], str]
    reader: Callable[[str, Scale], Action]
    scale: Scale | None = None  # None: pixels of the picture
    numbers: bool = False
    past_writer: Callable[[Action, Scale, Element | None], str] | None = None
    says: tuple[type[Action], ...] = ()  # the actions of `RARE` that it can write

    def write(self, action: Action, image: ImageSize, listed: ElementList | None = None) -> str:
        if isinstance(action, Unreadable):
            return action.text
        return self.writer(self.sayable(action), self.scale_for(image, listed))

    def sayable(self, action: Action) -> Action:
        """Return the action itself, or the nearest one that the dialect can write."""
        return action if isinstance(action, self.says) else nearest(action)

    def write_past(self, action: Action, image: ImageSize, touched: Element | None) -> str:
        """Write a past action, for a prompt."""
        if self.past_writer is None:
            return self.write(action, image)
        return self.past_writer(self.sayable(action), self.scale_for(image), touched)

    def read(self, text: str, image: ImageSize, listed: ElementList | None = None) -> Action:
        try:
            return self.reader(text, self.scale_for(image, listed))
        except InvalidAction as error:
            return Unreadable(text, str(error))

    def scale_for(self, image: ImageSize, listed: ElementList | None = None) -> Scale:
        scale = self.scale or Scale.of_pixels(image)
        return scale if listed is None else replace(scale, listed=listed)


RARE = (
    DoubleTap, DragAndDrop, Pinch, Recents, OpenShade, VolumeUp, VolumeDown, Power, AskUser,
)  # fmt: skip


def nearest(action: Action) -> Action:
    """Return the nearest common action to a rare one; return a common one as it is."""
    match action:
        case DoubleTap(x, y):
            return Tap(x, y)
        case DragAndDrop(x, y, to_x, to_y):
            return Swipe(x, y, to_x, to_y, seconds=1.0)
        case OpenShade():
            return Swipe(0.5, 0.0, 0.5, 0.6)
        case Recents():
            return Home()
        case Pinch() | VolumeUp() | VolumeDown() | Power() | AskUser():
            return Wait()
        case _:
            return action


def word_for(words: dict[str, Action], action: Action) -> str:
    """Return the first word that stands for this action."""
    return next(word for word, meant in words.items() if meant == action)


def _share(number: float, units: int, what: str) -> float:
    if not 0.0 <= number <= units + 1:
        raise InvalidAction(f"{what} is {number:g}, off a screen that counts 0 to {units}")
    return min(number / units, 1.0)


def numbers_in(value: Value) -> list[float]:
    """Return the numbers of a place, or an empty list if it contains anything else."""
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
