"""Open the device with a given adb serial.

Handsets (in a dry run: all phones) are wrapped in `SafeDevice`, served simulated phones in
`SimulatedAdbDevice`. A phone that does not report being emulated is treated as a handset.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from distrl.devices.adb.adb import AdbServer
from distrl.devices.adb.adb_device import AdbDevice, FreshStart, go_home, new_simulation
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.devices.adb.android_state import is_emulated
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.adb.stillness import AT_ONCE, StillnessSettings
from distrl.devices.emulator.emulator import Emulator
from distrl.devices.emulator.emulator_pool import EmulatorPool, EmulatorPoolSettings
from distrl.devices.emulator.emulator_ports import EmulatorPorts
from distrl.devices.emulator.process_watch import ProcessWatch
from distrl.devices.safety.safety import SafeDevice, read_consent
from distrl.errors import DeviceDisconnected

AdbPhone = AdbDevice | SafeDevice | SimulatedAdbDevice
SERVED = "simulated"  # value of `ro.hardware` on a served simulated phone
DRAWS_AT_ONCE = "ro.distrl.draws_at_once"  # property of served phones without simulated latency


def open_phone(name: str, serial: str, server: AdbServer, settings: AndroidSettings) -> AdbPhone:
    """Return the device with this serial, not reset yet; reconnect it first if it was lost."""
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
    if properties.get(DRAWS_AT_ONCE) == "1" and served and still == StillnessSettings():
        still = AT_ONCE
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
    """Create a pool of emulators on reserved ports; entering its context starts them."""
    ports = EmulatorPorts(settings.first_emulator_port)

    def new_emulator() -> Emulator:
        pair = ports.reserve()
        log = logs / f"emulator-{pair.console}.log"
        return Emulator(settings.emulator, server, pair, log, watch)

    return EmulatorPool(new_emulator, EmulatorPoolSettings(count=count, spares=spares))
