"""The simulated phone on adb: `distrl phone serve`, and the classes that tests and tools use.

    with PhoneServer([Handset("phone 0", seed=3)]) as server:
        ...                              # adb connect to each of server.addresses

It implements the device side of the Android Debug Bridge on loopback, so the real `adb`, and any
tool built on it, works with it. It runs no process of the host and reads none of its files.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from distrl.errors import InvalidSetting
from phonesim.adb_daemon.authorization import Authorization
from phonesim.adb_daemon.connection import Limits
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.handset_profile import PLAIN, HandsetProfile
from phonesim.adb_daemon.phone_server import EMULATOR_PORTS, PhoneServer

__all__ = ["Authorization", "Handset", "HandsetProfile", "Limits", "PhoneServer", "serve_phones"]

MAX_PHONES = 64


def serve_phones(
    phones: int,
    port: int,
    seed: int,
    announce: Callable[[str], None],
    until: threading.Event | None = None,
    profile: HandsetProfile = PLAIN,
) -> None:
    """Serve phones with the seeds `seed`, `seed + 1`, … until the event is set, or Ctrl-C."""
    if not 1 <= phones <= MAX_PHONES:
        raise InvalidSetting(f"phones={phones}; one process serves 1 to {MAX_PHONES}")
    ports = range(port, port + phones)
    if port and (port < 1024 or ports[-1] > 65535 or set(ports) & set(EMULATOR_PORTS)):
        raise InvalidSetting(
            f"port={port} for {phones} phones: ports {ports[0]} to {ports[-1]} must lie between "
            f"1024 and 65535 and outside {EMULATOR_PORTS[0]} to {EMULATOR_PORTS[-1]}, where adb "
            "looks for emulators by itself; give another one, or 0 for any that are free"
        )
    handsets = [
        Handset(f"distrl-{seed + number}", seed + number, profile=profile)
        for number in range(phones)
    ]
    try:
        with PhoneServer(handsets, port) as server:
            for address in server.addresses:
                announce(f"adb connect {address}")
            (until or threading.Event()).wait()
    except KeyboardInterrupt:
        announce("stopped")
