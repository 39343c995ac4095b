"""Prepare a phone on adb for the next episode.

An emulator loads its snapshot and a served simulated phone restarts; both are clean afterwards. A
handset is not: its apps are stopped and it shows the home screen, but what the last episode saved
remains. An app's data is cleared only if the phone's owner has named the app.
"""

from __future__ import annotations

from collections.abc import Callable

from distrl.devices.adb.adb_shell import PhoneShell
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_state import is_awake, is_locked
from distrl.errors import DeviceLocked

HOME_KEY, WAKE_KEY = 3, 224
UNLOCK_SECONDS = 3.0


FreshStart = Callable[[PhoneShell, int], None]  # brings a phone to the start; with a seed


def go_home(
    shell: PhoneShell,
    seed: int,  # noqa: ARG001
    *,
    stop: tuple[str, ...] = (),
    clear: tuple[str, ...] = (),
) -> None:
    """For handsets: stop these packages, remove all data of those, and show the home screen."""
    wake_and_unlock(shell)
    for package in stop:
        shell.run("am", "force-stop", package)
    for package in clear:
        shell.run("pm", "clear", package)
    shell.run("input", "keyevent", str(HOME_KEY))


def new_simulation(shell: PhoneShell, seed: int) -> None:
    """For a simulated phone served over adb: restart it from the seed."""
    shell.run("cmd", "simulation", "reset", str(seed))


def wake_and_unlock(shell: PhoneShell) -> None:
    """Wake the screen and dismiss the lock screen; a PIN has to be entered by the owner."""
    if is_awake(shell) is False:
        shell.run("input", "keyevent", str(WAKE_KEY))
    if not is_locked(shell):
        return
    shell.shell("wm dismiss-keyguard")
    deadline = Deadline(UNLOCK_SECONDS)
    while is_locked(shell):  # while it animates; each query takes a while
        if not deadline.passed:
            continue
        raise DeviceLocked(
            f"device {shell.serial}: it is locked; unlock it by hand, or take its PIN off "
            "for as long as it is used for training"
        )
