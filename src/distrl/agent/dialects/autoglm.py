"""AutoGLM's action format for phones: one call to `do` or `finish` in an answer tag.

    <think>The field is at the top.</think><answer>do(action="Tap", element=[500,120])</answer>

and likewise Long Press (element), Swipe (start, end), Type (text), Launch (app), Back, Home, Wait
(duration="2 seconds") and Enter; finish(message="...") ends the task. Coordinates run to 1000 in
both directions, and 999 is the largest that is written. Actions are written without a thought,
since an `Action` records none.

The format cannot express the duration of a swipe or an empty answer: `finish` with a message is an
answer, without one it means done. Impossible is written as Take_over, by which AutoGLM hands a task
back to its user. Enter is not among the actions of the released models; programs built on them
added it. Text is escaped as in Python; quotes that a model forgot to escape are tolerated.

Double Tap is a double tap, and Interact asks the user: its message is the question, and past
actions also carry the reply. Other rare actions are written as the nearest available: a drag and
drop as a Swipe, the shade as a Swipe from the top, recents as Home, pinch, volume and power as
Wait. Note and Call_API are unreadable here: our devices have no such actions.
"""

from __future__ import annotations

import json
import re

from distrl import records as r
from distrl.agent.dialects.answer_span import first_call, without_thoughts
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
from distrl.agent.dialects.fields import Fields
from distrl.errors import InvalidAction

OPENING, CLOSING = "<answer>", "</answer>"

_PLAIN: dict[str, r.Action] = {"Back": r.Back(), "Home": r.Home(), "Enter": r.Enter()}
_KNOWN = (
    "Tap, Double Tap, Long Press, Swipe, Type, Launch, Back, Home, Enter, Wait, Interact and "
    "Take_over"
)
# Prose has brackets too: "what to do (if anything)" is not a call.
_CALL = re.compile(
    r"\b(do\s?[(（](?=\s*[\"'“]?action\b)|finish\s?[(（](?=\s*(?:message\b|[)）\"'“]|\Z)))",
    re.IGNORECASE,
)

INSTRUCTIONS = """\
You operate a phone for a user. Think about the screen that you are shown, then answer with exactly
one action, in this form:
<think>{why}</think>
<answer>{action}</answer>

The actions:
- do(action="Launch", app="...") opens an app by its name.
- do(action="Tap", element=[x,y])
- do(action="Long Press", element=[x,y])
- do(action="Swipe", start=[x1,y1], end=[x2,y2])
- do(action="Type", text="...") types into the field that has the focus. Escape \\" and \\n.
- do(action="Enter") presses the keyboard's Enter.
- do(action="Back") and do(action="Home")
- do(action="Wait", duration="2 seconds")
- do(action="Take_over", message="...") if the task cannot be done.
- finish(message="...") once it is done; message is the answer if the task was a question.
Places run from (0,0) at the top left to (999,999) at the bottom right."""


def _write(action: r.Action, scale: Scale) -> str:
    return f"{OPENING}{_call(action, scale)}{CLOSING}"


def _call(action: r.Action, scale: Scale) -> str:
    match action:
        case r.Tap(x, y):
            return f'do(action="Tap", element={_place(scale, x, y)})'
        case r.LongPress(x, y):
            return f'do(action="Long Press", element={_place(scale, x, y)})'
        case r.Swipe(x, y, to_x, to_y):
            return (
                f'do(action="Swipe", start={_place(scale, x, y)}, end={_place(scale, to_x, to_y)})'
            )
        case r.DoubleTap(x, y):
            return f'do(action="Double Tap", element={_place(scale, x, y)})'
        case r.AskUser(question, reply):
            replied = f", reply={_quoted(reply)}" if reply else ""
            return f'do(action="Interact", message={_quoted(question)}{replied})'
        case r.TypeText(text):
            return f'do(action="Type", text={_quoted(text)})'
        case r.OpenApp(name):
            return f'do(action="Launch", app={_quoted(name)})'
        case r.Wait(seconds):
            return f'do(action="Wait", duration="{seconds:g} seconds")'
        case r.Answer(text):
            return f"finish(message={_quoted(text)})"
        case r.Done():
            return 'finish(message="")'
        case r.Impossible():
            return 'do(action="Take_over", message="")'
        case _:
            return f'do(action="{word_for(_PLAIN, action)}")'


def _place(scale: Scale, x: float, y: float) -> str:
    across, down = scale.write(x, y)
    return f"[{across},{down}]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _read(text: str, scale: Scale) -> r.Action:
    answer = without_thoughts(text, (OPENING, "do(", "finish("))
    before, tag, after = answer.partition(OPENING)
    name, arguments = first_call(after if tag else before, _CALL)
    fields = Fields(arguments)
    if name[:1] in "fF":
        message = fields.text("message", "0") if fields.has("message", "0") else ""
        return r.Answer(message) if message else r.Done()
    kind = fields.text("action")
    match fields.word("action"):
        case "tap":
            return r.Tap(*fields.point(scale, "element"))
        case "doubletap":
            return r.DoubleTap(*fields.point(scale, "element"))
        case "interact":
            return r.AskUser(fields.text("message") if fields.has("message") else "")
        case "longpress":
            return r.LongPress(*fields.point(scale, "element"))
        case "swipe":
            return r.Swipe(*fields.point(scale, "start"), *fields.point(scale, "end"))
        case "type" | "typename":
            return r.TypeText(fields.text("text"))
        case "launch":
            return r.OpenApp(fields.text("app"))
        case "wait":
            return r.Wait(fields.seconds("duration", default=r.Wait().seconds))
        case "takeover":
            return r.Impossible()
        case word if word.capitalize() in _PLAIN:
            return _PLAIN[word.capitalize()]
        case _:
            raise InvalidAction(f"there is no action {kind[:40]!r} here, only {_KNOWN}")


AUTOGLM = Dialect(
    "autoglm", INSTRUCTIONS, _write, _read, Scale(1000, 1000), says=(r.DoubleTap, r.AskUser)
)
