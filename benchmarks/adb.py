"""What does an operation over adb cost? `make bench-adb` answers, side by side in one run.

The phone is our simulated one, served on adb; between it and every client stands the same real adb
server, on a port of its own. Clients: ours, a process of `adb` for each call, adbutils, and where
it is installed adb-shell, which talks to the phone without the server. The clients take turns call
by call, so that whatever else the machine does falls on all of them alike.

The keys are OP_p50_ms and OP_p95_ms for our client and OP_CLIENT_p50_ms for the others; ours goes
through the shell that stays open, and `fresh_shell` opens one for each call.
"""

from __future__ import annotations

import argparse
import importlib
import os
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.results_file import write_results
from distrl.devices.adb import AdbLink, AdbServer
from distrl.devices.adb_device import AdbDevice, AdbDeviceSettings
from distrl.devices.adb_server import Handset, PhoneServer
from distrl.devices.adb_shell import AdbShell
from distrl.devices.android_tools import find_tool
from distrl.devices.fresh_start import NewSimulation
from distrl.devices.screen_capture import Framebuffer, PngScreencap, RawScreencap
from distrl.devices.stillness import AT_ONCE
from distrl.devices.uiautomator import dump_hierarchy, read_hierarchy
from distrl.errors import DeviceError
from distrl.records import Tap

CONSOLE = Console()
Operations = dict[str, Callable[[], object]]
OPERATIONS = ("echo", "tap", "screencap", "hierarchy", "push_1mb")
MEGABYTE = bytes(2**20)
FILE = "/sdcard/Download/bench.bin"


@contextmanager
def adb_server() -> Iterator[AdbServer]:
    """A real server with a port and a home of its own, ended by its process id."""
    with tempfile.TemporaryDirectory() as home, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        own = {"HOME": home, "ADB_MDNS": "0", "ANDROID_ADB_SERVER_PORT": str(port)}
        process = subprocess.Popen(
            [find_tool("adb"), "-L", f"tcp:localhost:{port}", "nodaemon", "server"],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _answering(AdbServer(port))
        finally:
            process.kill()
            process.wait()


def _answering(server: AdbServer) -> AdbServer:
    end = time.monotonic() + 20.0
    while True:
        try:
            server.version(5.0)
            return server
        except DeviceError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


# The clients -------------------------------------------------------------------------------------


def ours(link: AdbLink, shell: AdbShell) -> Operations:
    return {
        "echo": lambda: shell.run("echo", "well"),
        "tap": lambda: shell.run("input", "tap", "180", "20"),
        "screencap": lambda: PngScreencap().take(link),
        "screencap_raw": lambda: RawScreencap().take(link),
        "framebuffer": lambda: Framebuffer().take(link),
        "hierarchy": lambda: read_hierarchy(dump_hierarchy(shell, 20.0), link.serial),
        "push_1mb": lambda: link.push(MEGABYTE, FILE),
    }


def fresh_shell(link: AdbLink) -> Operations:
    return {
        "echo": lambda: link.shell("echo well"),
        "tap": lambda: link.shell("input tap 180 20"),
    }


def step_of(device: AdbDevice) -> Operations:
    """A whole step as a collector has it: the tap, the crash check and the new screen."""
    return {"step": lambda: device.perform(Tap(0.5, 0.03))}


def adb_processes(server: AdbServer, serial: str, folder: Path) -> Operations:
    program = str(find_tool("adb"))
    file = folder / "megabyte.bin"
    file.write_bytes(MEGABYTE)

    def call(*words: str) -> bytes:
        command = [program, "-P", str(server.port), "-s", serial, *words]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def hierarchy() -> bytes:
        call("shell", "uiautomator", "dump", "/data/local/tmp/bench.xml")
        return call("exec-out", "cat", "/data/local/tmp/bench.xml")

    return {
        "echo": lambda: call("shell", "echo", "well"),
        "tap": lambda: call("shell", "input", "tap", "180", "20"),
        "screencap": lambda: call("exec-out", "screencap", "-p"),
        "hierarchy": hierarchy,
        "push_1mb": lambda: call("push", str(file), FILE),
    }


def adbutils_client(server: AdbServer, serial: str) -> Operations | None:
    adbutils = _imported("adbutils")
    if adbutils is None:
        return None
    device = adbutils.AdbClient(host="127.0.0.1", port=server.port).device(serial)
    return {
        "echo": lambda: device.shell("echo well"),
        "tap": lambda: device.click(180, 20),
        "screencap": device.screenshot,
        "hierarchy": device.dump_hierarchy,
        "push_1mb": lambda: device.sync.push(MEGABYTE, FILE),
    }


def adb_shell_client(address: str) -> Operations | None:
    """Straight to the phone: no server between, so it has a head start."""
    module = _imported("adb_shell.adb_device")
    if module is None:
        return None
    host, _, port = address.partition(":")
    device = module.AdbDeviceTcp(host, int(port), default_transport_timeout_s=9.0)
    device.connect()
    return {
        "echo": lambda: device.shell("echo well"),
        "tap": lambda: device.shell("input tap 180 20"),
        "screencap": lambda: device.exec_out("screencap -p", decode=False),
        "hierarchy": lambda: device.shell("uiautomator dump /dev/tty"),
    }


def _imported(name: str) -> Any:
    """A package that has no types, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# Measuring ---------------------------------------------------------------------------------------


def measure(clients: dict[str, Operations], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every call, by client and operation; the clients take turns."""
    calls = {
        _key(client, name): call for client, all_ in clients.items() for name, call in all_.items()
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in track(range(rounds + 3), "adb", console=CONSOLE, transient=True):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            if number >= 3:  # the first few warm everything up
                taken[name].append(1000.0 * (time.perf_counter() - begun))
    return taken


def _key(client: str, operation: str) -> str:
    return operation if client == "ours" else f"{operation}_{client}"


def figures_of(taken: dict[str, list[float]]) -> dict[str, float]:
    figures = {}
    for name, times in taken.items():
        ordered = sorted(times)
        figures[f"{name}_p50_ms"] = statistics.median(ordered)
        figures[f"{name}_p95_ms"] = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
    return {name: round(value, 3) for name, value in figures.items()}


def table(figures: dict[str, float], clients: list[str]) -> Table:
    shown = Table(title="Milliseconds for an operation, median / 95th", title_justify="left")
    shown.add_column("operation")
    for client in clients:
        shown.add_column(client.replace("_", " "), justify="right")
    names = {key.removesuffix("_p50_ms") for key in figures if key.endswith("_p50_ms")}
    all_operations = (*OPERATIONS, "screencap_raw", "framebuffer", "step")
    for operation in all_operations:
        cells = []
        for client in clients:
            name = _key(client, operation)
            known = name in names
            p50, p95 = (figures.get(f"{name}_{part}_ms", 0.0) for part in ("p50", "p95"))
            cells.append(f"{p50:.2f} / {p95:.2f}" if known else "–")
        shown.add_row(operation, *cells)
    shown.caption = (
        "screencap: with the picture decoded by ours and adbutils, as bytes by the others"
    )
    return shown


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=200, help="calls of each operation")
    rounds = options.parse_args().rounds
    with ExitStack() as opened:
        server = opened.enter_context(adb_server())
        phones = opened.enter_context(PhoneServer([Handset("bench", seed=5)]))
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        [address] = phones.addresses
        server.connect(address)
        link = server.link(address)
        link.wait_until_usable(10.0)
        shell = AdbShell(link)
        opened.callback(shell.close)
        settings = AdbDeviceSettings(stillness=AT_ONCE)
        device = opened.enter_context(AdbDevice("bench", link, settings, NewSimulation()))
        device.reset(5)
        found = {
            "ours": ours(link, shell) | step_of(device),
            "fresh_shell": fresh_shell(link),
            "adb_processes": adb_processes(server, address, folder),
            "adbutils": adbutils_client(server, address),
            "adb_shell": adb_shell_client(address),
        }
        clients = {name: all_ for name, all_ in found.items() if all_}
        figures = figures_of(measure(clients, rounds))
    CONSOLE.print(table(figures, list(clients)))
    for missing in sorted(found.keys() - clients.keys()):
        CONSOLE.print(f"{missing} is not installed and was not measured", highlight=False)
    CONSOLE.print(f"written to {write_results('adb', figures)}", highlight=False)


if __name__ == "__main__":
    main()
