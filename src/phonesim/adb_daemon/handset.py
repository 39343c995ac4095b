"""The simulated phone with Android's state around its apps: power, keyboard, clipboard, files.

Shell commands operate on a `Handset`. Touches and keys become actions of the phone, so that the
same episode gives the same screens through adb as without it. Its profile has its names and its
latencies, in seconds of the given clock. Commands hold its lock while they run; several computers
may be connected at once.
"""

from __future__ import annotations

import calendar
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from distrl.hierarchy import Element
from distrl.records import (
    Action,
    DoubleTap,
    DragAndDrop,
    LongPress,
    OpenApp,
    Pinch,
    Pixels,
    Swipe,
    Tap,
    TypeText,
)
from phonesim.adb_daemon.android_names import ADB_KEYBOARD
from phonesim.adb_daemon.file_system import FileSystem
from phonesim.adb_daemon.handset_profile import PLAIN, HandsetProfile, changed_profile
from phonesim.adb_daemon.pictures import Camera
from phonesim.boot import new_state
from phonesim.display import Display
from phonesim.drift import Drift
from phonesim.phone import Phone
from phonesim.state import LAUNCHER, PhoneState

MAX_TEXT = 4_000  # characters that one text field takes, as real fields have a maximum too
LOG_LINES = 1000
TOUCHES = (Tap, LongPress, DoubleTap, Swipe, DragAndDrop, Pinch)


@dataclass(frozen=True, slots=True)
class Starting:
    """An app that was started and is not drawn yet: the screen before it is still shown."""

    until: float  # by the handset's clock
    frame: Pixels
    elements: tuple[Element, ...]
    app: str  # the app that frame and elements show
    started: str  # the app that is starting


class Handset:
    """One phone that adb lists as `serial`.

    `display` replaces the profile's display, and drops its panel. `adb_keyboard` and `clipper` are
    apps that people install to type Unicode over adb. `transition`: seconds of an animation after
    every change of the screen.
    """

    def __init__(
        self,
        serial: str,
        seed: int = 0,
        drift: Drift | None = None,
        *,
        profile: HandsetProfile = PLAIN,
        display: Display | None = None,
        adb_keyboard: bool = True,
        clipper: bool = True,
        transition: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.serial = serial
        self.profile = changed_profile(profile, display=display)
        self.lock = threading.RLock()
        self.phone = Phone(seed, drift, self.profile.display)
        self.adb_keyboard = adb_keyboard
        self.clipper = clipper
        self.transition = transition
        self._clock = clock
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self._camera = Camera()
        self._begin_times(seed)
        self._set_up()

    def _set_up(self) -> None:
        self.files = FileSystem()
        self.settings: dict[tuple[str, str], str] = {}  # those for which the phone has no fact
        self.properties: dict[str, str] = {}  # those that `setprop` has set
        self.clipboard = ""
        self.input_method = self.profile.keyboard
        self.all_selected = False  # the text in the focused field
        self.awake = True
        self.locked = False
        self._before: Pixels | None = None
        self._changed_at = 0.0
        self._starting: Starting | None = None

    def _begin_times(self, seed: int) -> None:
        self._rng = random.Random(f"handset/{self.serial}/{seed}")
        self._restless_dumps = self.profile.restless_dumps

    # The whole phone ---------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Set up a new phone by the seed. Nothing of the one before is left, files included."""
        before = self.phone.state
        with self.lock:
            self.restore(new_state(seed, before.drift, before.display))
            self._begin_times(seed)

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
        own = self.profile.keyboard
        return (own, ADB_KEYBOARD) if self.adb_keyboard else (own,)

    def package_of(self, app: str) -> str:
        return self.profile.package_of(app)

    # Time --------------------------------------------------------------------------------------

    @property
    def draws_at_once(self) -> bool:
        """Whether the effect of an action is on the screen as soon as the action is done."""
        return not self.profile.launch.median and not self.transition

    def seconds_to_start(self, program: str) -> float:
        """Draw the seconds until a program of the shell has started."""
        return self.profile.delay_of(program).draw(self._rng)

    @property
    def starting(self) -> Starting | None:
        """The screen shown while the app in front is not drawn yet; None once it is."""
        found = self._starting
        if found is not None and self._clock() >= found.until:
            self._changed_at, self._starting = found.until, None
        elif found is not None and found.started != self.phone.state.front:  # it was stopped
            self._starting = None
        return self._starting

    @property
    def seconds_until_drawn(self) -> float:
        """Seconds until the app that was started last is on the screen."""
        starting = self.starting
        return max(starting.until - self._clock(), 0.0) if starting else 0.0

    def comes_to_rest(self) -> bool:
        """Return whether `uiautomator` finds the screen idle; some phones fail at first."""
        self._restless_dumps -= 1
        return self._restless_dumps < 0

    # Seeing ------------------------------------------------------------------------------------

    def frame(self) -> Pixels:  # [height, width, 3]
        """The screen as it is now: black asleep, dimmed when locked."""
        if not self.awake:
            return np.zeros((self.phone.display.height, self.phone.display.width, 3), np.uint8)
        frame = self.phone.frame()
        if self.locked:
            return frame // 4
        if starting := self.starting:
            return starting.frame
        if self._before is not None:
            passed = (self._clock() - self._changed_at) / self.transition
            if passed < 1.0:
                return _between(self._before, frame, passed)
            self._before = None
        return frame

    def elements(self) -> tuple[Element, ...]:
        if not self.awake or self.locked:
            return ()
        if starting := self.starting:
            return starting.elements
        return self.phone.elements()

    @property
    def shown_app(self) -> str:
        """The app on the screen: while another starts, the one before it."""
        starting = self.starting
        return starting.app if starting else self.phone.state.front

    def png(self) -> bytes:
        return self._camera.png(self.frame())

    def raw(self) -> bytes:
        return self._camera.raw(self.frame())

    def framebuffer(self) -> bytes:
        return self._camera.framebuffer(self.frame())

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Carry out an action unless the phone sleeps or is locked; a swipe upwards unlocks it."""
        if not self.awake:
            return
        if self.locked:
            self.locked = not (isinstance(action, Swipe) and action.to_y < action.y - 0.2)
            return
        if self.starting and isinstance(action, TOUCHES):
            return  # there is no window yet that would take them
        self.changing()
        self.all_selected = False
        if self.profile.launch.median:
            self._perform_slowly(action)
        else:
            self.phone.perform(action)

    def _perform_slowly(self, action: Action) -> None:
        """Carry out an action; an app that it launches is shown only after the launch time."""
        frame, elements, shown = self.frame(), self.elements(), self.shown_app
        state = self.phone.state
        front, running = state.front, {LAUNCHER, *state.running}
        self.phone.perform(action)
        now = self.phone.state.front
        if now == front:
            return
        self._starting = None
        if now not in running:
            until = self._clock() + self.profile.launch.draw(self._rng)
            self._starting = Starting(until, frame, elements, shown, now)

    def changing(self) -> None:
        """Start a transition: to be called before the picture changes."""
        if self.transition > 0.0:
            self._before, self._changed_at = self.frame(), self._clock()

    def type_text(self, text: str) -> bool:
        """Type into the focused field, replacing the selection; return False without a field."""
        if self.phone.state.focus is None or not self.awake or self.locked:
            return False
        if self.all_selected:
            self.clear_text()
        self.perform(TypeText(text[: max(MAX_TEXT - len(self.text), 0)]))
        return True

    def erase(self) -> None:
        """Press backspace."""
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
        """The text in the focused field."""
        key = self.phone.state.focus
        return "" if key is None else str(self.phone.routes[-1].memory.get(key) or "")

    def open_app(self, name: str) -> None:
        self.perform(OpenApp(name))

    def note(self, line: str) -> None:
        """Append a line to the log that `logcat` shows."""
        stamp = self.phone.now.strftime("%m-%d %H:%M:%S.000")
        self.log.append(f"{stamp}  1000  1000 I DistRL  : {line}")


def _between(before: Pixels, after: Pixels, passed: float) -> Pixels:
    """Return a frame of the transition: the new screen slides in from below over the old one."""
    height = len(after)
    edge = round((1.0 - passed) * height)
    return np.concatenate((before[:edge], after[: height - edge]))
