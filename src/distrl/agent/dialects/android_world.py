"""AndroidWorld's JSON actions, for its agents (M3A, T3A and theirs) and its server.

    {"action_type":"click","x":540,"y":1200}    {"action_type":"long_press","x":540,"y":1200}
    {"action_type":"scroll","direction":"down"} {"action_type":"input_text","text":"milk, eggs"}
    {"action_type":"open_app","app_name":"Clock"} {"action_type":"answer","text":"42"}
    {"action_type":"status","goal_status":"complete"}
    navigate_back, navigate_home, keyboard_enter, wait

Places are pixels of the picture. What it cannot say: where a swipe begins and ends and how long it
takes, only the direction that it scrolls in; how long to wait. An `index` into a list of elements
is unreadable here, since a policy sees pixels only, and so is `double_tap`.

Read as AndroidWorld performs it: scrolling goes from the middle of the screen to an edge, and its
`swipe` is a scroll the other way round for up and down, but the same way for left and right. Two
things differ. `input_text` types and does no more (AndroidWorld taps a field before and presses
Enter after), and `answer` ends the episode.
"""

from __future__ import annotations

import json

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.dialects.fields import Fields
from distrl.agent.dialects.plain_actions import key, outcome
from distrl.agent.dialects.scale import Scale
from distrl.agent.dialects.scrolling import direction_of
from distrl.agent.dialects.utterance import after_action_label, first_object, without_thoughts
from distrl.errors import InvalidAction
from distrl.records import (
    Action,
    Answer,
    Back,
    Done,
    Enter,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Unreadable,
    Wait,
)

_PLAIN: dict[str, Action] = {
    "navigate_back": Back(),
    "navigate_home": Home(),
    "keyboard_enter": Enter(),
}
_SCROLLS = {
    "down": Swipe(0.5, 0.5, 0.5, 0.0),
    "up": Swipe(0.5, 0.5, 0.5, 1.0),
    "right": Swipe(0.5, 0.5, 0.0, 0.5),
    "left": Swipe(0.5, 0.5, 1.0, 0.5),
}
_SWIPES = {
    "down": Swipe(0.5, 0.0, 0.5, 1.0, seconds=0.5),
    "up": Swipe(0.5, 1.0, 0.5, 0.0, seconds=0.5),
    "right": Swipe(1.0, 0.5, 0.0, 0.5, seconds=0.5),
    "left": Swipe(0.0, 0.5, 1.0, 0.5, seconds=0.5),
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


class AndroidWorld:
    """Implements `Dialect`."""

    name = "android_world"
    instructions = INSTRUCTIONS

    def write(self, action: Action, image: ImageSize) -> str:
        if isinstance(action, Unreadable):
            return action.text
        return json.dumps(_members(action, image), ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str, image: ImageSize) -> Action:
        try:
            said = after_action_label(without_thoughts(text, ("{",)))
            return _meaning(Fields(first_object(said, ("actiontype",))), image)
        except InvalidAction as error:
            return Unreadable(text, str(error))


def _members(action: Action, image: ImageSize) -> dict[str, str | int]:
    match action:
        case Tap(x, y) | LongPress(x, y):
            across, down = Scale.of_pixels(image).write(x, y)
            kind = "click" if isinstance(action, Tap) else "long_press"
            return {"action_type": kind, "x": across, "y": down}
        case Swipe():
            return {"action_type": "scroll", "direction": direction_of(action)}
        case TypeText(text):
            return {"action_type": "input_text", "text": text}
        case OpenApp(name):
            return {"action_type": "open_app", "app_name": name}
        case Answer(text):
            return {"action_type": "answer", "text": text}
        case Wait():
            return {"action_type": "wait"}
        case Done():
            return {"action_type": "status", "goal_status": "complete"}
        case Impossible():
            return {"action_type": "status", "goal_status": "infeasible"}
        case _:
            return {"action_type": next(word for word, plain in _PLAIN.items() if plain == action)}


def _meaning(fields: Fields, image: ImageSize) -> Action:
    kind = fields.text("action_type")
    match fields.word("action_type"):
        case "click" | "tap":
            return Tap(*_place(fields, image))
        case "longpress":
            return LongPress(*_place(fields, image))
        case "scroll" | "swipe" as stroke:
            return _stroke(fields, _SCROLLS if stroke == "scroll" else _SWIPES)
        case "inputtext" | "type" | "typetext":
            return TypeText(fields.text("text"))
        case "openapp":
            return OpenApp(fields.text("app_name", "text"))
        case "answer":
            return Answer(fields.text("text"))
        case "wait":
            return Wait()
        case "status":
            return outcome(fields.text("goal_status"))
        case "presskeyboard":
            return key(fields.text("keycode"))
        case word:
            plain = {name.replace("_", ""): action for name, action in _PLAIN.items()}
            if word not in plain:
                raise InvalidAction(f"there is no action_type {kind[:40]!r} here")
            return plain[word]


def _place(fields: Fields, image: ImageSize) -> tuple[float, float]:
    if not fields.has("x", "y", "coordinate") and fields.has("index"):
        raise InvalidAction(
            "it names an element by its index; only places in pixels are known here"
        )
    scale = Scale.of_pixels(image)
    if fields.has("coordinate"):
        return fields.point(scale, "coordinate")
    return scale.read([fields.get("x"), fields.get("y")], "x, y")


def _stroke(fields: Fields, strokes: dict[str, Swipe]) -> Swipe:
    direction = fields.word("direction")
    if direction not in strokes:
        raise InvalidAction(f"direction is {direction[:40]!r}, not one of {', '.join(strokes)}")
    if fields.has("index"):
        raise InvalidAction("it scrolls an element by its index; only the screen can be scrolled")
    return strokes[direction]
