"""A phone behind adb as a `Device`: a handset, an emulator, or a served simulated phone.

It keeps the contract of `device.Device`: typed errors, out of order after one until the next
reset, and final actions never reach the phone. Nothing sleeps for a fixed time: a step ends when
the picture is still. `seconds` is real time spent waiting for the phone.

How clean a reset leaves the phone depends on `fresh_start`: an emulator loads its snapshot; a
handset can only stop its apps and go home, which is not the clean phone of a simulation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Self

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.android_apps import (
    check_nothing_crashed,
    find_package,
    launchable_apps,
    start_app,
)
from distrl.devices.adb.android_state import focus
from distrl.devices.adb.device_health import DeviceHealth, examine
from distrl.devices.adb.fresh_start import FreshStart, GoHome, wake_and_unlock
from distrl.devices.adb.screen_capture import CAPTURES, Capture, fastest_capture
from distrl.devices.adb.stillness import StillnessSettings, lit_picture
from distrl.devices.adb.uiautomator import dump_hierarchy, read_hierarchy
from distrl.devices.adb.unicode_typing import Typing, choose_typing
from distrl.errors import BrokenPicture, DeviceDisconnected, DeviceError, DeviceNotReady
from distrl.hierarchy import Element
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Pixels,
    Screen,
    Swipe,
    Tap,
    TypeText,
    Wait,
)

KEYS = {Back: 4, Home: 3, Enter: 66}
HOME_QUERY = (
    "cmd package resolve-activity --brief -a android.intent.action.MAIN "
    "-c android.intent.category.HOME"
)


class DeviceStatus:
    """Readiness, failure and device seconds between two resets, as `Device` promises them.

    A reset calls `begin` and sets `ready`; each operation calls `check` and runs in `at_work`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready = False
        self.failure: DeviceError | None = None
        self.seconds = 0.0

    def begin(self) -> None:
        self.end()
        self.seconds = 0.0

    def end(self) -> None:
        """Require a reset and forget the failure."""
        self.ready, self.failure = False, None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count the time of an operation, and remember its `DeviceError`."""
        begun = time.perf_counter()
        try:
            yield
        except DeviceError as error:
            self.failure = error
            raise
        finally:
            self.seconds += time.perf_counter() - begun

    def check(self) -> None:
        """Raise unless the device was reset and has not failed since."""
        if self.failure is not None:
            raise type(self.failure)(f"{self.failure} (it has failed and was not reset since)")
        if not self.ready:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")


@dataclass(frozen=True, slots=True)
class AdbDeviceSettings:
    """Deadlines in seconds, and names for apps."""

    stillness: StillnessSettings = field(default_factory=StillnessSettings)
    reconnect_seconds: float = 30.0  # for a lost phone to come back, at a reset
    command_seconds: float = 15.0
    hierarchy_seconds: float = 20.0
    blank_seconds: float = 5.0  # a black or white screen is looked at again for this long
    long_press_seconds: float = 0.8
    picture_tries: int = 3  # when one arrives incomplete
    watch_crashes: bool = True  # looks for a crash dialog after each action
    keep_shell_open: bool = True
    app_names: Mapping[str, str] = field(default_factory=dict)  # what the owner calls a package


class AdbDevice:
    """Implements `Device`."""

    def __init__(
        self,
        name: str,
        link: AdbLink,
        settings: AdbDeviceSettings | None = None,
        fresh_start: FreshStart | None = None,
        captures: Sequence[Capture] = CAPTURES,  # the fastest of these is used
    ) -> None:
        self.name = name
        self.link = link
        self.settings = settings or AdbDeviceSettings()
        self.fresh_start: FreshStart = fresh_start or GoHome()
        self.captures = captures
        self.shell = AdbShell(link, keep_open=self.settings.keep_shell_open)
        self.capture: Capture | None = None  # the fastest, once measured
        self.capture_seconds: dict[str, float] = {}  # of every capture that works
        self.typing: Typing | None = None
        self._picture: Pixels | None = None  # the last settled one
        self._launchable: dict[str, str] | None = None  # package -> activity, or empty
        self._status = DeviceStatus(name)

    # The whole device --------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Reconnect a lost phone, clean it as far as `fresh_start` can, and take a picture."""
        self._status.begin()
        self._picture, self._launchable = None, None
        with self.at_work():
            self.shell.close()
            self._reach()
            self.fresh_start.begin(self.shell, seed)
            wake_and_unlock(self.shell)
            if self.capture is None:
                self.capture, self.capture_seconds = fastest_capture(self.link, self.captures)
            self.choose_typing()
            self._status.ready = True
            self._picture = self._settle(None)

    def choose_typing(self) -> None:
        """Choose the best way of typing that the phone supports, and set it up."""
        self.typing = choose_typing(self.shell)

    def _reach(self) -> None:
        try:
            if self.link.state() == "device":
                return
        except DeviceDisconnected:
            pass  # connecting again tells why
        self.link.connect_again(self.settings.reconnect_seconds)

    @property
    def seconds(self) -> float:
        return self._status.seconds

    def health(self, rounds: int = 0) -> DeviceHealth:
        """Examine the phone, reset or not; measure each operation `rounds` times."""
        return examine(self.link, rounds)

    def close(self) -> None:
        self.shell.close()
        self._status.end()
        self._picture = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def at_work(self) -> AbstractContextManager[None]:
        """Count device time and remember a failure; after one only a reset helps."""
        return self._status.at_work()

    # Seeing ------------------------------------------------------------------------------------

    def screen(self) -> Screen:
        self._status.check()
        with self.at_work():
            self._picture = self._settle(None)
        return Screen(self._picture)

    def elements(self) -> tuple[Element, ...]:
        """The elements on the screen; uiautomator itself waits for it to settle."""
        self._status.check()
        with self.at_work():
            return read_hierarchy(
                dump_hierarchy(self.shell, self.settings.hierarchy_seconds), self.link.serial
            )

    def front_package(self) -> str:
        """Package of the app in front; empty while nothing has the focus."""
        self._status.check()
        with self.at_work():
            found = focus(self.shell)
        return found.package if found else ""

    def _settle(self, before: Pixels | None) -> Pixels:
        return lit_picture(
            self._take,
            before,
            self.settings.stillness,
            device=self.name,
            blank_seconds=self.settings.blank_seconds,
            wake=lambda: wake_and_unlock(self.shell),
        )

    def _take(self) -> Pixels:
        assert self.capture is not None
        for _ in range(self.settings.picture_tries - 1):
            try:
                return self.capture.take(self.link)
            except BrokenPicture:
                continue
        return self.capture.take(self.link)

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> Screen:
        self._status.check()
        assert self._picture is not None
        if isinstance(action, ONLY_SAID):
            return Screen(self._picture)
        with self.at_work():
            self._do(action)
            if self.settings.watch_crashes:
                check_nothing_crashed(self.shell, self.name, action)
            self._picture = self._settle(self._picture)
        return Screen(self._picture)

    def _do(self, action: Action) -> None:
        match action:
            case Tap(x, y):
                self._input("tap", *self._pixels(x, y))
            case LongPress(x, y):
                self._swipe(action.x, action.y, x, y, self.settings.long_press_seconds)
            case Swipe(x, y, to_x, to_y, seconds):
                self._swipe(x, y, to_x, to_y, seconds)
            case Back() | Home() | Enter():
                self._input("keyevent", str(KEYS[type(action)]))
            case TypeText(text):
                assert self.typing is not None
                if text:
                    self.typing.type(self.shell, text)
            case OpenApp(name):
                self._open_app(name)
            case Wait(seconds):  # on the phone's own clock
                self.shell.run("sleep", f"{seconds:g}", seconds=seconds + 10.0)

    def _input(self, *arguments: str, seconds: float = 0.0) -> None:
        self.shell.run("input", *arguments, seconds=self.settings.command_seconds + seconds)

    def _swipe(self, x: float, y: float, to_x: float, to_y: float, seconds: float) -> None:
        points = (*self._pixels(x, y), *self._pixels(to_x, to_y))
        self._input("swipe", *points, str(round(1000 * seconds)), seconds=seconds)

    def _pixels(self, x: float, y: float) -> tuple[str, str]:
        """Convert to pixels of the picture that the agent saw (rotated like the phone)."""
        assert self._picture is not None
        height, width, _ = self._picture.shape
        return str(min(int(x * width), width - 1)), str(min(int(y * height), height - 1))

    # Apps --------------------------------------------------------------------------------------

    def package_of(self, name: str) -> str | None:
        """The installed package that a name refers to."""
        self._status.check()
        with self.at_work():
            return find_package(name, self._apps(), self.settings.app_names)

    def home_package(self) -> str:
        """Package of the launcher; empty if the phone does not report it."""
        self._status.check()
        with self.at_work():
            said = self.shell.shell(HOME_QUERY, self.settings.command_seconds).text
        return said.strip().rpartition("\n")[2].partition("/")[0].strip() if "/" in said else ""

    def _open_app(self, name: str) -> None:
        package = find_package(name, self._apps(), self.settings.app_names)
        if package is None:
            return  # no such app: the phone is left unchanged
        start_app(self.shell, package, self._apps()[package], self.settings.command_seconds)

    def _apps(self) -> dict[str, str]:
        if self._launchable is None:
            self._launchable = launchable_apps(self.shell)
        return self._launchable
