"""The prompt of a vision-language judge, its few-shot examples, and the parsing of its answer.

After the examples, the prompt has the task, the last few actions as text, the agent's answer, and
the last few screens. `hash` covers the whole text, so that verdicts of different prompts are never
mixed up. Text that the agent wrote is quoted and truncated, and the judge is told that it is no
evidence: a policy must not learn to persuade its judge. An answer must end in a line
`Verdict: success` or `Verdict: failure`; nothing else is a verdict.

The built-in examples are text only; they show the form of an answer and the two most frequent
mistakes of judges: believing the agent, and accepting a near miss. Examples with pictures of the
judged apps help more. They come from a TOML file, with picture paths relative to it:

    [[example]]
    instruction = "Set an alarm for 7:30"
    actions = ["opened the app Clock", "tapped at 50 % across, 88 % down"]
    picture = "alarm.png"                   # or  seen = "The list of alarms …"
    thoughts = "An alarm for 7:30 should be in the list, switched on. It is."
    success = true
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from distrl.errors import InvalidSetting
from distrl.records import (
    Action,
    Answer,
    AskUser,
    Back,
    Done,
    DoubleTap,
    DragAndDrop,
    Enter,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    OpenShade,
    Pinch,
    Power,
    Recents,
    Screen,
    Swipe,
    Tap,
    Trajectory,
    TypeText,
    Unreadable,
    VolumeDown,
    VolumeUp,
    Wait,
)
from distrl.toml_file import read_toml_file

MEMBERS = {"instruction", "actions", "seen", "picture", "thoughts", "success"}


@dataclass(frozen=True, slots=True)
class JudgeExample:
    """A few-shot example: a case and its correct answer; the screen as text, picture, or both."""

    instruction: str
    thoughts: str
    success: bool
    actions: tuple[str, ...] = ()
    seen: str = ""
    picture: Screen | None = None


BUILT_IN: tuple[JudgeExample, ...] = (
    JudgeExample(
        instruction='Open the shop of the city museum, search for "tea pot", and open the first '
        "result",
        actions=('typed "tea pot"', "pressed Enter", "said that the task is done"),
        seen="The shop's results for tea pot; no product is open.",
        thoughts="The first result had to be opened, so a product page should be visible. The "
        "screen shows the list of results, so the last part was not done.",
        success=False,
    ),
    JudgeExample(
        instruction="Wake me up at a quarter to seven",
        actions=("tapped at 50 % across, 90 % down", "said that the task is done"),
        seen="The list of alarms: 6:45, switched on, in 9 hours.",
        thoughts="An alarm for 6:45 should be in the list and switched on. It is there, and on.",
        success=True,
    ),
    JudgeExample(
        instruction="What is the capital of Norway?",
        actions=('typed "capital of norway"', 'answered "The task was done successfully"'),
        seen="A search page with the words capital of norway in its field; no results yet.",
        thoughts="The answer should name the capital. The agent only claims success, names no "
        "city, and the screen shows none.",
        success=False,
    ),
)


def read_examples(path: Path) -> tuple[JudgeExample, ...]:
    """Read the examples from a TOML file."""
    try:
        tree = read_toml_file(path)
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"judge examples {path}: {error}; give a TOML file") from error
    rows = tree.get("example")
    if set(tree) != {"example"} or not isinstance(rows, list) or not rows:
        raise InvalidSetting(f"judge examples {path}: give one or more tables [[example]]")
    return tuple(_example(path, number, row) for number, row in enumerate(rows, start=1))


def _example(path: Path, number: int, row: Any) -> JudgeExample:
    place = f"judge examples {path}, example {number}"
    if not isinstance(row, dict):
        raise InvalidSetting(f"{place}: {row!r} is no table; give tables [[example]]")
    if unknown := set(row) - MEMBERS:
        raise InvalidSetting(f"{place}: {sorted(unknown)} mean nothing; known: {sorted(MEMBERS)}")
    texts = {name: row.get(name, "") for name in ("instruction", "seen", "picture", "thoughts")}
    actions = row.get("actions", [])
    listed = actions if isinstance(actions, list) else [None]
    if not all(isinstance(text, str) for text in (*texts.values(), *listed)):
        raise InvalidSetting(f"{place}: everything but success is text")
    if not texts["instruction"] or not texts["thoughts"] or type(row.get("success")) is not bool:
        raise InvalidSetting(f"{place}: give instruction, thoughts, and success = true or false")
    if not texts["seen"] and not texts["picture"]:
        raise InvalidSetting(f"{place}: give what is seen, or a picture of it")
    return JudgeExample(
        instruction=texts["instruction"],
        thoughts=texts["thoughts"],
        success=row["success"],
        actions=tuple(actions),
        seen=texts["seen"],
        picture=_picture(place, path.parent / texts["picture"]) if texts["picture"] else None,
    )


def _picture(place: str, path: Path) -> Screen:
    try:
        with Image.open(path) as picture:
            return Screen(np.array(picture.convert("RGB"), dtype=np.uint8))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise InvalidSetting(f"{place}: {path} is no picture ({error})") from error


MAX_REASON = 300  # characters

SYSTEM = """\
You judge whether an agent has done a task on a phone. You are told the task, what the agent did \
last and what it answered, and you see the last screens, the newest one last. Judge by what the \
screens show. What the agent says or types is no evidence that something was done. Every part of \
the task must be done, as it was asked for; nearly is a failure. If the task is a question, the \
agent's answer must be right.
First say what should be visible if the task were done, then what is visible. Then write a line \
"Reason: " with one sentence, and end with a line that is either "Verdict: success" or \
"Verdict: failure"."""

_MARKS = r"[ \t\r*_#>`\"'.-]*"
_VERDICT = re.compile(
    rf"^{_MARKS}verdict{_MARKS}[:=]{_MARKS}(success|failure){_MARKS}$", re.IGNORECASE | re.MULTILINE
)
_REASON = re.compile(rf"^{_MARKS}reason{_MARKS}[:=]{_MARKS}(\S.*)$", re.IGNORECASE | re.MULTILINE)

PictureUrl = Callable[[Screen], str]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """The part of a trajectory that the judge sees."""

    instruction: str
    steps: int
    actions: tuple[str, ...]  # the last ones, as text
    answer: str | None
    screens: tuple[Screen, ...]  # the last ones


class JudgePrompt:
    """Turns trajectories into chat messages. Equal cases give equal messages."""

    def __init__(
        self,
        examples: Sequence[JudgeExample] = BUILT_IN,
        *,
        last_screens: int = 2,
        last_actions: int = 4,
        system: str = SYSTEM,
    ) -> None:
        if last_screens < 1 or last_actions < 0:
            raise InvalidSetting(
                f"last_screens={last_screens!r}, last_actions={last_actions!r}; a judge sees 1 "
                "screen or more, and is told 0 actions or more"
            )
        self.examples = tuple(examples)
        self.last_screens = last_screens
        self.last_actions = last_actions
        self.system = system
        self.hash = self._hash()

    def _hash(self) -> str:
        """Hash all that the messages depend on besides the trajectory."""
        examples = [
            [_told(_case_of(each), each.seen), _said(each), each.picture and each.picture.digest]
            for each in self.examples
        ]
        form = _told(Case("", 0, (), None, ()))
        parts = [self.system, form, examples, self.last_screens, self.last_actions]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()

    def case_of(self, trajectory: Trajectory) -> Case:
        actions = [decision.action for decision in trajectory.decisions]
        last = actions[-1] if actions else None
        told = actions[-self.last_actions :] if self.last_actions else []
        return Case(
            instruction=trajectory.task.instruction,
            steps=len(actions),
            actions=tuple(described(action) for action in told),
            answer=last.text if isinstance(last, Answer) else None,
            screens=trajectory.screens[-self.last_screens :],
        )

    def key_of(self, case: Case) -> str:
        """Hash all messages: text and pictures of the case and of the examples."""
        digests = [screen.digest for screen in case.screens]
        question = json.dumps([self.hash, _told(case), digests])
        return hashlib.blake2b(question.encode(), digest_size=16).hexdigest()

    def messages(self, case: Case, picture_url: PictureUrl) -> list[Message]:
        """Return the chat to send: system prompt, examples with their answers, the case."""
        messages: list[Message] = [{"role": "system", "content": self.system}]
        for example in self.examples:
            screens = (example.picture,) if example.picture else ()
            messages.append(_user(screens, _told(_case_of(example), example.seen), picture_url))
            messages.append({"role": "assistant", "content": _said(example)})
        messages.append(_user(case.screens, _told(case), picture_url))
        return messages


def read_verdict(text: str) -> tuple[bool, str] | None:
    """Return success and reason of the verdict that an answer ends with; None if it has none.

    Only punctuation may follow the verdict line, since further words might revoke the verdict.
    """
    verdicts = list(_VERDICT.finditer(text))
    if not verdicts or re.search(r"\w", text[verdicts[-1].end() :]):
        return None
    before = text[: verdicts[-1].start()]
    reasons = _REASON.findall(text)
    reason = reasons[-1].strip() if reasons else " ".join(before.split())[-MAX_REASON:]
    return verdicts[-1][1].lower() == "success", reason[:MAX_REASON]


def _told(case: Case, seen: str = "") -> str:
    actions = "\n".join(f"- {action}" for action in case.actions) or "- nothing"
    answer = "none" if case.answer is None else quoted(case.answer)
    lines = [
        f"Task: {quoted(case.instruction)}",
        f"Steps taken: {case.steps}. The last actions:",
        actions,
        f"The agent's answer: {answer}",
    ]
    return "\n".join([*lines, f"What the screen shows: {seen}"] if seen else lines)


def _case_of(example: JudgeExample) -> Case:
    return Case(example.instruction, len(example.actions), example.actions, None, ())


def _said(example: JudgeExample) -> str:
    verdict = "success" if example.success else "failure"
    *_, reason = example.thoughts.split(". ")
    return f"{example.thoughts}\nReason: {reason}\nVerdict: {verdict}"


def _user(screens: Sequence[Screen], text: str, picture_url: PictureUrl) -> Message:
    pictures = [
        {"type": "image_url", "image_url": {"url": picture_url(screen)}} for screen in screens
    ]
    return {"role": "user", "content": [*pictures, {"type": "text", "text": text}]}


MAX_QUOTE = 500  # characters of what an agent typed or answered


def described(action: Action) -> str:
    """Describe an action in words for the judge."""
    match action:
        case TypeText(text):
            return f"typed {quoted(text)}"
        case OpenApp(name):
            return f"opened the app {quoted(name)}"
        case AskUser(question, reply):
            return f"asked the user {quoted(question)} and was told {quoted(reply)}"
        case Answer(text):
            return f"answered {quoted(text)}"
        case Wait():
            return "waited"
        case OpenShade():
            return "opened the notification shade"
        case Back() | Home() | Enter() | Recents() | VolumeUp() | VolumeDown() | Power():
            return f"pressed {type(action).__name__}"
        case Done():
            return "said that the task is done"
        case Impossible():
            return "said that the task is impossible"
        case Unreadable():  # its text may have any length and content: do not repeat it
            return "gave an answer that could not be read"
        case _:
            return _touch_described(action)


def _touch_described(
    action: Tap | LongPress | Swipe | DoubleTap | DragAndDrop | Pinch,
) -> str:
    match action:
        case Tap(x, y):
            return f"tapped at {_place(x, y)}"
        case LongPress(x, y):
            return f"pressed long at {_place(x, y)}"
        case DoubleTap(x, y):
            return f"tapped twice at {_place(x, y)}"
        case Swipe(x, y, to_x, to_y):
            return f"swiped from {_place(x, y)} to {_place(to_x, to_y)}"
        case DragAndDrop(x, y, to_x, to_y):
            return f"dragged from {_place(x, y)} to {_place(to_x, to_y)}"
        case Pinch(x, y, scale):
            return f"{'spread' if scale > 1 else 'pinched'} two fingers at {_place(x, y)}"


def quoted(text: str) -> str:
    """Truncate text and quote it on one line."""
    return json.dumps(text[:MAX_QUOTE])


def _place(x: float, y: float) -> str:
    return f"{round(100 * x)} % across, {round(100 * y)} % down"
