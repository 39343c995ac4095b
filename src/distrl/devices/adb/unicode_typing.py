"""Type text into the focused field of a phone on adb, in any script if the phone supports it.

Android's own `input text` knows only the keys of an English keyboard: an ü is dropped silently. So
three ways are tried in this order, and the choice is made once, at the reset:

- ADBKeyboard, when it is installed: any text, by a broadcast (base64, so nothing needs quoting);
- the clipboard, when the Clipper app is installed: any text, set and pasted;
- `input text`: ASCII only. Anything else is a `TypingFailed` that says what to install; text is
  never typed in part.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator
from typing import Protocol

from distrl.devices.adb.adb_shell import PhoneShell
from distrl.errors import TypingFailed

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
CLIPPER = "ca.zgrs.clipper"
ENTER_KEY, PASTE_KEY = 66, 279
MAX_PIECE = 200  # characters for one `input text`; each is two key events on the phone
SECONDS_PER_CHARACTER = 0.05
TYPING_SECONDS = 15.0


class Typing(Protocol):
    """A way to type."""

    @property
    def name(self) -> str: ...

    @property
    def any_script(self) -> bool:
        """Whether more than ASCII can be typed."""
        ...

    def type(self, shell: PhoneShell, text: str) -> None:
        """Type it all, or raise `TypingFailed`."""
        ...


class AdbKeyboardTyping:
    """Through the keyboard app that takes its text from a broadcast."""

    name = "ADBKeyboard"
    any_script = True

    def type(self, shell: PhoneShell, text: str) -> None:
        coded = base64.b64encode(text.encode("utf-8")).decode("ascii")
        self._broadcast(shell, "ADB_INPUT_B64", "--es", "msg", coded, text=text)

    def _broadcast(self, shell: PhoneShell, name: str, *extras: str, text: str) -> None:
        said = shell.run("am", "broadcast", "-a", name, *extras, seconds=_seconds(text))
        if "Broadcast completed" not in said:
            raise TypingFailed(_failed(shell, text, f"ADBKeyboard did not answer: {said.strip()}"))


class ClipboardTyping:
    """Through the clipboard, with the small Clipper app that sets it."""

    name = "clipboard"
    any_script = True

    def type(self, shell: PhoneShell, text: str) -> None:
        said = shell.run("am", "broadcast", "-a", "clipper.set", "-e", "text", text)
        if "result=-1" not in said:  # Activity.RESULT_OK: the text is on the clipboard
            raise TypingFailed(_failed(shell, text, f"Clipper did not take it: {said.strip()}"))
        shell.run("input", "keyevent", str(PASTE_KEY))


class PlainTyping:
    """Android's own `input text`, for ASCII."""

    name = "input text"
    any_script = False

    def type(self, shell: PhoneShell, text: str) -> None:
        foreign = sorted({character for character in text if not _plain(character)})
        if foreign:
            shown = " ".join(f"U+{ord(character):04X}" for character in foreign[:5])
            raise TypingFailed(
                _failed(shell, text, f"this phone can type ASCII alone, and the text has {shown}")
                + "; install ADBKeyboard (docs/real-phones.md) to type any script"
            )
        for command in plain_commands(text):
            shell.run(*shlex.split(command), seconds=_seconds(text))


def choose_typing(shell: PhoneShell) -> Typing:
    """Choose the best way that the phone supports; ADBKeyboard is set as its keyboard."""
    if ADB_KEYBOARD in shell.shell("ime list -a -s").text.split():
        shell.run("ime", "enable", ADB_KEYBOARD)
        shell.run("ime", "set", ADB_KEYBOARD)
        return AdbKeyboardTyping()
    if f"package:{CLIPPER}" in shell.shell(f"pm list packages {CLIPPER}").text.split():
        return ClipboardTyping()
    return PlainTyping()


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
