"""Type text into the focused field of a phone on adb, in any script if the phone supports it.

Android's own `input text` knows only the keys of an English keyboard: an ü is dropped silently. So
three ways are tried in this order, and the choice is made once, at the reset:

- ADBKeyboard, when it is installed: any text, by a broadcast (base64, so nothing needs quoting);
- the clipboard, when the Clipper app is installed: any text, set and pasted;
- `input text`: ASCII only. Anything else is an `ActionFailed` that says what to install; text is
  never typed in part.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Iterator

from distrl.devices.adb.adb_shell import PhoneShell
from distrl.errors import ActionFailed, TypingFailed

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
CLIPPER = "ca.zgrs.clipper"
ENTER_KEY, PASTE_KEY = 66, 279
MAX_PIECE = 200  # characters for one `input text`; each is two key events on the phone
SECONDS_PER_CHARACTER = 0.05
TYPING_SECONDS = 15.0


Typing = Callable[[PhoneShell, str], None]  # types it all, or raises


def type_by_keyboard(shell: PhoneShell, text: str) -> None:
    """Through ADBKeyboard, the keyboard app that takes its text from a broadcast."""
    coded = base64.b64encode(text.encode("utf-8")).decode("ascii")
    command = ("am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", coded)
    said = shell.run(*command, seconds=_seconds(text))
    if "Broadcast completed" not in said:
        raise TypingFailed(_failed(shell, text, f"ADBKeyboard did not answer: {said.strip()}"))


def type_by_clipboard(shell: PhoneShell, text: str) -> None:
    """Through the clipboard, with the small Clipper app that sets it."""
    said = shell.run("am", "broadcast", "-a", "clipper.set", "-e", "text", text)
    if "result=-1" not in said:  # Activity.RESULT_OK: the text is on the clipboard
        raise TypingFailed(_failed(shell, text, f"Clipper did not take it: {said.strip()}"))
    shell.run("input", "keyevent", str(PASTE_KEY))


def type_plainly(shell: PhoneShell, text: str) -> None:
    """By Android's own `input text`, for ASCII."""
    foreign = sorted({character for character in text if not _plain(character)})
    if foreign:
        shown = " ".join(f"U+{ord(character):04X}" for character in foreign[:5])
        raise ActionFailed(
            _failed(shell, text, f"this phone can type ASCII alone, and the text has {shown}")
            + "; install ADBKeyboard (docs/real-phones.md) to type any script"
        )
    for command in plain_commands(text):
        shell.run(*shlex.split(command), seconds=_seconds(text))


def find_typing(shell: PhoneShell) -> Typing:
    """The best way that the phone supports; nothing is switched on by asking."""
    if ADB_KEYBOARD in shell.shell("ime list -a -s").text.split():
        return type_by_keyboard
    if f"package:{CLIPPER}" in shell.shell(f"pm list packages {CLIPPER}").text.split():
        return type_by_clipboard
    return type_plainly


def choose_typing(shell: PhoneShell) -> Typing:
    """Choose the best way that the phone supports; ADBKeyboard is set as its keyboard."""
    typing = find_typing(shell)
    if typing is type_by_keyboard:
        shell.run("ime", "enable", ADB_KEYBOARD)
        shell.run("ime", "set", ADB_KEYBOARD)
    return typing


def plain_commands(text: str) -> Iterator[str]:
    """Commands that type ASCII. `input` takes %s for a space, so a real %s must be cut in two."""
    for number, line in enumerate(text.split("\n")):
        if number:
            yield f"input keyevent {ENTER_KEY}"
        for piece in _pieces(line):
            yield f"input text {shlex.quote(piece.replace(' ', '%s'))}"


def _pieces(line: str) -> Iterator[str]:
    whole = line.replace("%s", "%\0s").split("\0")
    for part in whole:
        for start in range(0, len(part), MAX_PIECE):
            yield part[start : start + MAX_PIECE]


def _plain(character: str) -> bool:
    return " " <= character <= "~" or character == "\n"


def _seconds(text: str) -> float:
    return TYPING_SECONDS + SECONDS_PER_CHARACTER * len(text)


def _failed(shell: PhoneShell, text: str, why: str) -> str:
    """The message has the length only: typed text may be private."""
    return f"device {shell.serial}: {len(text)} characters could not be typed: {why}"
