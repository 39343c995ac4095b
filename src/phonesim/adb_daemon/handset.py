"""The simulated phone with what Android keeps around an app: power, input method, clipboard, files.

`Handset` is what the shell commands work on. Touches and keys become actions of the phone, so that
the same episode gives the same screens through adb as without it. Commands hold its lock while they
work; several computers may be connected at once.
"""

from __future__ import annotations

import calendar
import threading
import time
from collections import deque

import numpy as np

from distrl.hierarchy import Element
from distrl.records import Action, OpenApp, Pixels, Swipe, TypeText
from phonesim.adb_daemon.android_names import ADB_KEYBOARD, PHONE_KEYBOARD
from phonesim.adb_daemon.file_system import FileSystem
from phonesim.adb_daemon.pictures import Camera
from phonesim.boot import new_state
from phonesim.display import STANDARD, Display
from phonesim.drift import Drift
from phonesim.phone import Phone
from phonesim.state import PhoneState

MAX_TEXT = 4_000  # characters that one text field takes, as real fields have a maximum too
LOG_LINES = 1000


class Handset:
    """One phone on a cable, called `serial`.

    `adb_keyboard` and `clipper` are apps that people install to type Unicode over adb; with a
    `transition`, screens move for so many seconds after every change, as animations do.
    """

    def __init__(
        self,
        serial: str,
        seed: int = 0,
        drift: Drift | None = None,
        *,
        display: Display = STANDARD,
        adb_keyboard: bool = True,
        clipper: bool = True,
        transition: float = 0.0,
    ) -> None:
        self.serial = serial
        self.lock = threading.RLock()
        self.phone = Phone(seed, drift, display)
        self.adb_keyboard = adb_keyboard
        self.clipper = clipper
        self.transition = transition
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self._camera = Camera()
        self._set_up()

    def _set_up(self) -> None:
        self.files = FileSystem()
        self.settings: dict[tuple[str, str], str] = {}  # what the phone has no fact for
        self.properties: dict[str, str] = {}  # what `setprop` has put there
        self.clipboard = ""
        self.input_method = PHONE_KEYBOARD
        self.all_selected = False  # the text in the focused field
        self.awake = True
        self.locked = False
        self._before: Pixels | None = None
        self._changed_at = 0.0

    # The whole phone ---------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """A phone fresh from its box. Nothing of the one before is left, files included."""
        before = self.phone.state
        self.restore(new_state(seed, before.drift, before.display))

    def restore(self, state: PhoneState) -> None:
        with self.lock:
            self.phone.restore(state)
            self._set_up()

    @property
    def seconds(self) -> int:
        """The phone's own clock, as seconds since 1970; it has no time zone."""
        return calendar.timegm(self.phone.now.timetuple())

    @property
    def input_methods(self) -> tuple[str, ...]:
        return (PHONE_KEYBOARD, ADB_KEYBOARD) if self.adb_keyboard else (PHONE_KEYBOARD,)

    # Seeing ------------------------------------------------------------------------------------

    def frame(self) -> Pixels:  # [height, width, 3]
        """The screen as it is now: black asleep, dimmed when locked."""
        if not self.awake:
            return np.zeros((self.phone.display.height, self.phone.display.width, 3), np.uint8)
        frame = self.phone.frame()
        if self.locked:
            return frame // 4
        if self._before is not None:
            passed = (time.monotonic() - self._changed_at) / self.transition
            if passed < 1.0:
                return _between(self._before, frame, passed)
            self._before = None
        return frame

    def elements(self) -> tuple[Element, ...]:
        return self.phone.elements() if self.awake and not self.locked else ()

    def png(self) -> bytes:
        return self._camera.png(self.frame())

    def raw(self) -> bytes:
        return self._camera.raw(self.frame())

    def framebuffer(self) -> bytes:
        return self._camera.framebuffer(self.frame())

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Carry it out, unless the phone sleeps or is locked; a swipe upwards unlocks it."""
        if not self.awake:
            return
        if self.locked:
            self.locked = not (isinstance(action, Swipe) and action.to_y < action.y - 0.2)
            return
        self.changing()
        self.all_selected = False
        self.phone.perform(action)

    def changing(self) -> None:
        """The picture is about to change."""
        if self.transition > 0.0:
            self._before, self._changed_at = self.frame(), time.monotonic()

    def type_text(self, text: str) -> bool:
        """Text into the focused field, in place of what is selected; False without a field."""
        if self.phone.state.focus is None or not self.awake or self.locked:
            return False
        if self.all_selected:
            self.clear_text()
        self.perform(TypeText(text[: max(MAX_TEXT - len(self.text), 0)]))
        return True

    def erase(self) -> None:
        """The key that deletes backwards."""
        self.changing()
        if self.all_selected:
            self.clear_text()
        else:
            self.phone.erase()

    def clear_text(self) -> None:
        key = self.phone.state.focus
        if key is not None:
            self.phone.remember(key, "")
        self.all_selected = False

    @property
    def text(self) -> str:
        """What stands in the focused field."""
        key = self.phone.state.focus
        return "" if key is None else str(self.phone.routes[-1].memory.get(key) or "")

    def open_app(self, name: str) -> None:
        self.perform(OpenApp(name))

    def note(self, line: str) -> None:
        """Into the log that `logcat` shows."""
        stamp = self.phone.now.strftime("%m-%d %H:%M:%S.000")
        self.log.append(f"{stamp}  1000  1000 I DistRL  : {line}")


def _between(before: Pixels, after: Pixels, passed: float) -> Pixels:
    """The new screen comes in from below, over the old one."""
    height = len(after)
    edge = round((1.0 - passed) * height)
    return np.concatenate((before[:edge], after[: height - edge]))
