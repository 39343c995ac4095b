"""Served simulated phones behind a real adb server: what the adb tests drive."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.devices.adb.adb_servers import OwnAdbServer, own_adb_server

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_device import AdbDevice, new_simulation
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.stillness import AT_ONCE
from distrl.errors import DeviceError
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.phone_server import PhoneServer

AT_ONCE_SETTINGS = AndroidDeviceSettings(
    stillness=AT_ONCE, reconnect_seconds=5.0, blank_seconds=0.2
)


@dataclass
class ServedPhones:
    """Phones, what serves them, and the adb server in between."""

    adb: OwnAdbServer
    phones: PhoneServer

    def link(self, number: int = 0) -> AdbLink:
        return self.adb.server.link(self.phones.addresses[number])

    def handset(self, number: int = 0) -> Handset:
        return self.phones.phones[number].handset

    def device(
        self, number: int = 0, settings: AndroidDeviceSettings = AT_ONCE_SETTINGS
    ) -> AdbDevice:
        return AdbDevice(f"phone-{number}", self.link(number), settings, new_simulation)


@contextmanager
def served_phones(count: int = 1, *, ask: bool = False) -> Iterator[ServedPhones]:
    with served_handsets([Handset(f"served-{n}") for n in range(count)], ask=ask) as served:
        yield served


@contextmanager
def served_handsets(handsets: Sequence[Handset], *, ask: bool = False) -> Iterator[ServedPhones]:
    with own_adb_server() as adb, PhoneServer(handsets, ask=ask) as phones:
        for address in phones.addresses:
            if ask:
                connect_to_a_phone_that_asks(adb, address)
            else:
                adb.server.connect(address)
                adb.server.link(address).wait_until_usable(10.0)
        yield ServedPhones(adb, phones)


def connect_to_a_phone_that_asks(adb: OwnAdbServer, address: str) -> None:
    """Whether adb calls it connected or not is a matter of timing; its state is not."""
    with suppress(DeviceError):
        adb.server.connect(address)
    end = time.monotonic() + 60.0
    while [each.state for each in adb.server.devices()] != ["unauthorized"]:
        assert time.monotonic() < end, "the phone did not ask"
        time.sleep(0.02)
