"""A dialect of one line, with places in percent of the screen: tap 50 20, type Milk, done.

What it cannot say: how long a swipe or a wait takes.
"""

from __future__ import annotations

from distrl import records as r
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
from distrl.agent.dialects.fields import whole
from distrl.errors import InvalidAction

INSTRUCTIONS = """\
You operate a phone. Answer with one line: tap X Y, hold X Y, swipe X Y TO_X TO_Y, type TEXT,
open APP, answer TEXT, back, home, enter, wait, done or impossible. X and Y are percents of the
screen, from the top left corner."""
PLAIN: dict[str, r.Action] = {
    "back": r.Back(),
    "home": r.Home(),
    "enter": r.Enter(),
    "wait": r.Wait(),
    "done": r.Done(),
    "impossible": r.Impossible(),
}


def write(action: r.Action, scale: Scale) -> str:
    match action:
        case r.Tap(x, y) | r.LongPress(x, y):
            across, down = scale.write(x, y)
            return f"{'tap' if isinstance(action, r.Tap) else 'hold'} {across} {down}"
        case r.Swipe(x, y, to_x, to_y):
            (across, down), (to_across, to_down) = scale.write(x, y), scale.write(to_x, to_y)
            return f"swipe {across} {down} {to_across} {to_down}"
        case r.TypeText(text):
            return f"type {text}"
        case r.OpenApp(name):
            return f"open {name}"
        case r.Answer(text):
            return f"answer {text}"
        case r.Wait():
            return "wait"
        case _:
            return word_for(PLAIN, action)


def read(text: str, scale: Scale) -> r.Action:
    """What cannot be read is an `InvalidAction` with the reason."""
    verb, _, rest = text.lstrip().partition(" ")
    if verb.strip() in PLAIN and not rest.strip():
        return PLAIN[verb.strip()]
    match verb, rest.split():
        case "tap", [x, y]:
            return r.Tap(*scale.read(f"{x} {y}", "tap"))
        case "hold", [x, y]:
            return r.LongPress(*scale.read(f"{x} {y}", "hold"))
        case "swipe", [x, y, to_x, to_y]:
            begin, end = (
                scale.read(f"{x} {y}", "its start"),
                scale.read(f"{to_x} {to_y}", "its end"),
            )
            return r.Swipe(*begin, *end)
    match verb:
        case "type":
            return r.TypeText(whole(rest))
        case "open":
            return r.OpenApp(whole(rest))
        case "answer":
            return r.Answer(whole(rest))
        case _:
            raise InvalidAction(f"{text[:40]!a} is no line such as tap 50 20, type Milk or done")


PERCENT = Dialect("percent", INSTRUCTIONS, write, read, Scale(100, 100, to_edge=True))
