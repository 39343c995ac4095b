"""A connection to a server that is not there, and deadlines."""

from __future__ import annotations

import socket

import pytest

from distrl.devices.adb.adb_socket import AdbSocket, Deadline
from distrl.errors import AdbServerGone, DeviceDisconnected, DeviceTimeout


def connected(seconds: float) -> tuple[AdbSocket, socket.socket]:
    ours, theirs = socket.socketpair()
    return AdbSocket(ours, "device x", Deadline(seconds)), theirs


def test_without_a_server_the_message_says_how_to_start_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nothing listens
        port = taken.getsockname()[1]
        with pytest.raises(AdbServerGone, match=f"adb -P {port} start-server"):
            AdbSocket.open("127.0.0.1", port, "device x", Deadline(60.0))


def test_a_request_is_its_length_and_its_name() -> None:
    connection, server = connected(60.0)
    with connection, server:
        server.sendall(b"OKAY0003abc")
        connection.request("host:version")
        assert server.recv(100) == b"000chost:version"
        assert connection.read_block() == b"abc"


def test_after_the_deadline_nothing_is_read() -> None:
    connection, server = connected(0.0)
    with connection, server:
        server.sendall(b"OKAY")
        with pytest.raises(DeviceTimeout, match="device x"):
            connection.read_exactly(4)


def test_an_end_in_the_middle_says_how_much_came() -> None:
    connection, server = connected(60.0)
    with connection:
        with server:
            server.sendall(b"OK")
        with pytest.raises(DeviceDisconnected, match="after 2 of 4 bytes"):
            connection.read_exactly(4)


@pytest.mark.parametrize("digits", [b"-001", b"+001", b"0x1f", b"1_00", b"  1 ", b"zzzz"])
def test_a_length_that_is_none_is_out_of_step(digits: bytes) -> None:
    connection, server = connected(60.0)
    with connection, server:
        server.sendall(digits + b"x" * 100)
        with pytest.raises(DeviceDisconnected, match="out of step"):
            connection.read_block()


def test_a_reply_has_a_limit_and_each_exchange_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distrl.devices.adb.adb_socket.MAX_REPLY", 100)
    connection, server = connected(60.0)
    with connection, server:
        server.sendall(b"x" * 221)
        assert len(connection.read_exactly(100)) == 100
        connection.begin(Deadline(60.0))
        assert len(connection.read_exactly(100)) == 100
        with pytest.raises(DeviceDisconnected, match="more than 100 bytes"):
            connection.read_exactly(1 << 32)
