"""Puts the stand-ins for `emulator` and `avdmanager` on the PATH, beside a real adb server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.devices.adb.adb_servers import OwnAdbServer, own_adb_server
from tests.devices.emulator.stand_in_emulator import TOKEN

from distrl.devices.emulator.emulator import TOKEN_FILE, Emulator, EmulatorSettings
from distrl.devices.emulator.emulator_ports import EmulatorPorts

ROOT = Path(__file__).parents[3]
# Above what an adb server looks at by itself, so that servers of other tests never meet these.
PORTS = EmulatorPorts(5600, 5680)


@dataclass
class StandInSdk:
    """The folder of the stand-ins, and the adb server that they announce themselves to."""

    folder: Path
    adb: OwnAdbServer

    def plan(self, *behaviours: str) -> None:
        """What the next emulators do; `stand_in_emulator` says what there is."""
        (self.folder / "plan.json").write_text(json.dumps(behaviours))

    @property
    def starts(self) -> list[str]:
        """The words of every start so far."""
        path = self.folder / "starts.txt"
        return path.read_text().splitlines() if path.exists() else []

    def emulator(self, *, boot_seconds: float = 30.0, snapshot_seconds: float = 60.0) -> Emulator:
        settings = EmulatorSettings(
            avd="phone",
            boot_seconds=boot_seconds,
            snapshot_seconds=snapshot_seconds,
            answer_seconds=2.0,
        )
        pair = PORTS.reserve()
        log = self.folder / f"emulator-{pair.console}.log"
        return Emulator(settings, self.adb.server, pair, log)


@contextmanager
def stand_in_sdk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInSdk]:
    programs = folder / "bin"
    programs.mkdir()
    for name in ("emulator", "avdmanager"):
        path = programs / name
        command = f'exec "{sys.executable}" -m tests.devices.emulator.stand_in_emulator {name} "$@"'
        path.write_text(f'#!/bin/sh\ncd "{ROOT}" && {command}\n')
        path.chmod(0o755)
    (folder / TOKEN_FILE).write_text(f"{TOKEN}\n")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setenv("STAND_IN", str(folder))
    monkeypatch.setattr("distrl.devices.emulator.emulator.STOP_SECONDS", 0.5)
    with own_adb_server() as adb:
        yield StandInSdk(folder, adb)
