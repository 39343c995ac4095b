"""The adb client against a server that misbehaves, and against a real adb server without phones."""

from __future__ import annotations

import socket
import struct
import time

import pytest
from tests.devices.adb.adb_servers import own_adb_server
from tests.devices.adb.scripted_adb_server import (
    Script,
    fail,
    okay,
    packet,
    real_shell,
    scripted_server,
    shell_answer,
    silence,
)

from distrl.devices.adb.adb import AdbServer, ListedDevice, read_devices, read_properties
from distrl.devices.adb.adb_shell import AdbShell, exit_code
from distrl.errors import (
    AdbServerGone,
    CommandRefused,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
    DeviceUnauthorized,
)

TO_PHONE: Script = {"host:transport:": b"OKAY"}


def test_a_command_answers_with_output_errors_and_code() -> None:
    answer = b"OKAY" + packet(1, b"out") + packet(2, b"err") + packet(1, b"put") + packet(3, b"\7")
    with scripted_server(TO_PHONE | {"shell,v2,raw:echo": answer}) as server:
        result = server.link("phone").shell("echo")
    assert (result.output, result.errors, result.code) == (b"output", b"err", 7)


def test_a_failed_command_is_raised_with_what_it_said() -> None:
    answer = b"OKAY" + packet(2, b"no such app") + packet(3, b"\1")
    with (
        scripted_server(TO_PHONE | {"shell,v2,raw:am": answer}) as server,
        pytest.raises(CommandRefused, match="code 1: no such app"),
    ):
        server.link("phone").run("am", "start")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("device 'phone' not found", DeviceDisconnected),
        ("device offline", DeviceDisconnected),
        ("closed", DeviceDisconnected),
        ("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set", DeviceUnauthorized),
        ("device still authorizing", DeviceUnauthorized),
        ("unknown host service", CommandRefused),
    ],
)
def test_a_refusal_has_the_type_of_its_reason(reason: str, kind: type[DeviceError]) -> None:
    with (
        scripted_server({"host:transport:": fail(reason)}) as server,
        pytest.raises(DeviceError) as raised,
    ):
        server.link("phone").shell("echo")
    assert type(raised.value) is kind
    assert "phone" in str(raised.value)


@pytest.mark.parametrize(
    "half", [b"", b"OK", b"OKAY", b"OKAY\1\4\0", b"OKAY" + struct.pack("<BI", 1, 9) + b"half"]
)
def test_an_answer_that_breaks_off_is_a_lost_connection(half: bytes) -> None:
    with (
        scripted_server(TO_PHONE | {"shell": half}) as server,
        pytest.raises(DeviceDisconnected),
    ):
        server.link("phone").shell("echo")


def test_a_command_that_never_returns_ends_at_its_deadline() -> None:
    with (
        scripted_server(TO_PHONE | {"shell": silence}) as server,
        pytest.raises(DeviceTimeout, match=r"0\.2 s"),
    ):
        server.link("phone").shell("sleep 1000", seconds=0.2)


def test_bytes_that_trickle_do_not_extend_the_deadline() -> None:
    def trickle(connection: socket.socket) -> None:
        """A whole answer in the end: who waits for it, past the deadline, gets no timeout."""
        connection.sendall(b"OKAY" + struct.pack("<BI", 1, 200))
        try:
            for _ in range(200):
                connection.sendall(b".")
                time.sleep(0.02)
            connection.sendall(packet(3, b"\0"))
        except OSError:
            return

    with (
        scripted_server(TO_PHONE | {"shell": trickle}) as server,
        pytest.raises(DeviceTimeout),
    ):
        server.link("phone").shell("echo", seconds=0.3)


def test_something_that_is_no_adb_server_is_said_to_be_none() -> None:
    with (
        scripted_server({"host:version": b"HTTP/1.1 400 Bad Request\r\n"}) as server,
        pytest.raises(DeviceDisconnected, match="is what listens"),
    ):
        server.version()


def test_a_length_that_is_no_number_is_a_lost_connection() -> None:
    with (
        scripted_server({"host:version": b"OKAYzzzz"}) as server,
        pytest.raises(DeviceDisconnected, match="out of step"),
    ):
        server.version()


def test_connect_reports_failure_though_the_server_says_okay() -> None:
    script: Script = {"host:connect:": okay("failed to connect to '10.0.0.1:5555': no route")}
    with scripted_server(script) as server, pytest.raises(DeviceDisconnected, match="no route"):
        server.connect("10.0.0.1:5555")


def test_nobody_on_the_port_is_a_server_that_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(AdbServerGone, match="start-server"):
        AdbServer(port).version()


def test_files_that_cannot_be_had_say_why() -> None:
    answer = b"OKAY" + b"FAIL" + struct.pack("<I", 7) + b"no file"
    with (
        scripted_server(TO_PHONE | {"sync:": answer}) as server,
        pytest.raises(CommandRefused, match="no file"),
    ):
        server.link("phone").pull("/sdcard/nothing")


def test_device_lists_are_read_in_every_state() -> None:
    listing = (
        "R5CT30 device usb:1-1 product:x model:Pixel_7 device:panther transport_id:1\n"
        "192.168.1.5:5555       offline transport_id:2\n"
        "ABC  unauthorized usb:1-2 transport_id:3\n"
        "short\tdevice\n\n"
    )
    assert list(read_devices(listing)) == [
        ListedDevice("R5CT30", "device", "Pixel 7"),
        ListedDevice("192.168.1.5:5555", "offline"),
        ListedDevice("ABC", "unauthorized"),
        ListedDevice("short", "device"),
    ]
    assert [device.usable for device in read_devices(listing)] == [True, False, False, True]


def test_properties_are_read() -> None:
    assert read_properties("[a.b]: [c]\n[empty]: []\nnoise\n") == {"a.b": "c", "empty": ""}


# The shell that stays open -----------------------------------------------------------------------


def test_one_shell_serves_many_commands() -> None:
    with scripted_server(TO_PHONE | {"shell,v2,raw:": real_shell}) as server:
        shell = AdbShell(server.link("phone"))
        try:
            assert shell.run("echo", "a 'quoted' word") == "a 'quoted' word\n"
            process = shell.run("sh", "-c", "echo $PPID")
            assert shell.run("sh", "-c", "echo $PPID") == process
            assert shell.shell("printf abc").output == b"abc"
            assert shell.shell("sh -c 'echo bad >&2; exit 3'").code == 3
            assert shell.shell("cat").output == b""  # it does not eat the next command
            with pytest.raises(CommandRefused, match="code 3: bad"):
                shell.run("sh", "-c", "echo bad >&2; exit 3")
            assert shell.keeps_open
        finally:
            shell.close()


def test_a_command_that_hangs_in_the_open_shell_costs_that_shell_only() -> None:
    with scripted_server(TO_PHONE | {"shell,v2,raw:": real_shell}) as server:
        shell = AdbShell(server.link("phone"))
        try:
            with pytest.raises(DeviceTimeout):
                shell.run("sleep", "30", seconds=0.3)
            assert shell.run("echo", "again") == "again\n"
        finally:
            shell.close()


def test_a_phone_without_an_open_shell_gets_a_fresh_one_each_time() -> None:
    sent: list[bytes] = []

    def ends_at_once(connection: socket.socket) -> None:
        sent.append(b"session")
        connection.sendall(b"OKAY" + packet(3, b"\0"))

    script: Script = {
        "shell,v2,raw:echo": shell_answer(b"fresh"),
        "shell,v2,raw:": ends_at_once,
        "host-serial:": okay("device"),
    }
    with scripted_server(TO_PHONE | script) as server:
        shell = AdbShell(server.link("phone"))
        assert shell.shell("echo").output == b"fresh"
        assert shell.shell("echo").output == b"fresh"
    assert len(sent) == 1  # it was tried once
    assert not shell.keeps_open


def test_a_lost_phone_is_no_phone_without_a_shell() -> None:
    gone = fail("device 'phone' not found")
    with scripted_server({"host:transport:": gone, "host-serial:": gone}) as server:
        shell = AdbShell(server.link("phone"))
        with pytest.raises(DeviceDisconnected):
            shell.shell("echo")
        assert shell.keeps_open


# A real server -----------------------------------------------------------------------------------


def test_a_real_server_without_phones() -> None:
    with own_adb_server() as adb:
        assert adb.server.version() >= 0x20
        assert adb.server.devices() == ()
        with pytest.raises(DeviceDisconnected, match="not found"):
            adb.server.link("nobody").state()
        with pytest.raises(DeviceDisconnected, match="not found"):
            adb.server.link("nobody").shell("echo")
        with pytest.raises(DeviceDisconnected, match=r"127\.0\.0\.1:1: adb connect says: "):
            adb.server.connect("127.0.0.1:1")
        adb.server.disconnect("127.0.0.1:1")
        with pytest.raises(DeviceTimeout):
            adb.server.link("nobody").wait_until_usable(0.2)
        adb.kill()
        with pytest.raises(AdbServerGone):
            adb.server.devices()


def endless(connection: socket.socket) -> None:
    """Say OKAY, then packets of shell v2 for as long as somebody listens."""
    connection.sendall(b"OKAY")
    piece = packet(1, b"x" * 4096)
    while True:
        connection.sendall(piece)


@pytest.mark.parametrize("keep_open", [True, False])
def test_a_phone_that_never_stops_talking_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, keep_open: bool
) -> None:
    monkeypatch.setattr("distrl.devices.adb.adb_socket.MAX_REPLY", 1 << 16)
    script: Script = {"host:transport:": b"OKAY", "host-serial": okay("device"), "shell": endless}
    with scripted_server(script) as server:
        shell = AdbShell(server.link("phone"), keep_open=keep_open)
        with pytest.raises(DeviceDisconnected, match="more than 65,536 bytes"):
            shell.run("echo", "well")


@pytest.mark.parametrize("said", ["", "abc", "-1", "99999999999999999999"])
def test_an_exit_code_that_is_none_is_a_lost_phone(said: str) -> None:
    with pytest.raises(DeviceDisconnected, match="ended a command with code"):
        exit_code("phone", f"{said}\n".encode())


def test_a_version_that_is_none_is_no_adb_server() -> None:
    with (
        scripted_server({"host:version": okay("soon")}) as server,
        pytest.raises(DeviceDisconnected, match="its version is 'soon'"),
    ):
        server.version()
