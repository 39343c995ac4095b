"""`distrl prepare-emulator`: create a virtual device and the snapshot that episodes start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def prepare_emulator(
    avd: Annotated[
        str, typer.Option(help="Name of the virtual device. It is created if --image is given.")
    ] = "distrl",
    image: Annotated[
        str | None, typer.Option(help="SDK system image to create the virtual device from.")
    ] = None,
    snapshot: Annotated[str, typer.Option(help="Name of the snapshot to save.")] = "distrl",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the adb server.")] = 5037,
) -> None:
    """Create an emulator's virtual device and the snapshot that episodes start from."""
    from distrl.devices.adb.android_tools import running_server
    from distrl.devices.emulator.emulator import (
        EmulatorSettings,
        create_virtual_device,
        save_snapshot,
    )

    if image is not None:
        create_virtual_device(avd, image)
    log = Path("runs") / f"prepare-{avd}.log"
    save_snapshot(EmulatorSettings(avd, snapshot), running_server(port), log)
    typer.echo(f"snapshot {snapshot} of {avd} is ready")
