"""The action format of Android in the Wild as Auto-UI writes it, also used by DigiRL and DistRL.

    Action Plan: [DUAL_POINT] ; Action Decision: "action_type": "DUAL_POINT", "touch_point":
    "[0.2463, 0.1245]", "lift_point": "[0.2463, 0.1245]", "typed_text": ""

on one line. Points are fractions of the screen with four digits and have **y first**. A DUAL_POINT
whose ends are at most 0.04 apart is a tap, any other is a swipe. The other types are TYPE,
PRESS_BACK, PRESS_HOME, PRESS_ENTER, STATUS_TASK_COMPLETE and STATUS_TASK_IMPOSSIBLE (DigiRL's
TASK_IMPOSSIBLE is read too); their points are [-1.0, -1.0]. `decision` is the same without the
plan, the form in which Auto-UI's prompts list past actions. Typed text is escaped as in JSON, so
that commas and quotes survive; text without any looks as Auto-UI prints it.

What the format cannot express, and what is written instead:
- a long press: a tap at the same place;
- a swipe of 0.04 or less: a tap where it begins; the duration of a swipe is dropped;
- opening an app: PRESS_HOME, from where it can be tapped;
- waiting: IDLE (DigiRL's fallback for unknown types); the duration is dropped;
- a double tap: a tap; a drag and drop: a swipe; the shade: a swipe from the top; recents:
  PRESS_HOME; pinch, volume, power and questions to the user: IDLE;
- an answer: STATUS_TASK_COMPLETE with the answer as its typed text (so no empty answer).
"""

from __future__ import annotations

import json
import math
import re

from distrl import records as r
from distrl.agent.dialects.answer_span import without_thoughts
from distrl.agent.dialects.dialect import Dialect, Scale, numbers_in, word_for
from distrl.agent.dialects.fields import Fields
from distrl.agent.dialects.loose_reader import LooseReader
from distrl.errors import InvalidAction

MAX_TAP = 0.04  # the swipe distance threshold of Android in the Wild

Point = tuple[float, float]  # x first, as everywhere but in the text

_NOWHERE = "[-1.0, -1.0]"
_PLAIN: dict[str, r.Action] = {
    "PRESS_BACK": r.Back(),
    "PRESS_HOME": r.Home(),
    "PRESS_ENTER": r.Enter(),
    "IDLE": r.Wait(),
    "STATUS_TASK_COMPLETE": r.Done(),
    "STATUS_TASK_IMPOSSIBLE": r.Impossible(),
    "TASK_IMPOSSIBLE": r.Impossible(),
}
_TYPES = ("DUAL_POINT", "TYPE", *_PLAIN)
_DECISION = re.compile(r"Action Decision\s?[:：]", re.IGNORECASE)
_FIRST_FIELD = re.compile(r"[\"'“]?action_type", re.IGNORECASE)

INSTRUCTIONS = """\
You operate a phone for a user. Answer with a plan, the types of the actions still to come, and with
your decision, the next action, on one line:
Action Plan: [<types>] ; Action Decision: "action_type": "<type>", "touch_point": "[<y>, <x>]", \
"lift_point": "[<y>, <x>]", "typed_text": "<text>"
Points are shares of the screen from the top left corner, y first. The types are DUAL_POINT (a
finger goes from touch_point to lift_point; a tap if they are the same), TYPE (types typed_text into
the field that has the focus), PRESS_BACK, PRESS_HOME, PRESS_ENTER, IDLE (wait a moment),
STATUS_TASK_COMPLETE (typed_text is the answer if the task was a question) and
STATUS_TASK_IMPOSSIBLE. Points of all but DUAL_POINT are [-1.0, -1.0]."""


def _write(action: r.Action, _: Scale) -> str:
    return f"Action Plan: [{_type(action)}] ; Action Decision: {decision(action)}"


def decision(action: r.Action) -> str:
    """Write the action without a plan, as Auto-UI's prompts list past actions."""
    touch, lift, text = _NOWHERE, _NOWHERE, ""
    match action:
        case r.Tap(x, y) | r.LongPress(x, y):
            touch = lift = _written(x, y)
        case r.Swipe(x, y, to_x, to_y):
            touch, lift = _written(x, y), _written(to_x, to_y)
            if _is_tap(_rounded(x, y), _rounded(to_x, to_y)):
                lift = touch
        case r.TypeText(text) | r.Answer(text):
            pass
    return (
        f'"action_type": "{_type(action)}", "touch_point": "{touch}", "lift_point": "{lift}", '
        f'"typed_text": {json.dumps(text, ensure_ascii=False)}'
    )


def _type(action: r.Action) -> str:
    match action:
        case r.Tap() | r.LongPress() | r.Swipe():
            return "DUAL_POINT"
        case r.TypeText():
            return "TYPE"
        case r.Answer():
            return "STATUS_TASK_COMPLETE"
        case r.OpenApp():
            return "PRESS_HOME"
        case r.Wait():
            return "IDLE"
        case _:
            return word_for(_PLAIN, action)


def _rounded(x: float, y: float) -> Point:
    return round(x, 4), round(y, 4)


def _written(x: float, y: float) -> str:
    """Format a point as Python prints a list of floats, which is what Auto-UI was trained on."""
    down, across = (f"{share:.4f}".rstrip("0") for share in (y, x))
    return "[" + ", ".join(f"{n}0" if n.endswith(".") else n for n in (down, across)) + "]"


def _is_tap(touch: Point, lift: Point) -> bool:
    return math.dist(touch, lift) <= MAX_TAP


def _read(text: str, _: Scale) -> r.Action:
    answer = without_thoughts(text, ("Action Plan", "Action Decision", '"action_type"'))
    start = _DECISION.search(answer)
    first = _FIRST_FIELD.search(answer, start.end() if start else 0)
    if not first:
        raise InvalidAction('there is no "action_type" in it')
    fields = Fields(LooseReader(answer, first.start()).members())
    kind = fields.text("action_type")
    match kind.strip().upper():
        case "DUAL_POINT":
            touch, lift = _point(fields, "touch_point"), _point(fields, "lift_point")
            return r.Tap(*touch) if _is_tap(touch, lift) else r.Swipe(*touch, *lift)
        case "TYPE":
            return r.TypeText(fields.text("typed_text"))
        case "STATUS_TASK_COMPLETE" if fields.has("typed_text") and fields.text("typed_text"):
            return r.Answer(fields.text("typed_text"))
        case word if word in _PLAIN:
            return _PLAIN[word]
        case _:
            raise InvalidAction(f"there is no type {kind[:40]!r}, only {', '.join(_TYPES)}")


def _point(fields: Fields, name: str) -> Point:
    numbers = numbers_in(fields.get(name))
    if len(numbers) != 2:
        raise InvalidAction(f"{name} is no point such as [y, x]: {fields.get(name)!r:.60}")
    if not all(0.0 <= number <= 1.0 for number in numbers):
        raise InvalidAction(f"{name} is {numbers}, off the screen; points are shares of it")
    return numbers[1], numbers[0]


AITW = Dialect("aitw", INSTRUCTIONS, _write, _read)  # coordinates are fractions; ignores the scale
