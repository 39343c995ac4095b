"""UI-TARS: Python-like calls after a thought.

    Thought: The search field is at the top.
    Action: click(start_box='<|box_start|>(540,210)<|box_end|>')

and likewise long_press(start_box), drag(start_box, end_box), type(content), open_app(app_name),
press_back(), press_home(), press_enter(), wait(), finished(content) and call_user(). UI-TARS-1.5
counts pixels of the picture as it was resized for the model; the first UI-TARS (and Doubao after
it) counts to 1000 in both directions. Actions are written without a thought, since an `Action`
records none.

The format cannot express the duration of a swipe or a wait (`wait` is 5 seconds, as the models are
told), nor an empty answer. `finished` with a content is an answer, without one it means done.
`call_user` is the call of an agent that cannot continue, so it means impossible.

The reader also accepts `scroll` with two boxes, or with one box and a direction (where to look);
points as <point>x y</point> named point, start_point and end_point; and hotkey(key='enter').

Of the rarer actions it has left_double for a double tap, press_recent, and hotkey for volume_up,
volume_down, power and notification (the shade). A drag and drop is written as a drag, a pinch and a
question to the user as a wait: `call_user` has no question, and ends the task.
"""

from __future__ import annotations

import json
import re

from distrl import records as r
from distrl.agent.dialects.answer_span import after_action_label, first_call, without_thoughts
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
from distrl.agent.dialects.fields import Fields, key, plain, scroll
from distrl.errors import InvalidAction

WAIT_SECONDS = 5.0

_PLAIN: dict[str, r.Action] = {
    "press_back": r.Back(),
    "press_home": r.Home(),
    "press_enter": r.Enter(),
    "press_recent": r.Recents(),
    "wait": r.Wait(WAIT_SECONDS),
    "finished": r.Done(),
    "call_user": r.Impossible(),
}
_KEYS: dict[str, r.Action] = {
    "volume_up": r.VolumeUp(),
    "volume_down": r.VolumeDown(),
    "power": r.Power(),
    "notification": r.OpenShade(),
}
SAYS = (r.DoubleTap, r.Recents, r.VolumeUp, r.VolumeDown, r.Power, r.OpenShade)
_NAMES = (
    "click|tap|left_single|left_double|right_single|long_?press|drag|swipe|scroll|type|"
    "open_?app|launch|press_?back|press_?home|press_?enter|press_?recent|hotkey|wait|finished|"
    "call_?user"
)
# Prose has brackets too: "click (the button)" is not a call.
_CALL = re.compile(
    rf"\b({_NAMES})\s?[(（](?=\s*(?:\w+\s*[=:：]|[)）\[(\"'“‘<\d]|\Z))", re.IGNORECASE
)
_START = ("start_box", "start_point", "point", "box", "start", "coordinate", "0")
_END = ("end_box", "end_point", "end", "coordinate2")

INSTRUCTIONS = """\
You are a GUI agent: you operate a phone for a user, whose task and past actions you are told, and
whose screen you are shown. Decide on the next action.

## Output Format
```
Thought: ...
Action: ...
```

## Action Space
click(start_box='<|box_start|>(x1,y1)<|box_end|>')
long_press(start_box='<|box_start|>(x1,y1)<|box_end|>')
drag(start_box='<|box_start|>(x1,y1)<|box_end|>', end_box='<|box_start|>(x3,y3)<|box_end|>')
scroll(start_box='<|box_start|>(x1,y1)<|box_end|>', direction='down or up or right or left')
type(content='') # into the field that has the focus; escape \\', \\" and \\n as in Python
open_app(app_name='')
press_back()
press_home()
press_enter()
wait() # 5 seconds
finished(content='') # the task is done; content is the answer if it was a question
call_user() # the task cannot be done

## Note
- {units}
- Keep the thought short: what you see, and what you do next."""


def _write(action: r.Action, scale: Scale) -> str:
    return f"Action: {_call(action, scale)}"


def _call(action: r.Action, scale: Scale) -> str:
    match action:
        case r.Tap(x, y):
            return f"click(start_box={_box(scale, x, y)})"
        case r.LongPress(x, y):
            return f"long_press(start_box={_box(scale, x, y)})"
        case r.Swipe(x, y, to_x, to_y):
            return f"drag(start_box={_box(scale, x, y)}, end_box={_box(scale, to_x, to_y)})"
        case r.TypeText(text):
            return f"type(content={_quoted(text)})"
        case r.OpenApp(name):
            return f"open_app(app_name={_quoted(name)})"
        case r.Answer(text):
            return f"finished(content={_quoted(text)})" if text else "finished()"
        case r.DoubleTap(x, y):
            return f"left_double(start_box={_box(scale, x, y)})"
        case r.Wait():
            return "wait()"
        case action if action in _KEYS.values():
            return f"hotkey(key='{word_for(_KEYS, action)}')"
        case _:
            return f"{word_for(_PLAIN, action)}()"


def _box(scale: Scale, x: float, y: float) -> str:
    across, down = scale.write(x, y)
    return f"'<|box_start|>({across},{down})<|box_end|>'"


def _quoted(text: str) -> str:
    """Put text in single quotes, with both kinds of quotes escaped, as the models are told to."""
    escaped = json.dumps(text, ensure_ascii=False)[1:-1].replace("'", "\\'")
    return f"'{escaped}'"


def _read(text: str, scale: Scale) -> r.Action:
    answer = after_action_label(without_thoughts(text, ("Action:",)))
    name, arguments = first_call(answer, _CALL)
    fields = Fields(arguments)
    match plain(name):
        case "click" | "tap" | "leftsingle":
            return r.Tap(*fields.point(scale, *_START))
        case "leftdouble":
            return r.DoubleTap(*fields.point(scale, *_START))
        case "longpress":
            return r.LongPress(*fields.point(scale, *_START))
        case "drag" | "swipe" | "scroll":
            return _stroke(plain(name), fields, scale)
        case "type":
            return r.TypeText(fields.text("content", "text", "0"))
        case "openapp" | "launch":
            return r.OpenApp(fields.text("app_name", "app", "content", "0"))
        case "hotkey":
            return key(fields.text("key", "0"))
        case "finished" if fields.has("content", "0") and fields.text("content", "0"):
            return r.Answer(fields.text("content", "0"))
        case word:
            known = {plain(spelling): action for spelling, action in _PLAIN.items()}
            if word not in known:
                raise InvalidAction(f"{name} is nothing that can be done on this phone")
            return known[word]


def _stroke(name: str, fields: Fields, scale: Scale) -> r.Swipe:
    if fields.has(*_END):
        return r.Swipe(*fields.point(scale, *_START), *fields.point(scale, *_END))
    if name == "scroll" and fields.has("direction"):
        middle = fields.point(scale, *_START) if fields.has(*_START) else (0.5, 0.5)
        return scroll(fields.word("direction"), *middle)
    raise InvalidAction(f"{name} has neither an end nor a direction to scroll in")


def _dialect(name: str, count: str, scale: Scale | None) -> Dialect:
    units = f"x and y are {count}, from the top left corner."
    return Dialect(name, INSTRUCTIONS.replace("{units}", units), _write, _read, scale, says=SAYS)


UI_TARS = _dialect("ui_tars", "0 to 1000", Scale(1000, 1000))
UI_TARS_1_5 = _dialect("ui_tars_1_5", "pixels of the picture", None)
