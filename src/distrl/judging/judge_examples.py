"""Examples that a vision-language judge is shown before its own case. They are data.

Ours are in words alone and know no particular phone; they show the form of an answer, and the two
mistakes that judges make most: to believe the agent, and to let a near miss pass. Examples with
pictures, of the phones and apps that are really judged, do more. They come from a TOML file, with
pictures named from where the file is:

    [[example]]
    instruction = "Set an alarm for 7:30"
    actions = ["opened the app Clock", "tapped at 50 % across, 88 % down"]
    picture = "alarm.png"                   # or  seen = "The list of alarms …"
    thoughts = "An alarm for 7:30 should be in the list, switched on. It is."
    success = true
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from distrl.errors import InvalidSetting
from distrl.records import Screen

MEMBERS = {"instruction", "actions", "seen", "picture", "thoughts", "success"}


@dataclass(frozen=True, slots=True)
class JudgeExample:
    """A case with the answer that was wanted. What is seen is told, shown, or both."""

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
    """The examples of a TOML file."""
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"judge examples {path}: {error}; give a TOML file") from error
    rows = tree.get("example")
    if set(tree) != {"example"} or not isinstance(rows, list) or not rows:
        raise InvalidSetting(f"judge examples {path}: give one or more tables [[example]]")
    return tuple(_example(path, number, row) for number, row in enumerate(rows, start=1))


def _example(path: Path, number: int, row: dict[str, Any]) -> JudgeExample:
    place = f"judge examples {path}, example {number}"
    if unknown := set(row) - MEMBERS:
        raise InvalidSetting(f"{place}: {sorted(unknown)} mean nothing; known: {sorted(MEMBERS)}")
    texts = {name: row.get(name, "") for name in ("instruction", "seen", "picture", "thoughts")}
    actions = row.get("actions", [])
    if not all(isinstance(text, str) for text in (*texts.values(), *actions)):
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
    except (OSError, UnidentifiedImageError) as error:
        raise InvalidSetting(f"{place}: {path} is no picture ({error})") from error
