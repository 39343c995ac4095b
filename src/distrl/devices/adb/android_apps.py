"""The apps of a phone: resolve a name to a package or an icon, start an app, detect a crash.

The package manager does not give app labels to a shell, so `find_package` looks up a name
("Chrome", "com.android.chrome", "the settings") in this order: an installed package; the names
given by the phone's owner (`devices.android.app_names`); a list of well-known apps; a package that
has the name as one of its parts. If nothing matches it returns None. Icons on the home screen have
labels in the view hierarchy, where `find_icon` searches.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Collection, Mapping, Sequence

from distrl.devices.adb.adb import PATIENCE
from distrl.devices.adb.adb_shell import PhoneShell
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_state import Focus, focus
from distrl.errors import AppCrashed, CommandRefused
from distrl.hierarchy import Element, labelled_rows
from distrl.records import Action

LOOK_SECONDS = 0.02  # between two polls while an app is starting

# Several packages where vendors differ; the first installed one is used.
WELL_KNOWN: dict[str, tuple[str, ...]] = {
    "browser": (
        "com.android.chrome",
        "com.sec.android.app.sbrowser",
        "com.mi.globalbrowser",
        "org.chromium.webview_shell",
        "com.android.browser",
    ),
    "calculator": (
        "com.google.android.calculator",
        "com.sec.android.app.popupcalculator",
        "com.miui.calculator",
        "com.android.calculator2",
    ),
    "calendar": (
        "com.google.android.calendar",
        "com.samsung.android.calendar",
        "com.android.calendar",
    ),
    "camera": (
        "com.android.camera2",
        "com.google.android.GoogleCamera",
        "com.sec.android.app.camera",
        "com.android.camera",
    ),
    "chrome": ("com.android.chrome",),
    "clock": (
        "com.google.android.deskclock",
        "com.sec.android.app.clockpackage",
        "com.oneplus.deskclock",
        "com.coloros.alarmclock",
        "com.android.deskclock",
    ),
    "contacts": (
        "com.google.android.contacts",
        "com.samsung.android.app.contacts",
        "com.android.contacts",
    ),
    "dialler": ("com.google.android.dialer", "com.samsung.android.dialer", "com.android.dialer"),
    "files": (
        "com.google.android.documentsui",
        "com.sec.android.app.myfiles",
        "com.mi.android.globalFileexplorer",
        "com.android.fileexplorer",
        "com.android.documentsui",
    ),
    "gallery": (
        "com.google.android.apps.photos",
        "com.sec.android.gallery3d",
        "com.miui.gallery",
        "com.android.gallery3d",
    ),
    "gmail": ("com.google.android.gm",),
    "mail": ("com.google.android.gm", "com.samsung.android.email.provider", "com.android.email"),
    "maps": ("com.google.android.apps.maps",),
    "messages": (
        "com.google.android.apps.messaging",
        "com.samsung.android.messaging",
        "com.android.mms",
    ),
    "music": (
        "com.google.android.apps.youtube.music",
        "com.sec.android.app.music",
        "com.miui.player",
    ),
    "notes": ("com.google.android.keep", "com.samsung.android.app.notes", "com.miui.notes"),
    "phone": ("com.google.android.dialer", "com.samsung.android.dialer", "com.android.dialer"),
    "photos": ("com.google.android.apps.photos",),
    "play store": ("com.android.vending",),
    "settings": ("com.android.settings",),
    "store": ("com.android.vending", "com.sec.android.app.samsungapps", "com.xiaomi.mipicks"),
    "weather": ("com.sec.android.daemonapp", "com.miui.weather2"),
    "youtube": ("com.google.android.youtube",),
}


def find_package(
    name: str, installed: Collection[str], own_names: Mapping[str, str] | None = None
) -> str | None:
    """Return the installed package that a name refers to, or None."""
    if name in installed:
        return name
    wanted = " ".join(name.lower().split()).removeprefix("the ").removesuffix(" app")
    named = {key.lower(): package for key, package in (own_names or {}).items()}.get(wanted)
    candidates = ((named,) if named else ()) + WELL_KNOWN.get(wanted, ())
    for package in candidates:
        if package in installed:
            return package
    word = re.sub(r"[^a-z0-9]", "", wanted)
    fitting = [package for package in installed if word and word in package.lower().split(".")]
    return min(fitting, key=lambda package: (len(package), package), default=None)


def find_icon(elements: Sequence[Element], name: str) -> Element | None:
    """Return the clickable element of a home screen that has exactly this label, or None."""
    wanted = _folded(name)
    for each in labelled_rows(elements):
        if wanted and each.clickable and wanted in (_folded(each.text), _folded(each.detail)):
            return each
    return None


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


LAUNCHER_QUERY = (
    "cmd package query-activities --brief -a android.intent.action.MAIN "
    "-c android.intent.category.LAUNCHER"
)


def launchable_apps(shell: PhoneShell) -> dict[str, str]:
    """Return package -> activity. Before Android 7 only packages are listed: activity is empty."""
    listed = shell.shell(LAUNCHER_QUERY)
    found = (line.strip().partition("/") for line in listed.text.splitlines())
    apps = {package: activity for package, slash, activity in found if slash}
    if listed.code or not apps:
        lines = shell.run("pm", "list", "packages").splitlines()
        apps = {line.removeprefix("package:").strip(): "" for line in lines}
    if not apps:
        raise CommandRefused(f"device {shell.serial}: it lists no app at all")
    return apps


def start_app(shell: PhoneShell, package: str, activity: str, seconds: float = PATIENCE) -> None:
    """Start an app as the launcher would; a failure to start is not an error."""
    if activity:
        command = f"am start -n {shlex.quote(f'{package}/{activity}')}"
    else:
        command = f"monkey -p {shlex.quote(package)} -c android.intent.category.LAUNCHER 1"
    shell.shell(command, seconds)


def wait_for_app(shell: PhoneShell, package: str, before: Focus | None, seconds: float) -> None:
    """Wait until the app, a crash dialog or another package than before (a question) has focus."""
    deadline = Deadline(seconds)
    while not deadline.passed:
        found = focus(shell)
        if found is not None and not found.starting:
            if found.package == package or found.stopped:
                return
            if before is not None and found.package != before.package:
                return
        time.sleep(LOOK_SECONDS)


def wait_until_drawn(shell: PhoneShell, seconds: float) -> Focus | None:
    """Return the focus, once the app in front has a window: Android starts an app before its window
    is drawn.
    """
    deadline = Deadline(seconds)
    found = focus(shell)
    while found is not None and found.starting and not deadline.passed:
        time.sleep(LOOK_SECONDS)
        found = focus(shell)
    return found


def check_nothing_crashed(shell: PhoneShell, device: str, action: Action, seconds: float) -> None:
    """Raise `AppCrashed` if a crash dialog is in front once an action's app start is drawn."""
    found = wait_until_drawn(shell, seconds)
    if found is not None and found.stopped:
        raise AppCrashed(
            f"device {device}: {found.window}, after {type(action).__name__}; reset it"
        )
