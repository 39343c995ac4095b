"""`distrl devices`: list the phones on adb with their health and operation latencies.

`distrl adb …` runs adb itself: the one on the PATH or in an SDK, or the one that the extra
`android` installs.
"""

from __future__ import annotations

import os
import statistics
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from distrl.devices.adb.device_health import DeviceHealth

# Pass everything after `distrl adb` on to adb, `--help` included.
ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def devices(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the adb server.")] = 5037,
    rounds: Annotated[
        int,
        typer.Option(min=0, max=1000, help="Measurements per operation; 0 only lists the phones."),
    ] = 5,
) -> None:
    """List the phones on adb: state, health, and how long each operation takes."""
    raise typer.Exit(0 if show_devices(Console(), port, rounds) else 1)


def adb(context: typer.Context) -> None:
    """Call adb with these arguments: the adb on the PATH, of an SDK, or of the extra android."""
    from distrl.devices.adb.android_tools import find_tool

    program = str(find_tool("adb"))
    os.execv(program, [program, *context.args])


def show_devices(console: Console, port: int, rounds: int) -> bool:
    """Print the phones; return whether there is at least one and all are healthy."""
    from distrl.devices.adb.android_tools import running_server
    from distrl.devices.adb.device_health import examine_all

    found = examine_all(running_server(port), rounds)
    if not found:
        console.print(
            "No phone is connected. Plug one in with USB debugging on, start an emulator, or "
            "serve simulated ones: distrl phone serve",
            highlight=False,
        )
        return False
    console.print(device_table(found), latency_table(found) if rounds else "", highlight=False)
    return all(each.well for each in found)


def device_table(found: list[DeviceHealth]) -> Table:
    table = Table(title="Phones", title_justify="left")
    table.add_column("serial", min_width=max(len(each.serial) for each in found))  # never cut
    for column in ("state", "model", "Android", "kind", "screen", "in front", "typing"):
        table.add_column(column, overflow="fold")
    for each in found:
        kind = "handset" if each.handset else "emulated"
        size = f"{each.size[0]} × {each.size[1]}" if each.size else ""
        lacks = [*(["locked"] if each.locked else []), *each.lacks]
        lacks += ["asleep"] if each.awake is False else []
        state = each.problem or ", ".join(lacks) or "well"
        known = (kind, size, each.front, each.typing) if not each.problem else ("",) * 4
        table.add_row(each.serial, f"{each.state}: {state}", each.model, each.android, *known)
    return table


def latency_table(found: list[DeviceHealth]) -> Table:
    table = Table(title="Milliseconds, median / slowest", title_justify="left")
    table.add_column("operation", overflow="fold")
    measured = [each for each in found if each.latencies]
    for each in measured:
        table.add_column(each.serial, justify="right", overflow="fold")
    for operation in dict.fromkeys(name for each in measured for name in each.latencies):
        cells = [_cell(each.latencies.get(operation)) for each in measured]
        table.add_row(operation, *cells)
    return table


def _cell(seconds: list[float] | None) -> str:
    if not seconds:
        return "–"
    return f"{1000 * statistics.median(seconds):.1f} / {1000 * max(seconds):.1f}"
