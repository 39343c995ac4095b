"""A phone behind adb as a `Device`: a handset, an emulator, or a served simulated phone.

How clean a reset leaves the phone depends on `fresh_start`: an emulator loads its snapshot; a
handset can only stop its apps and go home, which is not the clean phone of a simulation.
"""

from __future__ import annotations

from collections.abc import Sequence

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.android_device import AndroidDevice, AndroidDeviceSettings
from distrl.devices.adb.fresh_start import FreshStart, go_home, wake_and_unlock
from distrl.devices.adb.screen_capture import CAPTURES, Capture, fastest_capture
from distrl.errors import BrokenPicture, DeviceDisconnected
from distrl.records import Pixels

PICTURE_TRIES = 3  # when one arrives incomplete


class AdbDevice(AndroidDevice):
    """Implements `Device` over our adb client."""

    def __init__(
        self,
        name: str,
        link: AdbLink,
        settings: AndroidDeviceSettings | None = None,
        fresh_start: FreshStart = go_home,
        captures: Sequence[Capture] = CAPTURES,  # the fastest of these is used
    ) -> None:
        super().__init__(name, settings)
        self.link = link
        self.fresh_start = fresh_start
        self.captures = captures
        self.capture: Capture | None = None  # the fastest, once measured
        self.capture_seconds: dict[str, float] = {}  # of every capture that works
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
            pass  # connecting again tells why
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

    def _pixels(self, x: float, y: float) -> tuple[str, str]:
        """Convert to pixels of the picture that the agent saw (rotated like the phone)."""
        assert self._picture is not None
        height, width, _ = self._picture.shape
        return str(min(int(x * width), width - 1)), str(min(int(y * height), height - 1))
