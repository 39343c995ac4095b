"""The dialect of models that read element lists: elements go by their numbers in the prompt.

    tap 7            hold 7               type 5: any text      set 9 40%
    scroll down      scroll 3 up          shade                 open: Name of an app
    answer: any text back home enter wait 5 done impossible     tap 512,730

`type 5: …` types if element 5 has the focus. If not, it taps 5 instead, and the text must come with
the next answer: an answer is one action. `set` taps a slider at a fraction of its length. `scroll`
scrolls the element of that number, or without one the largest scrollable element; its direction is
where to look. `shade` pulls the notification shade down from the top edge. What is not in the list
is given by its place in thousandths of the screen. Text runs to the end, exactly as it is.

The format cannot express where a swipe begins and ends, how long it takes, or most rarer actions.
In demonstrations and past actions a double tap is a tap, a drag and drop a scroll that way, recents
is home, and a pinch, a volume or power key and a question to the user are a wait; only the shade
has a word. Past actions are written with the role and label of what they touched, since numbers
change from screen to screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from distrl import records as r
from distrl.agent.dialects.dialect import Dialect, Scale, word_for
from distrl.agent.dialects.fields import direction_of, scroll, whole
from distrl.agent.element_list import ElementList, named
from distrl.errors import InvalidAction
from distrl.hierarchy import Element

INSTRUCTIONS = (
    "You operate a phone. The elements on its screen are numbered. Answer with one action:\n"
    "tap 7, hold 7, type 7: text, set 7 40%, scroll down, scroll 7 up, shade, open: app, back, "
    "home, enter, wait, answer: text, done, impossible. What is not listed: tap 512,730 in "
    "thousandths of the screen."
)
SHADE = r.Swipe(0.5, 0.005, 0.5, 0.6)
FROM_EDGE = 0.02  # of the screen's height: a swipe down from above this pulls the shade
STROKE = (0.75, 0.25)  # where the finger begins and ends, in fractions of the scrolled element
SECONDS = 0.8  # slow enough to avoid a fling past the content looked for
EMPTY = ElementList((), 1, 1)

_PLAIN: dict[str, r.Action] = {
    "back": r.Back(),
    "home": r.Home(),
    "enter": r.Enter(),
    "done": r.Done(),
    "impossible": r.Impossible(),
    "shade": SHADE,
}
_VERBS = ("tap", "click", "hold", "type", "set", "scroll", "open", "answer", "wait", *_PLAIN)
_ANSWER = re.compile(rf"\s*({'|'.join(_VERBS)})(?![^\W_])(.*)", re.DOTALL | re.IGNORECASE)
_TARGET = re.compile(r"[\s#(\[]*(\d{1,4})(?:\s*,\s*(\d{1,4}))?(?![\d%])")
_SHARE = re.compile(r"[\s#(\[]*(\d{1,4})\D{1,8}?(\d{1,3})\s*%")
_SCROLL = re.compile(r"[\s#(\[]*(?:(\d{1,4})\D{1,8}?)?\b(up|down|left|right)\b", re.IGNORECASE)
_TYPED = re.compile(r"(?:[ \t]*#?(\d{1,4}))?[ \t]*:[ ]?(.*)", re.DOTALL)
_SECONDS = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?)?\s*(?:s|seconds?)?\s*")


# Writing -----------------------------------------------------------------------------------------


def _write(action: r.Action, scale: Scale) -> str:
    listed = scale.listed or EMPTY
    match action:
        case r.Tap(x, y):
            number = listed.number_at(x, y)
            if number is not None and listed.element(number).role == "slider":
                return f"set {number} {round(100 * listed.share_at(number, x))}%"
            return f"tap {_at(x, y) if number is None else number}"
        case r.LongPress(x, y):
            number = listed.number_at(x, y)
            return f"hold {_at(x, y) if number is None else number}"
        case r.Swipe():
            return _write_swipe(action, listed)
        case r.TypeText(text):
            field = "" if listed.focused is None else f" {listed.focused}"
            return f"type{field}: {text}"
        case _:
            return _write_words(action)


def _write_words(action: r.Action) -> str:
    match action:
        case r.OpenApp(name):
            return f"open: {name}"
        case r.Answer(text):
            return f"answer: {text}"
        case r.Wait(seconds):
            return f"wait {seconds:g}" if f"{seconds:g}" != "2" else "wait"
        case _:
            return word_for(_PLAIN, action)


def _write_swipe(swipe: r.Swipe, listed: ElementList) -> str:
    direction = direction_of(swipe)
    if swipe.y <= FROM_EDGE and direction == "up":
        return "shade"
    scrolled = listed.scrolled_at(swipe.x, swipe.y)
    if scrolled is None or scrolled == listed.scrolled(None):
        return f"scroll {direction}"
    return f"scroll {listed.number_of(scrolled)} {direction}"


def _write_past(action: r.Action, scale: Scale, touched: Element | None) -> str:
    """Write what was done, and to which element: its number is not valid on the current screen."""
    match action:
        case r.Tap() | r.LongPress() if touched is not None:
            label = touched.text or touched.detail
            what = f"{touched.role} {named(label)}" if label else touched.role
            return f"{'tap' if isinstance(action, r.Tap) else 'hold'} {what}"
        case _:
            return _write(action, Scale(scale.across, scale.down))


def _at(x: float, y: float) -> str:
    return f"{round(1000 * x)},{round(1000 * y)}"


# Reading -----------------------------------------------------------------------------------------


def _read(text: str, scale: Scale) -> r.Action:
    found = _ANSWER.fullmatch(text)
    if not found:
        raise InvalidAction(f"does not begin with one of {', '.join(_VERBS)}")
    verb, said = found[1].lower(), found[2]
    if verb in _PLAIN:
        if re.search(r"\w", said):
            raise InvalidAction(f"{verb} stands alone, but {said.strip()[:40]!a} follows")
        return _PLAIN[verb]
    return _READERS[verb](said, scale.listed or EMPTY)


def _read_tap(said: str, listed: ElementList) -> r.Action:
    return r.Tap(*_target(said, listed))


def _read_hold(said: str, listed: ElementList) -> r.Action:
    return r.LongPress(*_target(said, listed))


def _target(said: str, listed: ElementList) -> tuple[float, float]:
    found = _TARGET.match(said)
    if not found:
        raise InvalidAction("names no element by its number, such as tap 7")
    if found[2] is None:
        return listed.place(int(found[1]))
    x, y = int(found[1]), int(found[2])
    if max(x, y) > 1000:
        raise InvalidAction(f"{x},{y} is off the screen, which has 1000 by 1000 thousandths")
    return x / 1000, y / 1000


def _read_set(said: str, listed: ElementList) -> r.Action:
    found = _SHARE.match(said)
    if not found or int(found[2]) > 100:
        raise InvalidAction("needs an element and a share of it, such as set 9 40%")
    return r.Tap(*listed.place_at(int(found[1]), int(found[2]) / 100))


def _read_scroll(said: str, listed: ElementList) -> r.Action:
    found = _SCROLL.match(said)
    if not found:
        raise InvalidAction("needs a direction: scroll up, down, left or right")
    scrolled = listed.scrolled(int(found[1]) if found[1] else None)
    stroke = scroll(found[2].lower())
    return stroke if scrolled is None else _within(scrolled, stroke, listed)


def _within(element: Element, stroke: r.Swipe, listed: ElementList) -> r.Swipe:
    """Return the stroke in the middle of an element, half as long as the element."""
    left, top, right, bottom = element.bounds
    begin, end = STROKE if direction_of(stroke) in ("down", "right") else STROKE[::-1]
    if direction_of(stroke) in ("up", "down"):
        xs, ys = (0.5, 0.5), (begin, end)
    else:
        xs, ys = (begin, end), (0.5, 0.5)
    across = [_inside((left + share * (right - left)) / listed.width) for share in xs]
    down = [_inside((top + share * (bottom - top)) / listed.height) for share in ys]
    return r.Swipe(across[0], down[0], across[1], down[1], SECONDS)


def _inside(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _read_type(said: str, listed: ElementList) -> r.Action:
    number, text = _typed(said, "type 5: milk")
    if number is None:
        return r.TypeText(text)
    focused = listed.element(number).focused
    return r.TypeText(text) if focused else r.Tap(*listed.place(number))


def _read_open(said: str, _: ElementList) -> r.Action:
    return r.OpenApp(_typed(said, "open: Clock")[1])


def _read_answer(said: str, _: ElementList) -> r.Action:
    return r.Answer(_typed(said, "answer: 42")[1])


def _typed(said: str, example: str) -> tuple[int | None, str]:
    found = _TYPED.fullmatch(said)
    if not found:
        raise InvalidAction(f"needs a colon before its text, such as {example}")
    return int(found[1]) if found[1] else None, whole(found[2])


def _read_wait(said: str, _: ElementList) -> r.Action:
    found = _SECONDS.fullmatch(said)
    seconds = float(found[1]) if found and found[1] else 2.0
    if not found or not 0.0 <= seconds <= 600.0:
        raise InvalidAction(f"wait is for 0 to 600 seconds, not {said.strip()[:40]!a}")
    return r.Wait(seconds)


_READERS: dict[str, Callable[[str, ElementList], r.Action]] = {
    "tap": _read_tap,
    "click": _read_tap,
    "hold": _read_hold,
    "type": _read_type,
    "set": _read_set,
    "scroll": _read_scroll,
    "open": _read_open,
    "answer": _read_answer,
    "wait": _read_wait,
}

ELEMENTS = Dialect("elements", INSTRUCTIONS, _write, _read, past_writer=_write_past, numbers=True)
