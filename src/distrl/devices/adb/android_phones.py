"""Open the device behind a serial: handsets are wrapped in `SafeDevice` (in a dry run every phone),
served simulated phones in `SimulatedAdbDevice`. A phone that does not report being emulated is
treated as a handset.
"""

from __future__ import annotations

import os
import socket
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import quote

from distrl.devices.adb.adb import AdbServer
from distrl.devices.adb.adb_device import AdbDevice, FreshStart, go_home, new_simulation
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.devices.adb.android_state import is_emulated
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.adb.stillness import AT_ONCE, StillnessSettings
from distrl.devices.emulator.emulator import Emulator
from distrl.devices.emulator.emulator_pool import EmulatorPool, EmulatorPoolSettings
from distrl.devices.emulator.emulator_ports import EmulatorPorts, try_lock
from distrl.devices.emulator.process_watch import ProcessWatch
from distrl.devices.safety.safety import SafeDevice, read_consent
from distrl.errors import DeviceDisconnected, InvalidSetting
from distrl.private_folder import make_private

AdbPhone = AdbDevice | SafeDevice | SimulatedAdbDevice
SERVED = "simulated"  # what `ro.hardware` says on a served simulated phone


def choose_serials(server: AdbServer, named: tuple[str, ...], wanted: int) -> tuple[str, ...]:
    """Return the named serials, or the first usable ones; raise if there are too few."""
    if named:
        return named[:wanted]
    listed = server.devices()
    usable = tuple(each.serial for each in listed if each.usable)
    if len(usable) < wanted:
        states = ", ".join(f"{each.serial} ({each.state})" for each in listed) or "none at all"
        raise InvalidSetting(
            f"{wanted} phones are wanted and adb lists: {states}; connect more, or lower "
            "devices.count and devices.spares (`distrl devices` shows what each lacks)"
        )
    return usable[:wanted]


def reserve_serials(
    server: AdbServer, named: tuple[str, ...], wanted: int, opened: ExitStack
) -> tuple[str, ...]:
    """Reserve usable phones of this machine (of the named ones, if any) until `opened` closes.

    A lock on a file for each serial, which every DistRL process of this user respects, and which
    goes away with the process that holds it.
    """
    folder = make_private(Path(tempfile.gettempdir()) / f"distrl-phones-{os.getuid()}")
    listed = [each for each in server.devices() if not named or each.serial in named]
    free: list[str] = []
    for each in listed:
        if len(free) < wanted and each.usable:
            lock = try_lock(folder / quote(each.serial, safe=""))
            if lock >= 0:
                opened.callback(os.close, lock)
                free.append(each.serial)
    if len(free) < wanted:
        states = ", ".join(f"{each.serial} ({each.state})" for each in listed) or "none at all"
        raise InvalidSetting(
            f"{wanted} phones are wanted on {socket.gethostname()}, {len(free)} are free, and adb "
            f"lists there: {states}; connect more, or join the cluster with as many as there are: "
            f"distrl cluster join HEAD:PORT --resource phone={len(listed)}"
        )
    return tuple(free)


def open_phone(name: str, serial: str, server: AdbServer, settings: AndroidSettings) -> AdbPhone:
    """Return the device behind a serial, not reset yet; a lost one is connected first."""
    link = server.link(serial)
    try:
        link.state()
    except DeviceDisconnected:
        link.connect_again(30.0)
    properties = link.properties()
    served = properties.get("ro.hardware") == SERVED
    handset = not is_emulated(properties)
    fresh: FreshStart = new_simulation if served else go_home
    if handset:
        fresh = partial(go_home, stop=settings.stop_apps, clear=settings.clear_apps)
    still = settings.stillness
    if served and still == StillnessSettings():
        still = AT_ONCE  # a served phone draws at once
    device = AdbDevice(
        name, link, AndroidDeviceSettings(stillness=still, app_names=settings.app_names), fresh
    )
    if handset or settings.guard_all or settings.safety.dry_run:
        return SafeDevice(device, settings.safety, partial(read_consent, serial))
    return SimulatedAdbDevice(device) if served else device


def emulator_pool(
    server: AdbServer,
    settings: AndroidSettings,
    count: int,
    spares: int,
    logs: Path,
    watch: ProcessWatch | None = None,
) -> EmulatorPool:
    """A pool of emulators on reserved ports; entering it starts them."""
    ports = EmulatorPorts(settings.first_emulator_port)

    def new_emulator() -> Emulator:
        pair = ports.reserve()
        log = logs / f"emulator-{pair.console}.log"
        return Emulator(settings.emulator, server, pair, log, watch)

    return EmulatorPool(new_emulator, EmulatorPoolSettings(count=count, spares=spares))
