"""Find the programs of the Android SDK, and start the adb server.

The search order is: the PATH, the SDK that `ANDROID_HOME` or `ANDROID_SDK_ROOT` names, the default
locations of Android Studio, and, for `adb` only, the copy inside the package adbutils.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from distrl.devices.adb.adb import ADB_PORT, AdbServer
from distrl.errors import AdbServerGone, NotInstalled

Tool = Literal["adb", "emulator", "avdmanager"]
FOLDERS: dict[Tool, str] = {
    "adb": "platform-tools",
    "emulator": "emulator",
    "avdmanager": "cmdline-tools/latest/bin",
}
USUAL_SDKS = ("~/Android/Sdk", "~/Library/Android/sdk", "/opt/android-sdk")
START_SECONDS = 30.0


def find_tool(tool: Tool, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the program, or raise `NotInstalled`, which says how to get it."""
    found = shutil.which(tool, path=environment.get("PATH", os.defpath))
    if found:
        return Path(found)
    named = (environment.get(name) for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT"))
    for root in (*filter(None, named), *USUAL_SDKS):
        path = Path(root).expanduser() / FOLDERS[tool] / tool
        if os.access(path, os.X_OK):
            return path
    bundled = _bundled_adb() if tool == "adb" else None
    if bundled is not None:
        return bundled
    remedy = 'pip install "distrl[android]", or ' if tool == "adb" else ""
    raise NotInstalled(
        f"the program {tool} is neither on the PATH nor in an Android SDK; {remedy}install the "
        "SDK's command-line tools and set ANDROID_HOME (docs/real-phones.md)"
    )


def _bundled_adb() -> Path | None:
    """Return the copy in adbutils, located without importing that package, which is slow."""
    spec = importlib.util.find_spec("adbutils")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "binaries" / "adb"
        if os.access(path, os.X_OK):
            return path
    return None


def running_server(port: int = ADB_PORT) -> AdbServer:
    """Return the adb server on this port; start one if none runs."""
    server = AdbServer(port)
    try:
        server.version(seconds=5.0)
    except AdbServerGone:
        _start_server(port)
        server.version(seconds=5.0)
    return server


def _start_server(port: int) -> None:
    """Start the server, which outlives this process, as it does with any other tool."""
    command = [str(find_tool("adb")), "-P", str(port), "start-server"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=START_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AdbServerGone(
            f"`{' '.join(command)}` did not end within {START_SECONDS:g} s; try it by hand"
        ) from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise AdbServerGone(f"`{' '.join(command)}` failed: {said}")
