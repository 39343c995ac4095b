"""The settings of phones on adb: the section `devices.android` of a run's config."""

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
    """Handsets are always guarded by `safety`, other phones only with `guard_all`."""

    adb_port: int = ADB_PORT  # of the adb server, which is started if none runs
    first_emulator_port: int = FIRST_PORT  # of emulators that we start; even, each takes two ports
    guard_all: bool = False  # guard emulators and served phones too
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
