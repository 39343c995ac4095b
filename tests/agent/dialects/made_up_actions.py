"""Actions by the thousand, drawn from a seed, with the texts and places that break codecs; and
answers spoilt in the ways in which models spoil them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from distrl import records as r
from distrl.agent.dialects.dialect import ImageSize

FRAGMENTS = (
    "milk, eggs", ", ", '"', "'", '", "', "')", '")', '"}', '"}}', "\\", "\\n", "\\\\", "\\u0041",
    "\n", "\r\n", "\t", " ", "  ", "\x00", "\x1f", "\x7f", "\x85", "\u2028", "\ufeff", "\uffff",
    "😀", "👩‍👩‍👧‍👦", "🇺🇳", "e\u0301", "שלום", "مرحبا", "\u200f", "\u202e",
    "中文", "“好”", "「是」", "，", "：",
    "null", "None", "123", "-1", "0x10", "[1, 2]", "(3,4)", "{", "}", "[", "]", "a: b", "key=value",
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>", "<|box_end|>",
    "<tap>", "<17,40>", "```", "```json", "Action: click(start_box='(1,2)')", "Action Decision: ",
    '"action_type": "TYPE"', '{"action": "click"}', 'do(action="Back")', "finish(message=", "it's",
)  # fmt: skip
WRAPPINGS = (
    ("```json\n", "\n```"), ("<think>Hm, {x} (y)</think>", ""), ("<think>", ""), ("[", "]"),
    ("Thought: I click (the button).\nAction: ", ""), ("{", "}"), ('"', '"'), ("\x00", "\x00"),
    ("(" * 50, ""), ("{" * 50, ""),
)  # fmt: skip
IMAGES = (
    ImageSize(360, 720), ImageSize(1092, 2408), ImageSize(28, 28), ImageSize(1, 1),
    ImageSize(1999, 37),
)  # fmt: skip
EDGES = (0.0, 1.0, 0.5, 1e-9, 1.0 - 1e-9, 0.04, 0.9999, 0.99995, 1 / 3, 0.0005)


def made_up(seed: str, count: int) -> Iterator[tuple[r.Action, ImageSize]]:
    """So many actions of all kinds, each with the size of the picture it was decided on."""
    rng = random.Random(f"actions/{seed}")
    kinds: tuple[Callable[[], r.Action], ...] = (
        lambda: r.Tap(_share(rng), _share(rng)),
        lambda: r.LongPress(_share(rng), _share(rng)),
        lambda: _swipe(rng),
        lambda: r.TypeText(text(rng)),
        lambda: r.TypeText(text(rng)),
        lambda: r.OpenApp(text(rng)),
        lambda: r.Answer(text(rng)),
        lambda: r.Wait(rng.choice((0.0, 0.5, 2.0, 2.0000001, 5.0, 600.0, rng.uniform(0, 600)))),
        lambda: rng.choice((r.Back(), r.Home(), r.Enter(), r.Done(), r.Impossible())),
        lambda: r.DoubleTap(_share(rng), _share(rng)),
        lambda: r.DragAndDrop(*(_share(rng) for _ in range(4))),
        lambda: r.Pinch(_share(rng), _share(rng), rng.choice((0.1, 0.5, 2.0, 10.0))),
        lambda: r.AskUser(text(rng)),
        lambda: rng.choice((r.Recents(), r.OpenShade(), r.VolumeUp(), r.VolumeDown(), r.Power())),
    )
    for _ in range(count):
        yield rng.choice(kinds)(), rng.choice(IMAGES)


def text(rng: random.Random) -> str:
    parts = [rng.choice(FRAGMENTS) for _ in range(rng.randrange(6))]
    parts += [_sign(rng) for _ in range(rng.randrange(4))]
    rng.shuffle(parts)
    return "".join(parts)


def spoilt(answer: str, rng: random.Random) -> str:
    """An answer after one to four mishaps."""
    for _ in range(rng.randint(1, 4)):
        answer = rng.choice(MISHAPS)(answer, rng)
    return answer


def _share(rng: random.Random) -> float:
    return rng.choice(EDGES) if rng.random() < 0.3 else rng.random()


def _swipe(rng: random.Random) -> r.Swipe:
    x, y = _share(rng), _share(rng)
    to_x, to_y = _share(rng), _share(rng)
    if rng.random() < 0.5:  # about as long as the longest tap of Android in the Wild
        off = rng.choice((1e-4, 0.01)) * rng.uniform(-1.0, 1.0)
        to_x, to_y = min(1.0, x + 0.04 + off), y
    return r.Swipe(x, y, to_x, to_y, seconds=rng.choice((0.3, 0.01, 10.0, rng.uniform(0.01, 10.0))))


def _sign(rng: random.Random) -> str:
    code = rng.choice((rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0x110000)))
    return "?" if 0xD800 <= code < 0xE000 else chr(code)


def _place(answer: str, rng: random.Random) -> int:
    return rng.randrange(len(answer) + 1)


def _cut(answer: str, rng: random.Random) -> str:
    return answer[: _place(answer, rng)]


def _lose(answer: str, rng: random.Random) -> str:
    at = _place(answer, rng)
    return answer[:at] + answer[at + rng.randint(1, 3) :]


def _insert(answer: str, rng: random.Random) -> str:
    at = _place(answer, rng)
    return answer[:at] + rng.choice((*FRAGMENTS, "\ud83d", _sign(rng))) + answer[at:]


def _repeat(answer: str, rng: random.Random) -> str:
    at, to = sorted((_place(answer, rng), _place(answer, rng)))
    return answer[:to] + answer[at:to] * rng.randint(1, 3) + answer[to:]


def _renumber(answer: str, rng: random.Random) -> str:
    digits = [at for at, sign in enumerate(answer) if sign.isdigit()]
    at = rng.choice(digits) if digits else 0
    number = rng.choice(
        ("-1", "1e999", "NaN", "null", "9" * 5000, "0.5", '"7"', "[3", "١٢", "true")
    )
    return answer[:at] + number + answer[at + 1 :]


def _requote(answer: str, rng: random.Random) -> str:
    old, new = rng.sample(("'", '"', "“", "”", "`", "", "\\"), 2)
    return answer.replace(old, new) if old else answer


def _recase(answer: str, rng: random.Random) -> str:
    return rng.choice((answer.upper(), answer.lower(), answer.title(), answer.swapcase()))


def _wrap(answer: str, rng: random.Random) -> str:
    before, after = rng.choice((*WRAPPINGS, ("", answer), ("", "\n\n" + answer)))
    return before + answer + after


MISHAPS: tuple[Callable[[str, random.Random], str], ...] = (
    _cut, _lose, _insert, _repeat, _renumber, _requote, _recase, _wrap,
)  # fmt: skip
