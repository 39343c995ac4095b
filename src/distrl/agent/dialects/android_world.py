"""AndroidWorld's JSON actions, for its agents (M3A, T3A and others) and its server.

    {"action_type":"click","x":540,"y":1200}    {"action_type":"long_press","x":540,"y":1200}
    {"action_type":"scroll","direction":"down"} {"action_type":"input_text","text":"milk, eggs"}
    {"action_type":"open_app","app_name":"Clock"} {"action_type":"answer","text":"42"}
    {"action_type":"status","goal_status":"complete"}
    navigate_back, navigate_home, keyboard_enter, wait

Points are in pixels of the picture. The format cannot express where a swipe begins and ends or how
long it takes, only the direction that it scrolls in; nor how long to wait. An `index` into a list
of elements is unreadable here, since a policy sees pixels only. Of the rarer actions it has
`double_tap`; a drag and drop is written as the scroll in its direction, recents as navigate_home,
the shade as a scroll up, and pinch, volume, power and questions to the user as wait.

Actions are read as AndroidWorld performs them: scrolling goes from the middle of the screen to an
edge, and `swipe` is a scroll in the opposite direction for up and down, but in the same direction
for left and right. Two things differ: `input_text` only types (AndroidWorld taps a field before and
presses Enter after), and `answer` ends the episode.
"""

from __future__ import annotations

import json

from distrl import records as r
from distrl.agent.dialects.answer_span import after_action_label, first_object, without_thoughts
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
from distrl.agent.dialects.fields import Fields, direction_of, key, outcome
from distrl.errors import InvalidAction

_PLAIN: dict[str, r.Action] = {
    "navigate_back": r.Back(),
    "navigate_home": r.Home(),
    "keyboard_enter": r.Enter(),
}
_SCROLLS = {
    "down": r.Swipe(0.5, 0.5, 0.5, 0.0),
    "up": r.Swipe(0.5, 0.5, 0.5, 1.0),
    "right": r.Swipe(0.5, 0.5, 0.0, 0.5),
    "left": r.Swipe(0.5, 0.5, 1.0, 0.5),
}
_SWIPES = {
    "down": r.Swipe(0.5, 0.0, 0.5, 1.0, seconds=0.5),
    "up": r.Swipe(0.5, 1.0, 0.5, 0.0, seconds=0.5),
    "right": r.Swipe(1.0, 0.5, 0.0, 0.5, seconds=0.5),
    "left": r.Swipe(0.0, 0.5, 1.0, 0.5, seconds=0.5),
}

INSTRUCTIONS = """\
You operate an Android phone for a user. You are shown the screen; answer with your next action as
one JSON object, and nothing after it:
{"action_type": "click", "x": <pixels>, "y": <pixels>}
{"action_type": "long_press", "x": <pixels>, "y": <pixels>}
{"action_type": "scroll", "direction": "<up, down, left or right: where to look next>"}
{"action_type": "input_text", "text": "<text>"} types into the field that has the focus
{"action_type": "keyboard_enter"}
{"action_type": "navigate_back"}
{"action_type": "navigate_home"}
{"action_type": "open_app", "app_name": "<name>"}
{"action_type": "wait"} lets the screen settle
{"action_type": "answer", "text": "<text>"} answers the user's question and ends the task
{"action_type": "status", "goal_status": "complete"} once everything is done
{"action_type": "status", "goal_status": "infeasible"} if it cannot be done
x counts from the left edge of the picture, y from its top."""


def _write(action: r.Action, scale: Scale) -> str:
    return json.dumps(_members(action, scale), ensure_ascii=False, separators=(",", ":"))


def _members(action: r.Action, scale: Scale) -> dict[str, str | int]:
    match action:
        case r.Tap(x, y) | r.LongPress(x, y):
            across, down = scale.write(x, y)
            kind = "click" if isinstance(action, r.Tap) else "long_press"
            return {"action_type": kind, "x": across, "y": down}
        case r.DoubleTap(x, y):
            across, down = scale.write(x, y)
            return {"action_type": "double_tap", "x": across, "y": down}
        case r.Swipe():
            return {"action_type": "scroll", "direction": direction_of(action)}
        case r.TypeText(text):
            return {"action_type": "input_text", "text": text}
        case r.OpenApp(name):
            return {"action_type": "open_app", "app_name": name}
        case r.Answer(text):
            return {"action_type": "answer", "text": text}
        case r.Wait():
            return {"action_type": "wait"}
        case r.Done():
            return {"action_type": "status", "goal_status": "complete"}
        case r.Impossible():
            return {"action_type": "status", "goal_status": "infeasible"}
        case _:
            return {"action_type": word_for(_PLAIN, action)}


def _read(text: str, scale: Scale) -> r.Action:
    answer = after_action_label(without_thoughts(text, ("{",)))
    fields = Fields(first_object(answer, ("actiontype",)))
    kind = fields.text("action_type")
    match fields.word("action_type"):
        case "click" | "tap":
            return r.Tap(*_place(fields, scale))
        case "doubletap":
            return r.DoubleTap(*_place(fields, scale))
        case "longpress":
            return r.LongPress(*_place(fields, scale))
        case "scroll" | "swipe" as stroke:
            return _stroke(fields, _SCROLLS if stroke == "scroll" else _SWIPES)
        case "inputtext" | "type" | "typetext":
            return r.TypeText(fields.text("text"))
        case "openapp":
            return r.OpenApp(fields.text("app_name", "text"))
        case "answer":
            return r.Answer(fields.text("text"))
        case "wait":
            return r.Wait()
        case "status":
            return outcome(fields.text("goal_status"))
        case "presskeyboard":
            return key(fields.text("keycode"))
        case word:
            plain = {name.replace("_", ""): action for name, action in _PLAIN.items()}
            if word not in plain:
                raise InvalidAction(f"there is no action_type {kind[:40]!r} here")
            return plain[word]


def _place(fields: Fields, scale: Scale) -> tuple[float, float]:
    if not fields.has("x", "y", "coordinate") and fields.has("index"):
        raise InvalidAction(
            "it names an element by its index; only places in pixels are known here"
        )
    if fields.has("coordinate"):
        return fields.point(scale, "coordinate")
    return scale.read([fields.get("x"), fields.get("y")], "x, y")


def _stroke(fields: Fields, strokes: dict[str, r.Swipe]) -> r.Swipe:
    direction = fields.word("direction")
    if direction not in strokes:
        raise InvalidAction(f"direction is {direction[:40]!r}, not one of {', '.join(strokes)}")
    if fields.has("index"):
        raise InvalidAction("it scrolls an element by its index; only the screen can be scrolled")
    return strokes[direction]


ANDROID_WORLD = Dialect("android_world", INSTRUCTIONS, _write, _read, says=(r.DoubleTap,))
