"""`am broadcast`: the apps that receive broadcasts, and their actions.

ADBKeyboard types any Unicode while it is the input method; Clipper reads and writes the clipboard.
Both are what people install on real phones to type more than ASCII.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from distrl.records import Enter
from phonesim.adb_daemon.android_names import ADB_KEYBOARD
from phonesim.adb_daemon.commands.intent import Intent
from phonesim.adb_daemon.commands.keys import press
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import Result, lines

MAX_CHARACTERS = 4000


def broadcast(handset: Handset, intent: Intent) -> Result:
    """Deliver a broadcast; one without a receiver succeeds and does nothing, as on Android."""
    code, data = 0, ""
    action = intent.part("action")
    if action in KEYBOARD_ACTIONS and handset.input_method == ADB_KEYBOARD:
        KEYBOARD_ACTIONS[action](handset, intent.extras)
    elif action == "clipper.set" and handset.clipper:
        handset.clipboard = intent.extras.get("text", "")
        code, data = -1, "Text is copied into clipboard."
    elif action == "clipper.get" and handset.clipper:
        code, data = -1, handset.clipboard
    ending = f"Broadcast completed: result={code}" + (f', data="{data}"' if data else "")
    return lines(f"Broadcasting: {intent}", ending)


def _input_text(handset: Handset, extras: dict[str, str]) -> None:
    handset.type_text(extras.get("msg", ""))


def _input_encoded(handset: Handset, extras: dict[str, str]) -> None:
    try:
        data = base64.b64decode(extras.get("msg", ""))
    except (binascii.Error, ValueError):
        return  # the keyboard logs that and types nothing
    handset.type_text(data.decode("utf-8", "replace"))


def _input_characters(handset: Handset, extras: dict[str, str]) -> None:
    codes = [code.strip() for code in extras.get("chars", "").split(",")][:MAX_CHARACTERS]
    numbers = [int(code) for code in codes if code.isascii() and code.isdigit() and len(code) < 8]
    fit = [n for n in numbers if n < 0x110000 and not 0xD800 <= n < 0xE000]
    handset.type_text("".join(map(chr, fit)))


def _input_code(handset: Handset, extras: dict[str, str]) -> None:
    code = extras.get("code", "")
    if code.isascii() and code.isdigit() and len(code) <= 3:
        press(handset, int(code))


def _editor_code(handset: Handset, extras: dict[str, str]) -> None:
    """Press Enter, whichever editor action (go, search, send) the code names."""
    handset.perform(Enter())


def _clear_text(handset: Handset, extras: dict[str, str]) -> None:
    handset.changing()
    handset.clear_text()


KEYBOARD_ACTIONS: dict[str, Callable[[Handset, dict[str, str]], None]] = {
    "ADB_INPUT_TEXT": _input_text,
    "ADB_INPUT_B64": _input_encoded,
    "ADB_INPUT_CHARS": _input_characters,
    "ADB_INPUT_CODE": _input_code,
    "ADB_EDITOR_CODE": _editor_code,
    "ADB_CLEAR_TEXT": _clear_text,
}
