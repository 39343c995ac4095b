"""Typed access to the named fields of an action as a model wrote them.

Names match in any case and with any separators: app_name, appName and "App Name" are one name. A
missing field, or one of another type, raises `InvalidAction`. `key` and `outcome` read actions that
are one word, with no place and no text. `scroll` turns a direction into a finger stroke: the
direction is where to look, so to scroll down, to the content below, the finger moves up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from distrl.agent.dialects.dialect import Scale
from distrl.agent.dialects.loose_reader import Number, Value
from distrl.errors import InvalidAction
from distrl.records import (
    Action,
    Back,
    Done,
    Enter,
    Home,
    Impossible,
    OpenShade,
    Power,
    Recents,
    Swipe,
    VolumeDown,
    VolumeUp,
)

_SECONDS = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?)\s*(?:s|secs?|seconds?|秒)?")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(word: str) -> str:
    """Normalise a word: press_back, PressBack and "Press Back" all become pressback."""
    return re.sub(r"[\W_]+", "", word).casefold()


def whole(text: str) -> str:
    """Return the text; raise `InvalidAction` if it could not be stored or sent."""
    if _LONE_SURROGATE.search(text):
        raise InvalidAction("its text has half of a surrogate pair in it, which is no character")
    return text


class Fields:
    """The fields of one action. Where several names are given, the first that exists is used."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = {plain(name): value for name, value in values.items()}

    def has(self, *names: str) -> bool:
        return self._find(names) is not None

    def get(self, name: str) -> Value:
        return self._values.get(plain(name))

    def text(self, *names: str) -> str:
        """Return a text field; a number is returned with the digits it was written with."""
        value = self._find(names)
        if isinstance(value, Number):
            return value.digits
        if not isinstance(value, str):
            said = "missing" if value is None else f"no text: {value!r:.40}"
            raise InvalidAction(f"{names[0]} is {said}")
        return whole(value)

    def word(self, *names: str) -> str:
        """Return a text field as a `plain` word, or "" if there is none."""
        value = self._find(names)
        return plain(value) if isinstance(value, str) else ""

    def seconds(self, *names: str, default: float) -> float:
        """Return a duration such as 3, "3" or "3 seconds"."""
        value = self._find(names)
        if value is None:
            return default
        said = value.digits if isinstance(value, Number) else value
        found = _SECONDS.fullmatch(said.strip().lower()) if isinstance(said, str) else None
        if not found:
            raise InvalidAction(f"{names[0]} is no number of seconds: {said!r:.40}")
        return float(found.group(1))

    def point(self, scale: Scale, *names: str) -> tuple[float, float]:
        """Return a point in fractions of the screen; for a box, its middle."""
        value = self._find(names)
        if value is None:
            raise InvalidAction(f"{names[0]} is missing")
        return scale.read(value, names[0])

    def _find(self, names: tuple[str, ...]) -> Value:
        found = (self._values.get(plain(name)) for name in names)
        return next((value for value in found if value is not None), None)


LENGTH = 0.4  # length of a stroke, as a fraction of the screen
MARGIN = 0.1  # distance from the edge, where strokes would be system gestures

_FINGER = {"down": (0, -1), "up": (0, 1), "right": (-1, 0), "left": (1, 0)}

_KEYS: dict[str, Action] = {
    "back": Back(), "return": Back(),
    "home": Home(),
    "enter": Enter(),
    "volumeup": VolumeUp(), "volumedown": VolumeDown(),
    "power": Power(),
    "appswitch": Recents(), "recents": Recents(), "recentapps": Recents(),
    "notification": OpenShade(), "notifications": OpenShade(),
}  # fmt: skip
_OUTCOMES: dict[str, Action] = {
    "complete": Done(), "completed": Done(), "success": Done(), "successful": Done(),
    "done": Done(), "finished": Done(),
    "infeasible": Impossible(), "impossible": Impossible(), "failure": Impossible(),
    "failed": Impossible(), "fail": Impossible(), "incomplete": Impossible(),
}  # fmt: skip


def key(name: str) -> Action:
    """Return the action for a key or system button such as "Back", "enter" or KEYCODE_HOME."""
    action = _KEYS.get(plain(name).removeprefix("keycode"))
    if action is None:
        raise InvalidAction(
            f"there is no key {name[:40]!r}, only back, home, enter, volume_up, "
            "volume_down, power, app_switch and notification"
        )
    return action


def outcome(word: str) -> Action:
    """Return `Done` or `Impossible` for a status word with which a model ends its task."""
    action = _OUTCOMES.get(plain(word))
    if action is None:
        raise InvalidAction(f"{word[:40]!r} says neither that it is done nor that it cannot be")
    return action


def scroll(direction: str, x: float = 0.5, y: float = 0.5) -> Swipe:
    """Return the stroke that scrolls what is at this point, centred there as far as it fits."""
    if direction not in _FINGER:
        raise InvalidAction(f"direction is {direction[:40]!r}, not one of {', '.join(_FINGER)}")
    right, down = (LENGTH / 2 * way for way in _FINGER[direction])
    x, y = _inside(x, abs(right)), _inside(y, abs(down))
    return Swipe(x - right, y - down, x + right, y + down)


def direction_of(stroke: Swipe) -> str:
    """Return the direction that a stroke scrolls in, by the axis along which it is longer."""
    right, down = stroke.to_x - stroke.x, stroke.to_y - stroke.y
    if abs(right) > abs(down):
        return "left" if right > 0 else "right"
    return "up" if down > 0 else "down"


def _inside(middle: float, reach: float) -> float:
    """Clamp a stroke's middle so that the stroke keeps `MARGIN` from the edges along its axis."""
    least = reach + MARGIN if reach else 0.0
    return min(max(middle, least), 1.0 - least)
