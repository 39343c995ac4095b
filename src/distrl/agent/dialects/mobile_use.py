"""The `mobile_use` tool call of the Qwen-VL models, and of many models trained from them.

    <tool_call>
    {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [540, 1200]}}
    </tool_call>

Arguments of the other actions: long_press (coordinate, time), swipe (coordinate, coordinate2),
type (text), open (text), answer (text), system_button (button: Back, Home, Enter), wait (time) and
terminate (status: success, failure). Qwen2.5-VL counts pixels of the picture as it was resized for
the model, Qwen3-VL counts 0 to 999 in both directions.

The format cannot express the duration of a swipe. `answer` is not among Qwen2.5-VL's own actions,
but our tool description includes it. The reader also accepts `swipe` with a direction (that of the
finger) in place of its end; `drag`; and `key` for back, home and enter. Of the rarer actions it has
`key` for volume_up, volume_down, power, app_switch (recents) and notification (the shade), and
`ask_user` (or `interact`), whose `text` is the question; past actions also carry the reply. A
double tap is written as a click, a drag and drop as a swipe, a pinch as a wait. The Menu button and
other keys are unreadable.
"""

from __future__ import annotations

import json

from distrl import records as r
from distrl.agent.dialects.answer_span import after_action_label, first_object, without_thoughts
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
from distrl.agent.dialects.fields import Fields, key, outcome, plain, scroll
from distrl.agent.dialects.loose_reader import LooseReader
from distrl.errors import InvalidAction

TOOL = "mobile_use"
OPENING, CLOSING = "<tool_call>", "</tool_call>"
ACTIONS = {
    "click": "Tap the point `coordinate`.",
    "long_press": "Hold the point `coordinate` for `time` seconds.",
    "swipe": "Move a finger from `coordinate` to `coordinate2`.",
    "type": "Type `text` into the field that has the focus.",
    "system_button": "Press `button`.",
    "open": "Open the app named `text`.",
    "wait": "Wait for `time` seconds.",
    "key": "Press the key `text`: volume_up, volume_down, power, app_switch or notification.",
    "ask_user": "Ask the user the question `text`; the task goes on with the reply.",
    "answer": "Answer the user's question with `text`; this ends the task.",
    "terminate": "End the task with `status`: success if it is done, failure if it cannot be.",
}
_BUTTONS: dict[str, r.Action] = {"Back": r.Back(), "Home": r.Home(), "Enter": r.Enter()}
_KEYS: dict[str, r.Action] = {
    "volume_up": r.VolumeUp(),
    "volume_down": r.VolumeDown(),
    "power": r.Power(),
    "app_switch": r.Recents(),
    "notification": r.OpenShade(),
}
SAYS = (r.VolumeUp, r.VolumeDown, r.Power, r.Recents, r.OpenShade, r.AskUser)

Arguments = dict[str, str | float | list[int]]


def _write(action: r.Action, scale: Scale) -> str:
    call = {"name": TOOL, "arguments": _arguments(action, scale)}
    return f"{OPENING}\n{json.dumps(call, ensure_ascii=False)}\n{CLOSING}"


def _arguments(action: r.Action, scale: Scale) -> Arguments:
    match action:
        case r.Tap(x, y):
            return {"action": "click", "coordinate": list(scale.write(x, y))}
        case r.LongPress(x, y):
            return {"action": "long_press", "coordinate": list(scale.write(x, y)), "time": 1}
        case r.Swipe(x, y, to_x, to_y):
            start, end = list(scale.write(x, y)), list(scale.write(to_x, to_y))
            return {"action": "swipe", "coordinate": start, "coordinate2": end}
        case r.TypeText(text):
            return {"action": "type", "text": text}
        case r.AskUser(question, reply):
            replied: Arguments = {"reply": reply} if reply else {}
            return {"action": "ask_user", "text": question, **replied}
        case action if action in _KEYS.values():
            return {"action": "key", "text": word_for(_KEYS, action)}
        case r.OpenApp(name):
            return {"action": "open", "text": name}
        case r.Answer(text):
            return {"action": "answer", "text": text}
        case r.Wait(seconds):
            return {"action": "wait", "time": int(seconds) if seconds.is_integer() else seconds}
        case r.Done():
            return {"action": "terminate", "status": "success"}
        case r.Impossible():
            return {"action": "terminate", "status": "failure"}
        case _:
            return {"action": "system_button", "button": word_for(_BUTTONS, action)}


def _called(text: str) -> Fields:
    """Return the arguments of the first call: nested in it, as a JSON string, or at top level."""
    call = first_object(text, ("arguments", "action", "parameters"))
    fields = Fields(call)
    arguments = next((v for k, v in call.items() if plain(k) in ("arguments", "parameters")), None)
    if isinstance(arguments, str):
        arguments = LooseReader(arguments).value()
    if not isinstance(arguments, dict):
        return fields
    tool = fields.word("name")
    if tool in {plain(action) for action in ACTIONS}:  # the action's name as that of the tool
        arguments = {"action": tool, **arguments}
    elif tool and tool != plain(TOOL):
        raise InvalidAction(f"it calls {fields.text('name')[:40]!r}; the only tool is {TOOL}")
    return Fields(arguments)


def _read(text: str, scale: Scale) -> r.Action:
    before, tag, call = without_thoughts(text, (OPENING, "{")).partition(OPENING)
    fields = _called(call if tag else after_action_label(before))
    kind = fields.text("action")
    match fields.word("action"):
        case "click" | "tap" | "leftclick":
            return r.Tap(*fields.point(scale, "coordinate"))
        case "longpress":
            return r.LongPress(*fields.point(scale, "coordinate"))
        case "swipe" | "drag":
            return _stroke(fields, scale)
        case "type":
            return r.TypeText(fields.text("text"))
        case "open" | "openapp":
            return r.OpenApp(fields.text("text", "app_name", "app"))
        case "answer":
            return r.Answer(fields.text("text"))
        case "wait":
            return r.Wait(fields.seconds("time", default=r.Wait().seconds))
        case "askuser" | "interact":
            return r.AskUser(fields.text("text"))
        case "systembutton":
            return key(fields.text("button"))
        case "key":
            return key(fields.text("text"))
        case "terminate":
            return outcome(fields.text("status"))
        case _:
            raise InvalidAction(f"there is no action {kind[:40]!r}, only {', '.join(ACTIONS)}")


def _stroke(fields: Fields, scale: Scale) -> r.Swipe:
    if fields.has("direction") and not fields.has("coordinate2"):
        middle = fields.point(scale, "coordinate") if fields.has("coordinate") else (0.5, 0.5)
        away = {"up": "down", "down": "up", "left": "right", "right": "left"}
        word = fields.word("direction")
        return scroll(away.get(word, word), *middle)
    start = fields.point(scale, "coordinate", "start_coordinate")
    return r.Swipe(*start, *fields.point(scale, "coordinate2", "end_coordinate"))


def _instructions(where: str) -> str:
    """Return the system text, with the tool described as in function calling."""
    point = {"type": "array", "description": f"[x, y] from the top left corner: {where}."}
    says = "\n".join(f"* `{action}`: {what}" for action, what in ACTIONS.items())
    properties = {
        "action": {"type": "string", "enum": list(ACTIONS), "description": says},
        "coordinate": point,
        "coordinate2": point,
        "text": {"type": "string"},
        "time": {"type": "number", "description": "Seconds."},
        "button": {"type": "string", "enum": list(_BUTTONS)},
        "status": {"type": "string", "enum": ["success", "failure"]},
    }
    function = {
        "name": TOOL,
        "description": "Touch, type and press buttons on the phone whose screen is shown.",
        "parameters": {"type": "object", "properties": properties, "required": ["action"]},
    }
    tool = json.dumps({"type": "function", "function": function}, ensure_ascii=False)
    return (
        "You operate a phone for a user, one action at a time.\n\n# Tools\n\n"
        f"This function is at your service:\n<tools>\n{tool}\n</tools>\n\n"
        f"Call it once, with its name and arguments as JSON within {OPENING}{CLOSING} tags:\n"
        f'{OPENING}\n{{"name": "{TOOL}", "arguments": <arguments as JSON>}}\n{CLOSING}'
    )


QWEN2_5_VL = Dialect("qwen2_5_vl", _instructions("pixels of the picture"), _write, _read, says=SAYS)
TO_999 = Scale(999, 999, to_edge=True)
QWEN3_VL = Dialect(
    "qwen3_vl", _instructions("0 to 999 in both directions"), _write, _read, TO_999, says=SAYS
)
