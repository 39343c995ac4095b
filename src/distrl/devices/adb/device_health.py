"""Examine a phone on adb: its model, what works on it, and how long each operation takes.

The examination changes nothing on the phone. A failure is reported in `problem` instead of being
raised, since a list of phones must include the broken ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from distrl.devices.adb.adb import AdbLink, AdbServer
from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.android_state import (
    Focus,
    focus,
    is_awake,
    is_emulated,
    is_locked,
    screen_size,
)
from distrl.devices.adb.screen_capture import CAPTURES
from distrl.devices.adb.uiautomator import HIERARCHY_SECONDS, dump_hierarchy, read_hierarchy
from distrl.devices.adb.unicode_typing import find_typing, type_plainly
from distrl.devices.emulator.emulator_pictures import EmulatorPictures, pictures_of
from distrl.errors import DeviceError, ScreenRestless

NOT_FOUND = 127  # the shell's exit code for an unknown command


@dataclass(frozen=True, slots=True)
class DeviceHealth:
    """The result of an examination. `latencies` has the seconds of each measurement."""

    serial: str
    state: str
    model: str = ""
    android: str = ""
    handset: bool = True
    size: tuple[int, int] | None = None
    awake: bool | None = None
    locked: bool = False
    front: str = ""
    typing: str = ""
    latencies: dict[str, list[float]] = field(default_factory=dict)  # by operation
    lacks: tuple[str, ...] = ()  # required features that this phone does not have
    problem: str = ""

    @property
    def well(self) -> bool:
        return self.state == "device" and not (self.problem or self.locked or self.lacks)


def examine_all(server: AdbServer, rounds: int) -> list[DeviceHealth]:
    """Examine every phone that the server lists, in parallel."""
    listed = server.devices()
    if not listed:
        return []
    with ThreadPoolExecutor(len(listed), thread_name_prefix="examine") as threads:
        return list(
            threads.map(
                lambda each: (
                    examine(server.link(each.serial), rounds)
                    if each.usable
                    else DeviceHealth(
                        each.serial, each.state, each.model, problem=_remedy(each.state)
                    )
                ),
                listed,
            )
        )


def examine(link: AdbLink, rounds: int) -> DeviceHealth:
    """Examine one phone, and measure each operation `rounds` times."""
    shell, pictures = AdbShell(link), _pictures(link)
    try:
        properties = link.properties()
        found, size = focus(shell), screen_size(shell)
        latencies = _latencies(shell, pictures, rounds)
        return DeviceHealth(
            serial=link.serial,
            state="device",
            model=properties.get("ro.product.model", ""),
            android=properties.get("ro.build.version.release", ""),
            handset=not is_emulated(properties),
            size=size,
            awake=is_awake(shell),
            locked=is_locked(shell),
            front=found.package if found else "",
            typing="ASCII only" if find_typing(shell) is type_plainly else "any script",
            latencies=latencies,
            lacks=tuple(_lacks(shell, size, found, latencies)),
        )
    except DeviceError as error:
        return DeviceHealth(link.serial, "device", problem=str(error))
    finally:
        shell.close()
        if pictures is not None:
            pictures.close()


def _lacks(
    shell: AdbShell,
    size: tuple[int, int] | None,
    found: Focus | None,
    latencies: dict[str, list[float]],
) -> Iterator[str]:
    """Yield what an episode needs and the phone does not offer."""
    for command in ("input", "uiautomator"):  # without arguments they only print their usage
        if shell.shell(command).code == NOT_FOUND:
            yield f"no {command}"
    if size is None:
        yield "no screen size"
    if found is None:
        yield "no focused window"
    if latencies and "hierarchy" not in latencies:
        yield "no view hierarchy"
    if latencies and not any(name.startswith("picture") for name in latencies):
        yield "no picture"


def _pictures(link: AdbLink) -> EmulatorPictures | None:
    """Return the gRPC capture that emulators have in addition to those of adb."""
    kind, _, console = link.serial.partition("-")
    return pictures_of(int(console)) if kind == "emulator" and console.isdecimal() else None


def _latencies(
    shell: AdbShell, pictures: EmulatorPictures | None, rounds: int
) -> dict[str, list[float]]:
    """Measure each operation; leave out those that the phone does not support."""
    link = shell.link
    operations: dict[str, Callable[[], object]] = {
        "shell": lambda: shell.run("echo", "well"),
        "focus": lambda: focus(shell),
        "hierarchy": lambda: read_hierarchy(dump_hierarchy(shell, HIERARCHY_SECONDS), link.serial),
    }
    for capture in (*CAPTURES, *([pictures] if pictures is not None else [])):
        operations[f"picture, {capture.name}"] = lambda capture=capture: capture.take(link)  # type: ignore[misc]
    measured = {}
    for name, operation in operations.items() if rounds else ():
        try:
            measured[name] = [_seconds(operation) for _ in range(rounds)]
        except (DeviceError, ScreenRestless):
            link.state()  # raises if the phone itself is gone
    return measured


def _seconds(operation: Callable[[], object]) -> float:
    begun = time.perf_counter()
    operation()
    return time.perf_counter() - begun


def _remedy(state: str) -> str:
    remedies = {
        "unauthorized": "unlock it and allow USB debugging from this computer",
        "authorizing": "answer the question on its screen",
        "offline": "plug it in again, or `adb reconnect`",
        "recovery": "it is in recovery; restart it",
        "no": "this user may not use it: see udev rules in docs/real-phones.md",
    }
    return remedies.get(state, f"its state is {state}")
