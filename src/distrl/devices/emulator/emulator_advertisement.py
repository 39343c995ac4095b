"""What a running emulator says about itself: a small file for each, with its ports and its token.

The emulator writes `avd/running/pid_NUMBER.ini` into a folder that only its user can read, and
there stands how its gRPC service is reached. One that was killed leaves its file behind, so the
newest that names the console port counts. Read by whoever wants pictures of an emulator.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EmulatorAdvertisement:
    """How the gRPC service of one emulator is reached."""

    grpc_port: int
    token: str = field(default="", repr=False)  # empty: the service wants none


def advertisement_of(console: int) -> EmulatorAdvertisement | None:
    """Of the emulator with this console port; None when there is none with a gRPC service."""
    for path in sorted(_files(), key=_written, reverse=True):
        said = _read(path)
        if said.get("port.serial") == str(console) and said.get("grpc.port", "").isdecimal():
            return EmulatorAdvertisement(int(said["grpc.port"]), said.get("grpc.token", ""))
    return None


def _files() -> Iterator[Path]:
    for root in dict.fromkeys(_roots()):
        yield from (root / "avd" / "running").glob("pid_*.ini")


def _roots() -> Iterator[Path]:
    """On Linux the first that there is, on a Mac the one below Library; else the SDK's own."""
    if os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(os.environ["XDG_RUNTIME_DIR"])
    yield Path(f"/run/user/{os.getuid()}")
    yield Path.home() / "Library" / "Caches" / "TemporaryItems"
    if os.environ.get("ANDROID_EMULATOR_HOME"):
        yield Path(os.environ["ANDROID_EMULATOR_HOME"])
    for name in ("ANDROID_PREFS_ROOT", "ANDROID_SDK_HOME"):
        if os.environ.get(name):
            yield Path(os.environ[name]) / ".android"
    yield Path.home() / ".android"


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # its emulator has just ended
        return 0.0


def _read(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:  # gone, or somebody else's
        return {}
    pairs = (line.partition("=") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}
