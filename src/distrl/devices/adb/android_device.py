"""The base class of all devices with an Android shell.

A subclass implements how to connect to and clean the phone, how to take a picture and how to touch
the screen. Keys, text, apps, the view hierarchy and waiting use shell commands and are implemented
here. The class keeps the contract of `device.Device`: errors are typed, a failed device is out of
order until the next reset, and final actions never reach the phone. Nothing sleeps for a fixed
time: a step ends when the picture is still. `seconds` is real time spent waiting for the phone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Self

from distrl.devices.adb.adb_shell import PhoneShell
from distrl.devices.adb.android_apps import (
    check_nothing_crashed,
    find_icon,
    find_package,
    launchable_apps,
    start_app,
    wait_for_app,
)
from distrl.devices.adb.android_state import SYSTEM_UI, focus
from distrl.devices.adb.stillness import StillnessSettings, lit_picture
from distrl.devices.adb.uiautomator import HIERARCHY_SECONDS, dump_hierarchy, read_hierarchy
from distrl.devices.adb.unicode_typing import Typing, choose_typing
from distrl.devices.operating_state import OperatingState
from distrl.errors import ActionFailed, CommandRefused, DeviceTimeout, ScreenRestless
from distrl.hierarchy import Element
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    DoubleTap,
    DragAndDrop,
    Enter,
    Home,
    LongPress,
    OpenApp,
    OpenShade,
    Pinch,
    Pixels,
    Power,
    Recents,
    Screen,
    Swipe,
    Tap,
    TypeText,
    VolumeDown,
    VolumeUp,
    Wait,
)

KEYS: dict[type[Action], int] = {
    Back: 4, Home: 3, Enter: 66, Recents: 187, VolumeUp: 24, VolumeDown: 25, Power: 26,
}  # fmt: skip
SHADE = ("cmd", "statusbar", "expand-notifications")
ICON_READS = 2  # number of resets that try to read the home screen, until one succeeds
CARRY_SECONDS = 1.5  # long enough for Android to recognize a long press before the move
HOME_QUERY = (
    "cmd package resolve-activity --brief -a android.intent.action.MAIN "
    "-c android.intent.category.HOME"
)


@dataclass(frozen=True, slots=True)
class AndroidDeviceSettings:
    """Deadlines in seconds, and the owner's names for apps."""

    stillness: StillnessSettings = field(default_factory=StillnessSettings)
    reconnect_seconds: float = 30.0  # for a lost phone to come back, at a reset over adb
    command_seconds: float = 15.0
    launch_seconds: float = 5.0  # for an app to come to the front
    blank_seconds: float = 5.0  # a screen of one colour is polled for this long
    long_press_seconds: float = 0.8
    app_names: Mapping[str, str] = field(default_factory=dict)  # the owner's name -> package


class AndroidDevice(ABC):
    """Implements `Device`, except for the abstract methods that depend on the connection."""

    blocking = True
    ended = False  # if True: no more pictures or actions until the reset
    taps_icons = True  # open apps that no package name matches by their icon; off on guarded phones

    def __init__(self, name: str, settings: AndroidDeviceSettings | None) -> None:
        self.name = name
        self.settings = settings or AndroidDeviceSettings()
        self._state = OperatingState(name)
        self.typing: Typing | None = None
        self._picture: Pixels | None = None  # the last settled picture
        self._launchable: dict[str, str] | None = None  # package -> activity, which may be ""
        self._icons: tuple[Element, ...] = ()  # elements of the home screen at a reset
        self._icon_reads = 0
        self._untouched = False  # attached to, not reset

    # The connection ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def shell(self) -> PhoneShell: ...

    @abstractmethod
    def _reach(self) -> None:
        """Connect to the phone; reconnect if it was lost."""

    @abstractmethod
    def _clean(self, seed: int) -> None:
        """Bring the phone to the start of an episode."""

    @abstractmethod
    def _take(self) -> Pixels: ...

    @abstractmethod
    def _touch(self, x: float, y: float, to_x: float, to_y: float, seconds: float) -> None:
        """Move a finger; equal points and 0 seconds are a tap."""

    @abstractmethod
    def _wake(self) -> None:
        """Wake the screen, which may be asleep; called when the picture is blank."""

    # The whole device --------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Reconnect a lost phone, clean it as far as possible, and take a picture."""
        self._start(seed)

    def attach(self) -> None:
        """Connect and take a picture, instead of a reset; change nothing on the phone."""
        self._start(None)

    def _start(self, seed: int | None) -> None:
        self._state.begin_reset()
        self._launchable, self._untouched = None, seed is None
        with self.at_work():
            self._reach()
            if seed is not None:
                self._clean(seed)
                self.choose_typing()
            self._picture = self._settle(None)
            if seed is not None:
                self._read_icons()
            self._state.ready = True

    def choose_typing(self) -> None:
        """Choose the best way of typing that the phone supports, and set it up."""
        self.typing = choose_typing(self.shell)

    def close(self) -> None:
        self._state.close()
        self._picture = None

    @property
    def seconds(self) -> float:
        return self._state.seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at_work(self) -> AbstractContextManager[None]:
        """Count device time, and remember a failure until the next reset."""
        return self._state.at_work()

    # Seeing ------------------------------------------------------------------------------------

    def screen(self) -> Screen:
        self._state.check()
        if not self.ended:
            with self.at_work():
                self._picture = self._settle(None)
        assert self._picture is not None
        return Screen(self._picture)

    def elements(self) -> tuple[Element, ...]:
        """Return the elements on the screen; uiautomator itself waits for it to settle."""
        self._state.check()
        with self.at_work():
            return self._elements()

    def _elements(self) -> tuple[Element, ...]:
        dump = dump_hierarchy(self.shell, HIERARCHY_SECONDS)
        return read_hierarchy(dump, self.shell.serial)

    def front_package(self) -> str:
        """Return the package in front; empty while nothing has the focus."""
        self._state.check()
        with self.at_work():
            found = focus(self.shell)
        if found is not None and found.of_the_system:
            return SYSTEM_UI
        return found.package if found else ""

    def _settle(self, before: Pixels | None) -> Pixels:
        return lit_picture(
            self._take,
            before,
            self.settings.stillness,
            device=self.name,
            blank_seconds=self.settings.blank_seconds,
            wake=(lambda: None) if self._untouched else self._wake,
        )

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> Screen:
        self._state.check()
        assert self._picture is not None
        if self.ended or isinstance(action, ONLY_SAID):
            return Screen(self._picture)
        with self.at_work():
            self._do(action)
            launch_seconds = self.settings.launch_seconds
            check_nothing_crashed(self.shell, self.name, action, launch_seconds)
            self._picture = self._settle(self._picture)
        return Screen(self._picture)

    def _do(self, action: Action) -> None:
        match action:
            case Tap(x, y):
                self._touch(x, y, x, y, 0.0)
            case LongPress(x, y):
                self._touch(x, y, x, y, self.settings.long_press_seconds)
            case Swipe(x, y, to_x, to_y, seconds):
                self._touch(x, y, to_x, to_y, seconds)
            case DoubleTap(x, y):
                self._touch(x, y, x, y, 0.0)
                self._touch(x, y, x, y, 0.0)
            case DragAndDrop(x, y, to_x, to_y):
                self._carry(x, y, to_x, to_y)
            case Pinch():
                raise ActionFailed(
                    f"device {self.shell.serial}: a shell has one finger and cannot pinch; "
                    "use the app's own zoom buttons, or DoubleTap"
                )
            case OpenShade():
                self.shell.run(*SHADE, seconds=self.settings.command_seconds)
            case action if type(action) in KEYS:
                self._input("keyevent", str(KEYS[type(action)]))
            case TypeText(text):
                assert self.typing is not None
                if text:
                    self.typing(self.shell, text)
            case OpenApp(name):
                self._open_app(name)
            case Wait(seconds):  # on the phone's own clock
                self.shell.run("sleep", f"{seconds:g}", seconds=seconds + 10.0)

    def _carry(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Drag and drop. The default is a slow swipe, for connections without a drag command."""
        self._touch(x, y, to_x, to_y, CARRY_SECONDS)

    def _input(self, *arguments: str, seconds: float = 0.0) -> None:
        self.shell.run("input", *arguments, seconds=self.settings.command_seconds + seconds)

    # Apps --------------------------------------------------------------------------------------

    def package_of(self, name: str) -> str | None:
        """Return the installed package that a name refers to, or None."""
        self._state.check()
        with self.at_work():
            return find_package(name, self._apps(), self.settings.app_names)

    def home_package(self) -> str:
        """Return the launcher's package; empty if the phone does not report it."""
        self._state.check()
        with self.at_work():
            return self._home_package()

    def _home_package(self) -> str:
        said = self.shell.shell(HOME_QUERY, self.settings.command_seconds).text
        return said.strip().rpartition("\n")[2].partition("/")[0].strip() if "/" in said else ""

    def _read_icons(self) -> None:
        """Remember the home screen's elements; if they cannot be read, the reset still succeeds."""
        if self.taps_icons and not self._icons and self._icon_reads < ICON_READS:
            self._icon_reads += 1
            self._icons = self._home_screen()

    def _home_screen(self) -> tuple[Element, ...]:
        """Return the elements of the home screen; none if it is not shown or cannot be read."""
        found = focus(self.shell)
        if found is None or found.package != self._home_package():
            return ()
        try:
            return self._elements()
        except (CommandRefused, ScreenRestless, DeviceTimeout):
            return ()

    def _open_app(self, name: str) -> None:
        """Start an app and wait until it is in front, which may take seconds."""
        apps = self._apps()
        package = find_package(name, apps, self.settings.app_names)
        if package is None:
            self._tap_icon(name)
            return
        before = focus(self.shell)
        start_app(self.shell, package, apps[package], self.settings.command_seconds)
        wait_for_app(self.shell, package, before, self.settings.launch_seconds)

    def _tap_icon(self, name: str) -> None:
        """Go home and tap the icon with this label, if it was there when the phone was reset."""
        if not self.taps_icons or find_icon(self._icons, name) is None:
            nor = ", nor anything on its home screen" if self.taps_icons and self._icons else ""
            raise ActionFailed(
                f"device {self.shell.serial}: none of its {len(self._apps())} apps is called "
                f"{name[:40]!r}{nor}; name the package in devices.android.app_names"
            )
        self._input("keyevent", str(KEYS[Home]))
        wait_for_app(self.shell, self._home_package(), None, self.settings.launch_seconds)
        self._picture = self._settle(self._picture)
        icon = find_icon(self._home_screen(), name)
        if icon is None:  # it is gone: the agent sees the home screen
            return
        before = focus(self.shell)
        height, width, _ = self._picture.shape
        x, y = (icon.centre[0] + 0.5) / width, (icon.centre[1] + 0.5) / height
        self._touch(x, y, x, y, 0.0)
        wait_for_app(self.shell, "", before, self.settings.launch_seconds)

    def _apps(self) -> dict[str, str]:
        if self._launchable is None:
            self._launchable = launchable_apps(self.shell)
        return self._launchable
