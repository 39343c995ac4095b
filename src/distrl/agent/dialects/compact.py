"""Our own dialect: one word says what to do, one word says where. The starter model speaks it.

    <tap><17,40>            <hold><17,40>           <swipe><18,54><18,18><8>
    <type>any text          <open>Name of an app    <answer>any text
    <back> <home> <enter> <wait> <wait>5 <done> <impossible>

A place is a cell of a grid of 36 columns and 72 rows over the screen (10 × 10 pixels of the
simulated phone), and means the cell's middle. A swipe may end with its duration in tenths of a
second, as a place-like word; without one it takes 0.3 s. Text runs to the end, exactly as it is.
"""

from __future__ import annotations

import re

from distrl import records as r
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.dialects.fields import whole
from distrl.errors import InvalidAction

COLUMNS = 36
ROWS = 72
MAX_TENTHS = 100  # ten seconds, the longest a finger may move

KINDS = (
    "tap", "hold", "swipe", "type", "open", "answer",
    "back", "home", "enter", "wait", "done", "impossible",
)  # fmt: skip

_ANSWER = re.compile(r"\s*<(" + "|".join(KINDS) + r")>(.*)", re.DOTALL)
_PLACE = r"<(\d{1,2}),(\d{1,2})>"
_ONE_PLACE = re.compile(_PLACE)
_TWO_PLACES = re.compile(_PLACE + _PLACE + r"(?:<(\d{1,3})>)?")
_PLAIN: dict[str, r.Action] = {
    "back": r.Back(),
    "home": r.Home(),
    "enter": r.Enter(),
    "done": r.Done(),
    "impossible": r.Impossible(),
}


class Compact:
    """Implements `Dialect`; the size of the picture does not matter to it."""

    name = "compact"
    instructions = ""  # the starter model was trained on it

    def write(self, action: r.Action, image: ImageSize) -> str:
        match action:
            case r.Tap(x, y):
                return f"<tap>{place(x, y)}"
            case r.LongPress(x, y):
                return f"<hold>{place(x, y)}"
            case r.Swipe(x, y, to_x, to_y, seconds):
                tenths = max(1, round(10 * seconds))
                duration = "" if tenths == 3 else f"<{tenths}>"
                return f"<swipe>{place(x, y)}{place(to_x, to_y)}{duration}"
            case r.TypeText(text):
                return f"<type>{text}"
            case r.OpenApp(name):
                return f"<open>{name}"
            case r.Answer(text):
                return f"<answer>{text}"
            case r.Wait(seconds):
                return f"<wait>{seconds:g}" if f"{seconds:g}" != "2" else "<wait>"
            case r.Unreadable(text, _):
                return text
            case _:
                return next(f"<{word}>" for word, plain in _PLAIN.items() if plain == action)

    def read(self, text: str, image: ImageSize) -> r.Action:
        match = _ANSWER.fullmatch(text)
        if not match:
            return r.Unreadable(text, f"does not begin with one of {', '.join(KINDS)} in <>")
        kind, rest = match.groups()
        if kind in ("type", "open", "answer"):
            return _spoken(text, kind, rest)
        return self._read_rest(text, kind, rest.strip())

    def _read_rest(self, text: str, kind: str, rest: str) -> r.Action:
        match kind:
            case "tap" | "hold":
                found = _ONE_PLACE.fullmatch(rest)
                point = _middle(found.group(1), found.group(2)) if found else None
                if not point:
                    return r.Unreadable(text, f"{kind} needs one place, such as <17,40>")
                return r.Tap(*point) if kind == "tap" else r.LongPress(*point)
            case "swipe":
                return _swipe(text, rest)
            case "wait":
                return _wait(text, rest)
            case _ if rest:
                return r.Unreadable(text, f"{kind} stands alone, but {rest[:40]!r} follows")
            case _:
                return _PLAIN[kind]


def place(x: float, y: float) -> str:
    """The cell that a point lies in."""
    column, row = min(int(x * COLUMNS), COLUMNS - 1), min(int(y * ROWS), ROWS - 1)
    return f"<{column},{row}>"


def _middle(column: str, row: str) -> tuple[float, float] | None:
    if int(column) >= COLUMNS or int(row) >= ROWS:
        return None
    return (int(column) + 0.5) / COLUMNS, (int(row) + 0.5) / ROWS


def _spoken(text: str, kind: str, said: str) -> r.Action:
    try:
        said = whole(said)
    except InvalidAction as error:
        return r.Unreadable(text, str(error))
    match kind:
        case "type":
            return r.TypeText(said)
        case "open":
            return r.OpenApp(said)
        case _:
            return r.Answer(said)


def _swipe(text: str, rest: str) -> r.Action:
    found = _TWO_PLACES.fullmatch(rest)
    start = _middle(found.group(1), found.group(2)) if found else None
    end = _middle(found.group(3), found.group(4)) if found else None
    tenths = int(found.group(5) or 3) if found else 0
    if not start or not end or not 1 <= tenths <= MAX_TENTHS:
        return r.Unreadable(text, "swipe needs two places, such as <18,54><18,18>")
    return r.Swipe(*start, *end, seconds=tenths / 10)


def _wait(text: str, rest: str) -> r.Action:
    if not rest:
        return r.Wait()
    try:
        seconds = float(rest)
    except ValueError:
        return r.Unreadable(text, f"wait needs a number of seconds, not {rest[:40]!r}")
    if not 0.0 <= seconds <= 600.0:
        return r.Unreadable(text, f"wait is for 0 to 600 seconds, not {seconds:g}")
    return r.Wait(seconds)
