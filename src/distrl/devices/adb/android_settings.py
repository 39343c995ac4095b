"""The settings of phones on adb: the section `devices.android` of a run's config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.devices.adb.adb import ADB_PORT
from distrl.devices.adb.stillness import StillnessSettings
from distrl.devices.emulator.emulator import EmulatorSettings
from distrl.devices.emulator.emulator_ports import FIRST_PORT, LAST_PORT, EmulatorPorts
from distrl.devices.safety.safety import SafetySettings
from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class AndroidSettings:
    """Handsets are always guarded by `safety`, other phones only with `guard_all`."""

    adb_port: Annotated[
        int, Bounds(1, 65_535, "(port of the adb server, which is started if none answers)")
    ] = ADB_PORT
    first_emulator_port: Annotated[
        int, Bounds(FIRST_PORT, LAST_PORT, "(even port of the first emulator; each takes two)")
    ] = FIRST_PORT
    guard_all: Annotated[bool, Meaning("guard emulators and served phones too")] = False
    stop_apps: Annotated[tuple[str, ...], Meaning("packages that a reset of a handset stops")] = ()
    clear_apps: Annotated[
        tuple[str, ...], Meaning("packages whose data a reset of a handset removes")
    ] = ()
    app_names: Annotated[Mapping[str, str], Meaning("the name of a package in instructions")] = (
        field(default_factory=dict)
    )
    stillness: StillnessSettings = field(default_factory=StillnessSettings)
    safety: SafetySettings = field(default_factory=SafetySettings)
    emulator: EmulatorSettings = field(default_factory=EmulatorSettings)

    def __post_init__(self) -> None:
        check_bounds(self)
        EmulatorPorts(self.first_emulator_port)  # raises if the port is odd
        if not set(self.clear_apps) <= set(self.safety.apps):
            raise InvalidSetting(
                f"clear_apps={list(self.clear_apps)}; only apps that safety.apps allows may be "
                "cleared"
            )
