"""Create the virtual device that emulators run, and the snapshot that episodes start from.

Both are done once: `distrl prepare-emulator`. The snapshot is taken of a ready phone, so that a
reset only has to load it. Apps that tasks need, accounts and ADBKeyboard are installed by hand
before it is taken, with `settings.window` on.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from distrl.devices.adb.adb import AdbServer
from distrl.devices.adb.android_tools import find_tool
from distrl.devices.emulator.emulator import Emulator, EmulatorSettings, ask_console
from distrl.devices.emulator.emulator_ports import EmulatorPorts
from distrl.errors import CommandRefused

CREATE_SECONDS = 600.0
SAVE_SECONDS = 300.0
DEFAULT_IMAGE = "system-images;android-34;google_apis;x86_64"


def create_virtual_device(name: str, image: str = DEFAULT_IMAGE, device: str = "pixel_6") -> None:
    """Run `avdmanager create avd`; an existing device is an error and left unchanged."""
    command = [str(find_tool("avdmanager")), "create", "avd"]
    command += ["--name", name, "--package", image, "--device", device]
    try:
        done = subprocess.run(
            command,
            input=b"no\n",  # to a custom hardware profile
            capture_output=True,
            timeout=CREATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandRefused(
            f"`{' '.join(command)}` took longer than {error.timeout:g} s"
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-400:]
        raise CommandRefused(
            f"`{' '.join(command)}` failed: {said}; is the image installed? "
            f'sdkmanager "{image}" fetches it'
        )


def save_snapshot(
    settings: EmulatorSettings, server: AdbServer, log: Path, ports: EmulatorPorts | None = None
) -> None:
    """Cold-boot the virtual device, wait until it is ready, and save a snapshot."""
    writable = replace(settings, read_only=False)
    emulator = Emulator(writable, server, (ports or EmulatorPorts()).reserve(), log)
    try:
        emulator.boot()
        command = f"avd snapshot save {settings.snapshot}"
        ask_console(emulator.ports.console, command, SAVE_SECONDS)
    finally:
        emulator.stop()
