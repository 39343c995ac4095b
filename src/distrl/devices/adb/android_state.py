"""Query Android's state: focused window, wakefulness, lock screen, screen size, rotation.

Each function runs a command and parses its output with patterns for every format that Android
versions have used. A value that is not found is None, never a guess; the caller decides what that
means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from distrl.devices.adb.adb_shell import PhoneShell

FOCUS = re.compile(r"mCurrentFocus=Window\{[0-9a-f]+ (?:u\d+ )?([^}]+)\}")
NO_WINDOW = "mCurrentFocus=null"
FOCUSED_APP = re.compile(r"mFocusedApp=.*?\bu\d+ ([\w.]+/[\w.$]+)")
CRASH = re.compile(r"(Application Error|Application Not Responding): ([\w.]+)")
WAKEFULNESS = re.compile(r"mWakefulness=(\w+)")
LOCKED = re.compile(
    r"(?:mShowingLockscreen|mDreamingLockscreen|isStatusBarKeyguard|\bshowing)=true"
)
SIZE = re.compile(r"(Physical|Override) size: (\d+)x(\d+)")
ROTATION = re.compile(r"(?:mCurrentRotation=ROTATION_|mRotation=(?:ROTATION_)?)(\d+)")
SYSTEM_UI = "com.android.systemui"
SYSTEM_WINDOW = re.compile(r"NotificationShade|StatusBar|GlobalActions|ActionsDialog|PowerMenu")
FALLBACK = re.compile(r"^(?:name=)?([\w.]+)/([\w.$]+)$")


@dataclass(frozen=True, slots=True)
class Focus:
    """The window in front; for a crash dialog, `stopped` names the app that crashed."""

    window: str  # as Android names it: package/activity, or the title of a dialog
    package: str
    activity: str
    stopped: str = ""  # the package of an app that crashed or hangs
    starting: bool = False  # the app in front has no window yet: the screen shows another app

    @property
    def of_the_system(self) -> bool:
        """Whether the notification shade or the power menu covers the app."""
        return self.package == SYSTEM_UI or SYSTEM_WINDOW.search(self.window) is not None


def read_focus(dump: str) -> Focus | None:
    """Parse `dumpsys window`; return None while nothing has the focus (booting, switching)."""
    titles = FOCUS.findall(dump)
    app = FOCUSED_APP.search(dump)
    title = next((each for each in titles if each != "null"), "")
    if not title and app is None:
        return None
    crash = CRASH.search(title)
    component = FALLBACK.match(title)
    if component is None and app is not None:  # a dialog or the shade: take the app behind it
        component = FALLBACK.match(app[1])
    package, activity = component.groups() if component else (title, "")
    starting = not title and NO_WINDOW in dump
    return Focus(title or package, package, activity, crash[2] if crash else "", starting)


def focus(shell: PhoneShell) -> Focus | None:
    """Query the focus. Try the short dump first; before Android 10 only the long one has it."""
    found = read_focus(shell.shell("dumpsys window displays").text)
    return found or read_focus(shell.shell("dumpsys window").text)


def is_awake(shell: PhoneShell) -> bool | None:
    found = WAKEFULNESS.search(shell.shell("dumpsys power").text)
    return found[1] == "Awake" if found else None


def is_locked(shell: PhoneShell) -> bool:
    """Return whether the lock screen is shown; False if the phone does not report it."""
    return LOCKED.search(shell.shell("dumpsys window policy").text) is not None


def screen_size(shell: PhoneShell) -> tuple[int, int] | None:
    """Return width and height in portrait; an override takes precedence."""
    sizes = {kind: (int(w), int(h)) for kind, w, h in SIZE.findall(shell.shell("wm size").text)}
    return sizes.get("Override") or sizes.get("Physical")


def rotation(shell: PhoneShell) -> int | None:
    """Return the rotation in degrees; older phones report it in quarter turns."""
    found = ROTATION.search(shell.shell("dumpsys window displays").text)
    if found is None:
        return None
    number = int(found[1])
    return number * 90 if number < 4 else number


def is_emulated(properties: dict[str, str]) -> bool:
    """Return whether this is an emulator or a served phone; all others count as handsets."""
    if "1" in (properties.get("ro.boot.qemu"), properties.get("ro.kernel.qemu")):
        return True
    hardware = properties.get("ro.hardware", "")
    return hardware in {"goldfish", "ranchu", "cutf_cvm", "vbox86", "simulated"}
