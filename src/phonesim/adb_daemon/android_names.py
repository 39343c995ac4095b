"""What the parts of the simulated phone are called on Android: packages, activities, windows.

Every app is a package `com.distrl.NAME`, every page of it an activity; `HomeActivity` is the one
that a launcher starts. Keyboard, system UI and the shell are packages of their own.
"""

from __future__ import annotations

import hashlib
import re

from phonesim.apps import APPS
from phonesim.phone import Phone
from phonesim.state import LAUNCHER
from phonesim.system import InstalledApp

HOME_ACTIVITY = "HomeActivity"
PHONE_KEYBOARD = "com.distrl.keyboard/.KeyboardService"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
CLIPPER = "ca.zgrs.clipper"
SYSTEM_PACKAGES = ("android", "com.android.shell", "com.android.systemui", "com.distrl.keyboard")


def package_of(app: str) -> str:
    return "com.distrl." + re.sub(r"[^a-z0-9]", "", app.casefold())


PACKAGES: dict[str, str] = {package_of(app): app for app in (LAUNCHER, *APPS)}


def installed_packages(phone: Phone) -> dict[str, str]:
    """Package: app, of what is on this phone, the launcher included."""
    names = (LAUNCHER, *(app.name for app in phone.facts.all(InstalledApp)))
    return {package_of(name): name for name in names}


def activity_of(page: str) -> str:
    return "".join(part.capitalize() for part in page.split("_")) + "Activity"


def component_in_front(phone: Phone, short: bool = False) -> str:
    """package/activity of the page in front."""
    package = package_of(phone.state.front)
    return component(package, activity_of(phone.routes[-1].page), short)


def component(package: str, activity: str, short: bool = False) -> str:
    return f"{package}/.{activity}" if short else f"{package}/{package}.{activity}"


def window_in_front(phone: Phone) -> str:
    """What has the focus: an activity, the shade, the overview, or a dialog of the system."""
    state = phone.state
    if state.overlay == "shade":
        return "NotificationShade"
    if state.popup and state.popup.startswith("crash:"):
        return f"Application Error: {package_of(state.popup.removeprefix('crash:'))}"
    if state.overlay == "recents":
        return f"{package_of(LAUNCHER)}/{package_of(LAUNCHER)}.RecentsActivity"
    return component_in_front(phone)


def token_of(name: str) -> str:
    """The seven hexadecimal digits that Android shows beside the name of an object."""
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()[:7]


def process_of(package: str) -> int:
    """A process number, the same each time."""
    return 2000 + int.from_bytes(hashlib.blake2b(package.encode(), digest_size=2).digest(), "big")
