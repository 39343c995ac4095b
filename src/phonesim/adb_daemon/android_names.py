"""The Android names of the simulated phone's parts: packages, activities, windows.

Every app is a package, `com.distrl.NAME` unless the phone's profile says otherwise, and each of its
pages an activity; `HomeActivity` is the one that a launcher starts. Keyboard, system UI and the
shell are separate packages.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from phonesim.state import LAUNCHER
from phonesim.system import InstalledApp

if TYPE_CHECKING:
    from phonesim.adb_daemon.handset import Handset

HOME_ACTIVITY = "HomeActivity"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
CLIPPER = "ca.zgrs.clipper"
SYSTEM_PACKAGES = ("android", "com.android.shell", "com.android.systemui")


def own_package(app: str) -> str:
    """Return an app's default package name; every part of it begins with a letter."""
    name = re.sub(r"[^a-z0-9]", "", app.casefold())
    if not app.isascii() or not name:  # several names may have the same ASCII letters
        name += token_of(app)
    return f"com.distrl.{name if name[0].isalpha() else f'app{name}'}"


def installed_packages(handset: Handset) -> dict[str, str]:
    """Return a map from package to app for the apps on this phone, the launcher included."""
    names = (LAUNCHER, *(app.name for app in handset.phone.facts.all(InstalledApp)))
    return {handset.package_of(name): name for name in names}


def activity_of(page: str) -> str:
    return "".join(part.capitalize() for part in page.split("_")) + "Activity"


def component_in_front(handset: Handset, short: bool = False) -> str:
    """Return package/activity of the page in front."""
    phone = handset.phone
    package = handset.package_of(phone.state.front)
    return component(package, activity_of(phone.routes[-1].page), short)


def component(package: str, activity: str, short: bool = False) -> str:
    return f"{package}/.{activity}" if short else f"{package}/{package}.{activity}"


def window_in_front(handset: Handset) -> str | None:
    """Return the focused window: an activity, the shade, the overview, or a system dialog.

    None while an app is starting: it is the focused app, but has no window yet.
    """
    state = handset.phone.state
    if handset.locked or not handset.awake:
        return "StatusBar"
    if handset.starting:
        return None
    if state.overlay == "shade":
        return "NotificationShade"
    if state.popup and state.popup.startswith("crash:"):
        return f"Application Error: {handset.package_of(state.popup.removeprefix('crash:'))}"
    if state.overlay == "recents":
        return component(handset.package_of(LAUNCHER), "RecentsActivity")
    return component_in_front(handset)


def token_of(name: str) -> str:
    """Return the seven hexadecimal digits that Android shows beside the name of an object."""
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()[:7]


def process_of(package: str) -> int:
    """Return a process id, always the same for a package."""
    return 2000 + int.from_bytes(hashlib.blake2b(package.encode(), digest_size=2).digest(), "big")
