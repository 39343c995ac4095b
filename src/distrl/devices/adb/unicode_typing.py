"""Type text into the focused field of a phone on adb, in any script if the phone supports it.

Android's own `input text` knows only the keys of an English keyboard: it silently drops an ü. So
the first of these three ways that the phone supports is chosen, once per reset:

- ADBKeyboard, if it is installed: any text, by a broadcast (base64, so nothing needs quoting);
- the clipboard, if the Clipper app is installed: any text, set and pasted;
- `input text`: ASCII only. Other text raises `ActionFailed`, which says what to install; text is
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


Typing = Callable[[PhoneShell, str], None]  # types the whole text, or raises


def type_by_keyboard(shell: PhoneShell, text: str) -> None:
    """Type with ADBKeyboard, a keyboard app that takes its text from a broadcast."""
    coded = base64.b64encode(text.encode("utf-8")).decode("ascii")
    command = ("am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", coded)
    said = shell.run(*command, seconds=_seconds(text))
    if "Broadcast completed" not in said:
        raise TypingFailed(_failed(shell, text, f"ADBKeyboard did not answer: {said.strip()}"))


def type_by_clipboard(shell: PhoneShell, text: str) -> None:
    """Set the clipboard with the Clipper app, and paste."""
    said = shell.run("am", "broadcast", "-a", "clipper.set", "-e", "text", text)
    if "result=-1" not in said:  # Activity.RESULT_OK: the text is on the clipboard
        raise TypingFailed(_failed(shell, text, f"Clipper did not take it: {said.strip()}"))
    shell.run("input", "keyevent", str(PASTE_KEY))


def type_plainly(shell: PhoneShell, text: str) -> None:
    """Type ASCII with Android's own `input text`."""
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
    """Return the best way that the phone supports, without changing any setting."""
    if ADB_KEYBOARD in shell.shell("ime list -a -s").text.split():
        return type_by_keyboard
    if f"package:{CLIPPER}" in shell.shell(f"pm list packages {CLIPPER}").text.split():
        return type_by_clipboard
    return type_plainly


def choose_typing(shell: PhoneShell) -> Typing:
    """Return the best way that the phone supports; activate ADBKeyboard if that is chosen."""
    typing = find_typing(shell)
    if typing is type_by_keyboard:
        shell.run("ime", "enable", ADB_KEYBOARD)
        shell.run("ime", "set", ADB_KEYBOARD)
    return typing


def plain_commands(text: str) -> Iterator[str]:
    """Yield commands that type ASCII. `input` reads %s as a space, so split a literal %s in two."""
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
    """Return a message with only the text's length: typed text may be private."""
    return f"device {shell.serial}: {len(text)} characters could not be typed: {why}"
