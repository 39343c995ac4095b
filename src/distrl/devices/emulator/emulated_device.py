"""A device backed by whichever healthy emulator of a pool it is given.

To a collector it is one phone with one name. An emulator that crashed or hangs is returned to the
pool at the next reset and replaced by a booted spare; the interrupted episode ends with a device
error, as on any device.
"""

from __future__ import annotations

from typing import Self

from distrl.devices.adb.adb_device import AdbDevice
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.screen_capture import CAPTURES
from distrl.devices.emulator.emulator import Emulator
from distrl.devices.emulator.emulator_pictures import EmulatorPictures
from distrl.devices.emulator.emulator_pool import EmulatorPool
from distrl.errors import DeviceError, DeviceNotReady
from distrl.hierarchy import Element
from distrl.records import Action, Screen


class EmulatedDevice:
    """Implements `Device` by an `AdbDevice` on an emulator of the pool."""

    def __init__(
        self,
        name: str,
        pool: EmulatorPool,
        settings: AndroidDeviceSettings | None = None,
        take_seconds: float = 300.0,
    ) -> None:
        self.name = name
        self._pool = pool
        self._settings = settings
        self._take_seconds = take_seconds
        self._emulator: Emulator | None = None
        self._phone: AdbDevice | None = None
        self._pictures: EmulatorPictures | None = None

    @property
    def serial(self) -> str:
        """Serial of its current emulator; empty before the first reset."""
        return self._emulator.serial if self._emulator else ""

    @property
    def seconds(self) -> float:
        return self._phone.seconds if self._phone else 0.0

    def reset(self, seed: int) -> None:
        """Load the snapshot; an emulator that does not answer, or cannot do that, is replaced."""
        if self._emulator is None or not self._emulator.answers():
            self._replace()
        try:
            self._here().reset(seed)
        except DeviceError:
            self._replace()
            self._here().reset(seed)

    def _replace(self) -> None:
        self._hand_back(healthy=False)
        emulator = self._pool.take(self._take_seconds)
        self._emulator = emulator
        self._pictures = emulator.pictures()
        ways = (*CAPTURES, self._pictures) if self._pictures is not None else CAPTURES
        self._phone = AdbDevice(
            self.name, emulator.link, self._settings, emulator.fresh_start, ways
        )

    def _hand_back(self, *, healthy: bool) -> None:
        if self._phone is not None:
            self._phone.close()
        if self._pictures is not None:
            self._pictures.close()
        if self._emulator is not None:
            self._pool.give_back(self._emulator, healthy=healthy)
        self._emulator = self._phone = self._pictures = None

    def screen(self) -> Screen:
        return self._here().screen()

    def perform(self, action: Action) -> Screen:
        return self._here().perform(action)

    def elements(self) -> tuple[Element, ...]:
        return self._here().elements()

    def close(self) -> None:
        """Return the emulator to the pool, for reuse if it answers."""
        self._hand_back(healthy=self._emulator is not None and self._emulator.answers())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _here(self) -> AdbDevice:
        if self._phone is None:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
        return self._phone
