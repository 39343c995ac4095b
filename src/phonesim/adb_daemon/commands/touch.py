"""`input`: taps, swipes, text and keys, with the arguments of Android's own command."""

from __future__ import annotations

import math
from collections.abc import Sequence

from distrl.records import DragAndDrop, LongPress, Swipe, Tap
from phonesim.adb_daemon.commands.keys import number_of, press, press_together
from phonesim.adb_daemon.commands.text import number
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, failure
from phonesim.display import Display

SOURCES = {
    "touchscreen", "keyboard", "mouse", "touchpad", "stylus", "trackball", "dpad", "gamepad",
    "joystick", "touchnavigation",
}  # fmt: skip
USAGE = "Error: Unknown command: {}\nUsage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]"
STILL = 10  # layout units that a finger may move in a tap or long press
HOLD_MILLISECONDS = 400.0  # Android's own long-press timeout


def input_command(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    rest = list(words)
    if rest and rest[0] in SOURCES:
        rest.pop(0)
    if rest and rest[0] == "-d":
        del rest[:2]
    match rest:
        case ["tap", x, y]:
            _tap(handset, _pixels("tap", [x, y]))
        case ["swipe" | "draganddrop" as kind, *numbers] if len(numbers) in (4, 5):
            _swipe(handset, kind, _pixels(kind, numbers))
        case ["text", text]:
            return _text(handset, text)
        case ["keyevent", *keys] if keys:
            for key in keys:
                if not key.startswith("--"):
                    press(handset, number_of(key))
        case ["keycombination", *keys] if len([k for k in keys if not k.startswith("-")]) > 1:
            press_together(handset, [number_of(key) for key in keys if not key.startswith("-")])
        case ["tap" | "swipe" | "text" | "keyevent" | "keycombination" as kind, *_]:
            raise Refusal(f"Error: Invalid arguments for command: {kind}", 255)
        case _:
            raise Refusal(USAGE.format(" ".join(rest[:1])), 255)
    return NOTHING


def _pixels(kind: str, words: Sequence[str]) -> list[float]:
    numbers = [number(word) for word in words]
    if any(math.isnan(value) for value in numbers):
        raise Refusal(f"Error: Invalid arguments for command: {kind}", 255)
    return numbers


def _share(display: Display, x: float, y: float) -> tuple[float, float]:
    """Return the middle of a pixel as a share of the screen, which maps back to that pixel."""
    return (int(x) + 0.5) / display.width, (int(y) + 0.5) / display.height


def _on_screen(display: Display, x: float, y: float) -> bool:
    return 0 <= x < display.width and 0 <= y < display.height


def _tap(handset: Handset, place: list[float]) -> None:
    display = handset.phone.display
    if _on_screen(display, place[0], place[1]):  # Android ignores taps beside the screen
        handset.perform(Tap(*_share(display, place[0], place[1])))


def _swipe(handset: Handset, kind: str, numbers: list[float]) -> None:
    x, y, to_x, to_y, milliseconds = (*numbers, 300.0)[:5]
    display = handset.phone.display
    if not _on_screen(display, x, y):
        return
    to_x, to_y = min(max(to_x, 0), display.width - 1), min(max(to_y, 0), display.height - 1)
    start, end = _share(display, x, y), _share(display, to_x, to_y)
    if abs(to_x - x) + abs(to_y - y) < STILL * display.density:
        handset.perform((LongPress if milliseconds >= HOLD_MILLISECONDS else Tap)(*start))
        return
    if kind == "draganddrop":
        handset.perform(DragAndDrop(*start, *end))
        return
    handset.perform(Swipe(*start, *end, seconds=min(max(milliseconds / 1000, 0.01), 10.0)))


def _text(handset: Handset, text: str) -> Result:
    """Type text: ASCII only, with %s for a space, as Android's command is limited to."""
    if not text.isascii():
        return failure(
            "Exception occurred while executing 'text':",
            "java.lang.NullPointerException: Attempt to get length of null array",
            code=255,
        )
    handset.type_text(text.replace("%s", " "))
    return NOTHING


COMMANDS: dict[str, Command] = {"input": input_command}
