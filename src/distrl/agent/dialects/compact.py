"""Our own dialect, used by the starter model: one word for the action, one word for the place.

    <tap><17,40>            <hold><17,40>           <swipe><18,54><18,18><8>
    <type>any text          <open>Name of an app    <answer>any text
    <back> <home> <enter> <wait> <wait>5 <done> <impossible>

A place is a cell of a grid of 36 columns and 72 rows over the screen (10 × 10 pixels of the
simulated phone), and means the cell's middle. A swipe may end with its duration in tenths of a
second, in angle brackets; without one it takes 0.3 s. Text runs to the end, exactly as it is.

The words are tokens of the starter's fixed vocabulary, so none can be added for rarer actions: a
double tap is written as a tap, a drag and drop as a slow swipe, the shade as a swipe from the top,
recents as home, and pinch, volume, power and questions to the user as a wait.
"""

from __future__ import annotations

import re

from distrl import records as r
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
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


def _write(action: r.Action, _: Scale) -> str:
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
        case _:
            return f"<{word_for(_PLAIN, action)}>"


def _read(text: str, _: Scale) -> r.Action:
    found = _ANSWER.fullmatch(text)
    if not found:
        raise InvalidAction(f"does not begin with one of {', '.join(KINDS)} in <>")
    kind, said = found.groups()
    rest = said.strip()
    match kind:
        case "type":
            return r.TypeText(whole(said))
        case "open":
            return r.OpenApp(whole(said))
        case "answer":
            return r.Answer(whole(said))
        case "tap" | "hold":
            point = _ONE_PLACE.fullmatch(rest)
            middle = _middle(point.group(1), point.group(2)) if point else None
            if not middle:
                raise InvalidAction(f"{kind} needs one place, such as <17,40>")
            return r.Tap(*middle) if kind == "tap" else r.LongPress(*middle)
        case "swipe":
            return _swipe(rest)
        case "wait":
            return _wait(rest)
        case _ if rest:
            raise InvalidAction(f"{kind} stands alone, but {rest[:40]!r} follows")
        case _:
            return _PLAIN[kind]


def place(x: float, y: float) -> str:
    """Return the token of the cell that contains a point."""
    column, row = min(int(x * COLUMNS), COLUMNS - 1), min(int(y * ROWS), ROWS - 1)
    return f"<{column},{row}>"


def _middle(column: str, row: str) -> tuple[float, float] | None:
    if int(column) >= COLUMNS or int(row) >= ROWS:
        return None
    return (int(column) + 0.5) / COLUMNS, (int(row) + 0.5) / ROWS


def _swipe(rest: str) -> r.Action:
    found = _TWO_PLACES.fullmatch(rest)
    start = _middle(found.group(1), found.group(2)) if found else None
    end = _middle(found.group(3), found.group(4)) if found else None
    tenths = int(found.group(5) or 3) if found else 0
    if not start or not end or not 1 <= tenths <= MAX_TENTHS:
        raise InvalidAction("swipe needs two places, such as <18,54><18,18>")
    return r.Swipe(*start, *end, seconds=tenths / 10)


def _wait(rest: str) -> r.Action:
    if not rest:
        return r.Wait()
    try:
        seconds = float(rest)
    except ValueError:
        raise InvalidAction(f"wait needs a number of seconds, not {rest[:40]!r}") from None
    if not 0.0 <= seconds <= 600.0:
        raise InvalidAction(f"wait is for 0 to 600 seconds, not {seconds:g}")
    return r.Wait(seconds)


COMPACT = Dialect("compact", "", _write, _read)  # the starter model was trained on it
