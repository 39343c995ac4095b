"""A phone behind adb as a `Device`: a handset, an emulator, or a served simulated phone.

How clean a reset leaves the phone depends on `fresh_start`. An emulator loads its snapshot and a
served simulated phone restarts; both are clean afterwards. A handset is not clean: its apps are
stopped and it shows the home screen, but data that the last episode saved remains. An app's data is
cleared only if the phone's owner has named the app.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_shell import AdbShell, PhoneShell
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_device import (
    CARRY_SECONDS,
    AndroidDevice,
    AndroidDeviceSettings,
)
from distrl.devices.adb.android_state import is_awake, is_locked
from distrl.devices.adb.screen_capture import CAPTURES, Capture, fastest_capture
from distrl.errors import BrokenPicture, DeviceDisconnected, DeviceLocked
from distrl.records import Pixels

PICTURE_TRIES = 3  # attempts, if a picture arrives incomplete
HOME_KEY, WAKE_KEY = 3, 224
UNLOCK_SECONDS = 3.0

FreshStart = Callable[[PhoneShell, int], None]  # brings a phone to the start of an episode, by seed


def go_home(
    shell: PhoneShell,
    seed: int,  # noqa: ARG001
    *,
    stop: tuple[str, ...] = (),
    clear: tuple[str, ...] = (),
) -> None:
    """Reset a handset: stop the apps in `stop`, clear the data of those in `clear`, and go home."""
    wake_and_unlock(shell)
    for package in stop:
        shell.run("am", "force-stop", package)
    for package in clear:
        shell.run("pm", "clear", package)
    shell.run("input", "keyevent", str(HOME_KEY))


def new_simulation(shell: PhoneShell, seed: int) -> None:
    """Restart a simulated phone that is served over adb from the seed."""
    shell.run("cmd", "simulation", "reset", str(seed))


def wake_and_unlock(shell: PhoneShell) -> None:
    """Wake the screen and dismiss the lock screen; a PIN has to be entered by the owner."""
    if is_awake(shell) is False:
        shell.run("input", "keyevent", str(WAKE_KEY))
    if not is_locked(shell):
        return
    shell.shell("wm dismiss-keyguard")
    deadline = Deadline(UNLOCK_SECONDS)
    while is_locked(shell):  # during the animation; no sleep, since each query takes a while
        if not deadline.passed:
            continue
        raise DeviceLocked(
            f"device {shell.serial}: it is locked; unlock it by hand, or take its PIN off "
            "for as long as it is used for training"
        )


class AdbDevice(AndroidDevice):
    """Implements `Device` over our adb client."""

    def __init__(
        self,
        name: str,
        link: AdbLink,
        settings: AndroidDeviceSettings | None = None,
        fresh_start: FreshStart = go_home,
        captures: Sequence[Capture] = CAPTURES,  # candidates; the fastest is used
    ) -> None:
        super().__init__(name, settings)
        self.link = link
        self.fresh_start = fresh_start
        self.captures = captures
        self.capture: Capture | None = None  # the fastest capture, once measured
        self.capture_seconds: dict[str, float] = {}  # median time of every capture that works
        self._shell = AdbShell(link)

    @property
    def shell(self) -> AdbShell:
        return self._shell

    def close(self) -> None:
        self.shell.close()
        super().close()

    def _reach(self) -> None:
        self.shell.close()
        try:
            if self.link.state() == "device":
                return
        except DeviceDisconnected:
            pass  # `connect_again` raises with the reason
        self.link.connect_again(self.settings.reconnect_seconds)

    def _clean(self, seed: int) -> None:
        self.fresh_start(self.shell, seed)
        self._wake()

    def _wake(self) -> None:
        wake_and_unlock(self.shell)

    def _take(self) -> Pixels:
        if self.capture is None:
            self.capture, self.capture_seconds = fastest_capture(self.link, self.captures)
        for _ in range(PICTURE_TRIES - 1):
            try:
                return self.capture.take(self.link)
            except BrokenPicture:
                continue
        return self.capture.take(self.link)

    def _touch(self, x: float, y: float, to_x: float, to_y: float, seconds: float) -> None:
        start, end = self._pixels(x, y), self._pixels(to_x, to_y)
        if seconds:
            self._input("swipe", *start, *end, str(round(1000 * seconds)), seconds=seconds)
        else:
            self._input("tap", *start)

    def _carry(self, x: float, y: float, to_x: float, to_y: float) -> None:
        start, end = self._pixels(x, y), self._pixels(to_x, to_y)
        milliseconds = str(round(1000 * CARRY_SECONDS))
        self._input("draganddrop", *start, *end, milliseconds, seconds=CARRY_SECONDS)

    def _pixels(self, x: float, y: float) -> tuple[str, str]:
        """Convert shares to pixels of the picture that the agent saw (rotated like the phone)."""
        assert self._picture is not None
        height, width, _ = self._picture.shape
        return str(min(int(x * width), width - 1)), str(min(int(y * height), height - 1))
