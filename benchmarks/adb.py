"""Measure the latency of operations over adb, client by client (`make bench-adb`).

The phone is our simulated one, served on adb. A real adb server on a port of its own stands between
it and the clients. The clients: ours, one `adb` process per call, adbutils, and, where it is
installed, adb-shell, which connects to the phone directly, without the server. The clients take
turns call by call, so that other load on the machine slows all of them alike.

The keys are OP_p50_ms and OP_p95_ms for our client and OP_CLIENT_p50_ms for the others. Our client
keeps one shell open; `fresh_shell` opens a new shell for each call. `screencap` includes decoding
the picture where the client does that, `screencap_bytes` does not. Last, 1 and then 16 threads use
phones of another process at the same time, each thread taking whole steps (tap, crash check, new
screen).
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.results_file import write_results
from benchmarks.served_phones import adb_server, connected_phones
from distrl.devices.adb.adb import AdbLink, AdbServer
from distrl.devices.adb.adb_device import AdbDevice, new_simulation, wake_and_unlock
from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.android_apps import start_app
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.android_state import focus, screen_size
from distrl.devices.adb.android_tools import find_tool
from distrl.devices.adb.screen_capture import FRAMEBUFFER, PNG, RAW
from distrl.devices.adb.stillness import AT_ONCE
from distrl.devices.adb.uiautomator import dump_hierarchy, read_hierarchy
from distrl.devices.adb.unicode_typing import type_plainly
from distrl.records import Tap
from phonesim.adb_daemon.adb_server import Handset, PhoneServer

CONSOLE = Console(width=120)
Operations = dict[str, Callable[[], object]]
OPERATIONS = (
    "echo", "tap", "swipe", "key", "type", "open_app", "focus", "size", "wake_and_unlock",
    "screencap", "screencap_bytes", "screencap_raw", "framebuffer", "hierarchy",
    "push_1mb", "pull_1mb", "step",
)  # fmt: skip
MANY = 16
NOTES = "com.distrl.notes/.HomeActivity"
MEGABYTE = bytes(2**20)
FILE = "/sdcard/Download/bench.bin"


# The clients -------------------------------------------------------------------------------------


def ours(link: AdbLink, shell: AdbShell) -> Operations:
    return {
        "echo": lambda: shell.run("echo", "well"),
        "tap": lambda: shell.run("input", "tap", "180", "20"),
        "swipe": lambda: shell.run("input", "swipe", "180", "600", "180", "300", "50"),
        "key": lambda: shell.run("input", "keyevent", "3"),
        "type": lambda: type_plainly(shell, "hello"),
        "open_app": lambda: start_app(shell, "com.distrl.notes", ".HomeActivity"),
        "focus": lambda: focus(shell),
        "size": lambda: screen_size(shell),
        "wake_and_unlock": lambda: wake_and_unlock(shell),
        "screencap": lambda: PNG.take(link),
        "screencap_bytes": lambda: link.shell("screencap -p"),
        "screencap_raw": lambda: RAW.take(link),
        "framebuffer": lambda: FRAMEBUFFER.take(link),
        "hierarchy": lambda: read_hierarchy(dump_hierarchy(shell, 20.0), link.serial),
        "push_1mb": lambda: link.push(MEGABYTE, FILE),
        "pull_1mb": lambda: link.pull(FILE),
    }


def fresh_shell(link: AdbLink) -> Operations:
    return {
        "echo": lambda: link.shell("echo well"),
        "tap": lambda: link.shell("input tap 180 20"),
    }


def step_of(device: AdbDevice) -> Operations:
    """Return one operation: a whole step of a collector (tap, crash check, new screen)."""
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
        "swipe": lambda: call("shell", "input", "swipe", "180", "600", "180", "300", "50"),
        "key": lambda: call("shell", "input", "keyevent", "3"),
        "type": lambda: call("shell", "input", "text", "hello"),
        "open_app": lambda: call("shell", "am", "start", "-n", NOTES),
        "focus": lambda: call("shell", "dumpsys", "window", "displays"),
        "size": lambda: call("shell", "wm", "size"),
        "screencap_bytes": lambda: call("exec-out", "screencap", "-p"),
        "hierarchy": hierarchy,
        "push_1mb": lambda: call("push", str(file), FILE),
        "pull_1mb": lambda: call("pull", FILE, str(folder / "back.bin")),
    }


def adbutils_client(server: AdbServer, serial: str) -> Operations | None:
    adbutils = _imported("adbutils")
    if adbutils is None:
        return None
    device = adbutils.AdbClient(host="127.0.0.1", port=server.port).device(serial)
    return {
        "echo": lambda: device.shell("echo well"),
        "tap": lambda: device.click(180, 20),
        "swipe": lambda: device.swipe(180, 600, 180, 300, 0.05),
        "key": lambda: device.keyevent("3"),
        "type": lambda: device.send_keys("hello"),
        "open_app": lambda: device.app_start("com.distrl.notes", ".HomeActivity"),
        "focus": device.app_current,
        "size": device.window_size,
        "screencap": device.screenshot,
        "hierarchy": device.dump_hierarchy,
        "push_1mb": lambda: device.sync.push(MEGABYTE, FILE),
        "pull_1mb": lambda: device.sync.read_bytes(FILE),
    }


def adb_shell_client(address: str) -> Operations | None:
    """Connect straight to the phone, without the adb server, which saves this client one hop."""
    module = _imported("adb_shell.adb_device")
    if module is None:
        return None
    host, _, port = address.partition(":")
    device = module.AdbDeviceTcp(host, int(port), default_transport_timeout_s=9.0)
    device.connect()
    return {
        "echo": lambda: device.shell("echo well"),
        "tap": lambda: device.shell("input tap 180 20"),
        "swipe": lambda: device.shell("input swipe 180 600 180 300 50"),
        "key": lambda: device.shell("input keyevent 3"),
        "type": lambda: device.shell("input text hello"),
        "open_app": lambda: device.shell(f"am start -n {NOTES}"),
        "focus": lambda: device.shell("dumpsys window displays"),
        "size": lambda: device.shell("wm size"),
        "screencap_bytes": lambda: device.exec_out("screencap -p", decode=False),
        "hierarchy": lambda: device.shell("uiautomator dump /dev/tty"),
    }


def _imported(name: str) -> Any:
    """Import an untyped package; return None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# Measuring ---------------------------------------------------------------------------------------


def measure(clients: dict[str, Operations], rounds: int) -> dict[str, list[float]]:
    """Time every call in milliseconds, by client and operation; the clients take turns."""
    calls = {
        _key(client, name): call for client, all_ in clients.items() for name, call in all_.items()
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in track(range(rounds + 3), "adb", console=CONSOLE, transient=True):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            if number >= 3:  # the first rounds only warm up
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
    for operation in OPERATIONS:
        cells = []
        for client in clients:
            name = _key(client, operation)
            known = name in names
            p50, p95 = (figures.get(f"{name}_{part}_ms", 0.0) for part in ("p50", "p95"))
            cells.append(f"{p50:.2f} / {p95:.2f}" if known else "–")
        shown.add_row(operation, *cells)
    return shown


# Many phones at once -----------------------------------------------------------------------------


def many_phones(server: AdbServer, count: int, steps: int) -> dict[str, float]:
    """Time whole steps on phones of another process, with one thread per phone."""
    with connected_phones(server, count) as serials, ExitStack() as opened:
        settings = AndroidDeviceSettings(stillness=AT_ONCE)
        devices = [
            opened.enter_context(AdbDevice(each, server.link(each), settings, new_simulation))
            for each in serials
        ]

        def play(number: int) -> list[float]:
            taken = []
            for _ in range(steps):
                begun = time.perf_counter()
                devices[number].perform(Tap(0.5, 0.03))
                taken.append(1000.0 * (time.perf_counter() - begun))
            return taken

        with ThreadPoolExecutor(count) as threads:
            list(threads.map(lambda number: devices[number].reset(number), range(count)))
            begun = time.perf_counter()
            taken = [each for some in threads.map(play, range(count)) for each in some]
            seconds = time.perf_counter() - begun
    figures = figures_of({f"step_{count}_phones": taken})
    return figures | {f"steps_per_second_{count}_phones": round(len(taken) / seconds, 1)}


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
        settings = AndroidDeviceSettings(stillness=AT_ONCE)
        device = opened.enter_context(AdbDevice("bench", link, settings, new_simulation))
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
        for count in (1, MANY):
            figures |= many_phones(server, count, rounds)
    CONSOLE.print(table(figures, list(clients)))
    for count in (1, MANY):
        rate = figures[f"steps_per_second_{count}_phones"]
        CONSOLE.print(f"phones at once: {count}, whole steps a second: {rate}", highlight=False)
    for missing in sorted(found.keys() - clients.keys()):
        CONSOLE.print(f"{missing} is not installed and was not measured", highlight=False)
    CONSOLE.print(f"written to {write_results('adb', figures)}", highlight=False)


if __name__ == "__main__":
    main()
