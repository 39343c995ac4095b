"""`distrl devices` shows every phone, the broken ones too, and measures without changing any."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from rich.console import Console
from tests.devices.adb.scripted_adb_server import (
    Script,
    okay,
    packet,
    scripted_server,
    shell_answer,
)
from tests.devices.adb.served_phones import ServedPhones, served_phones
from typer.testing import CliRunner

from distrl.cli.devices import device_table, show_devices
from distrl.cli.main import app
from distrl.devices.adb.device_health import examine, examine_all


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones(2) as served:
        yield served


def shown(phones: ServedPhones, rounds: int) -> tuple[bool, str]:
    console = Console(record=True, width=200, quiet=False, file=None, force_terminal=False)
    with console.capture() as capture:
        well = show_devices(console, phones.adb.port, rounds)
    return well, capture.get()


def test_phones_are_examined_and_not_changed(phones: ServedPhones) -> None:
    before = [phones.handset(n).phone.state.actions for n in (0, 1)]
    found = examine_all(phones.adb.server, rounds=2)
    assert [each.serial for each in found] == sorted(phones.phones.addresses)
    for each in found:
        assert each.well
        assert (each.model, each.size, each.typing) == ("DistRL Phone", (360, 720), "any script")
        assert not each.handset
        assert each.front == "com.distrl.launcher"
        assert {"shell", "focus", "hierarchy", "picture, raw"} <= each.latencies.keys()
        assert all(len(seconds) == 2 for seconds in each.latencies.values())
    assert [phones.handset(n).phone.state.actions for n in (0, 1)] == before


def test_the_table_has_a_row_for_each_and_a_column_of_latencies(phones: ServedPhones) -> None:
    well, text = shown(phones, rounds=2)
    assert well
    for address in phones.phones.addresses:
        assert text.count(address) == 2
    assert "picture, framebuffer" in text
    assert "milliseconds" in text.lower()
    assert "hierarchy" not in shown(phones, rounds=0)[1]


def test_serials_are_whole_on_a_narrow_terminal(phones: ServedPhones) -> None:
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        show_devices(console, phones.adb.port, 0)
    for address in phones.phones.addresses:
        assert address in capture.get()


def test_a_phone_without_its_tools_is_not_called_well() -> None:
    def not_there(line: socket.socket) -> None:
        line.sendall(b"OKAY" + packet(2, b"not found") + packet(3, bytes([127])))

    script: Script = {
        "host:transport:": b"OKAY",
        "host-serial:": okay("device"),
        "shell,v2,raw:getprop": shell_answer(b"[ro.product.model]: [Box]\n"),
        "shell,v2,raw:": not_there,
    }
    with scripted_server(script) as server:
        health = examine(server.link("box"), rounds=1)
    assert not health.well
    assert set(health.lacks) == {
        "no input", "no uiautomator", "no screen size", "no focused window", "no view hierarchy",
        "no picture",
    }  # fmt: skip
    console = Console(width=200, force_terminal=False)
    with console.capture() as capture:
        console.print(device_table([health]))
    assert "no input" in capture.get()
    assert "well" not in capture.get()


def test_a_locked_and_an_unplugged_phone_are_shown_as_such(phones: ServedPhones) -> None:
    phones.handset(0).locked = True
    phones.phones.unplug(1)
    try:
        well, text = shown(phones, rounds=0)
        assert not well
        assert "locked" in text
    finally:
        phones.handset(0).locked = False
        phones.phones.plug_in(1)
        phones.adb.server.connect(phones.phones.addresses[1])


def test_an_unauthorized_phone_says_what_to_do() -> None:
    with served_phones(ask=True) as asking:
        well, text = shown(asking, rounds=0)
    assert not well
    assert "allow USB debugging" in " ".join(text.split())


def test_the_command_without_phones_says_how_to_get_some(phones: ServedPhones) -> None:
    with served_phones(0) as none:
        result = CliRunner().invoke(app, ["devices", "--port", str(none.adb.port)])
    assert result.exit_code == 1
    assert "distrl phone serve" in " ".join(result.output.split())


def test_adb_itself_is_called_wherever_it_lies(phones: ServedPhones) -> None:
    """With words of its own, which are none of ours, and its exit code."""

    def adb(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "distrl", "adb", *words]
        return subprocess.run(
            command, env={**os.environ, "PATH": ""}, capture_output=True, text=True, check=False
        )

    listed = adb("-P", str(phones.adb.port), "devices", "-l")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.count(" product:") == 2
    assert "Android Debug Bridge" in adb("--help").stdout
    assert adb("-P", str(phones.adb.port), "-s", "nobody", "get-state").returncode == 1
