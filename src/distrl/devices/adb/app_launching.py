"""Which apps a phone could start, starting one, and noticing that one fell over: by its shell."""

from __future__ import annotations

import shlex

from distrl.devices.adb.adb import PATIENCE
from distrl.devices.adb.android_state import focus
from distrl.devices.adb.phone_shell import PhoneShell
from distrl.errors import AppCrashed, CommandRefused
from distrl.records import Action

LAUNCHER_QUERY = (
    "cmd package query-activities --brief -a android.intent.action.MAIN "
    "-c android.intent.category.LAUNCHER"
)


def launchable_apps(shell: PhoneShell) -> dict[str, str]:
    """Package -> activity. Phones before Android 7 only list packages: no activity there."""
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
    """As the launcher would; one that cannot start does not."""
    if activity:
        command = f"am start -n {shlex.quote(f'{package}/{activity}')}"
    else:
        command = f"monkey -p {shlex.quote(package)} -c android.intent.category.LAUNCHER 1"
    shell.shell(command, seconds)


def check_nothing_crashed(shell: PhoneShell, device: str, action: Action) -> None:
    """`AppCrashed` where a crash dialog stands in front after an action."""
    found = focus(shell)
    if found is not None and found.stopped:
        raise AppCrashed(
            f"device {device}: {found.window}, after {type(action).__name__}; reset it"
        )
