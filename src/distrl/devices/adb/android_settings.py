"""What a run says about its phones on adb: the section `devices.android` of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from distrl.devices.adb.adb import ADB_PORT
from distrl.devices.adb.stillness import StillnessSettings
from distrl.devices.emulator.emulator import EmulatorSettings
from distrl.devices.emulator.emulator_ports import FIRST_PORT, EmulatorPorts
from distrl.devices.safety.safety import SafetySettings
from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class AndroidSettings:
    """Handsets are guarded by `safety` in any case; others only if `guard_all` says so."""

    adb_port: int = ADB_PORT  # of the adb server; it is started if nobody answers there
    first_emulator_port: int = FIRST_PORT  # of those that we start; even, each takes two
    guard_all: bool = False  # emulators and served phones too
    stop_apps: tuple[str, ...] = ()  # packages that a reset of a handset stops
    clear_apps: tuple[str, ...] = ()  # packages whose data a reset of a handset removes
    app_names: Mapping[str, str] = field(default_factory=dict)  # what the owner calls a package
    stillness: StillnessSettings = field(default_factory=StillnessSettings)
    safety: SafetySettings = field(default_factory=SafetySettings)
    emulator: EmulatorSettings = field(default_factory=EmulatorSettings)

    def __post_init__(self) -> None:
        if not 1 <= self.adb_port <= 65535:
            raise InvalidSetting(f"adb_port={self.adb_port}; give a port from 1 to 65535")
        EmulatorPorts(self.first_emulator_port)  # raises, and says which would do
        if not set(self.clear_apps) <= set(self.safety.apps):
            raise InvalidSetting(
                f"clear_apps={list(self.clear_apps)}; only apps that safety.apps allows may be "
                "cleared"
            )
