"""A computer and a phone on one socket: handshake, streams, limits, and a cable that breaks."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest
from tests.phonesim.adb_daemon.computer import PATIENCE, Computer, packets, wait_until_disconnected

from distrl.errors import InvalidSetting
from phonesim.adb_daemon import messages as wire
from phonesim.adb_daemon.connection import Limits
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.messages import Message
from phonesim.adb_daemon.phone_server import PhonePort, PhoneServer

FEW = Limits(streams=4, connections=3)
IMPATIENT = Limits(handshake_seconds=0.3, message_seconds=0.3, connections=3)


@pytest.fixture(scope="module")
def server() -> Iterator[PhoneServer]:
    with PhoneServer([Handset("one", 1), Handset("two", 2)], limits=FEW) as running:
        yield running


@pytest.fixture(scope="module")
def impatient_server() -> Iterator[PhoneServer]:
    """For tests that wait until it hangs up; on a busy machine it may hang up on anyone."""
    with PhoneServer([Handset("impatient", 1)], limits=IMPATIENT) as running:
        yield running


@pytest.fixture
def phone(server: PhoneServer) -> Iterator[PhonePort]:
    yield server.phones[0]
    wait_until_disconnected(server.phones[0])


@pytest.fixture
def impatient(impatient_server: PhoneServer) -> Iterator[PhonePort]:
    yield impatient_server.phones[0]
    wait_until_disconnected(impatient_server.phones[0])


def test_the_phone_introduces_itself(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        hello = computer.hello()
    assert (hello.command, hello.first, hello.second) == (wire.CONNECT, wire.VERSION, 2**20)
    assert hello.payload.startswith(b"device::")
    assert b"shell_v2" in hello.payload
    assert b"delayed_ack" not in hello.payload


def test_both_shell_protocols(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        assert computer.run("shell:echo a; nothing") == b"a\n/system/bin/sh: nothing: not found\n"
        said = packets(computer.run("shell,v2,raw:echo a; nothing", 2))
        assert said == {1: b"a\n", 2: b"/system/bin/sh: nothing: not found\n", 3: b"\x7f"}
        assert computer.run("exec:screencap") == phone.handset.raw()
        picture = computer.run("framebuffer:")
        assert struct.unpack_from("<5I", picture) == (1, 32, 360 * 720 * 4, 360, 720)
        rgba = np.frombuffer(picture, np.uint8, offset=52).reshape(720, 360, 4)
        assert np.array_equal(rgba[..., :3], phone.handset.phone.frame())


def test_a_small_computer_of_the_first_version(phone: PhonePort) -> None:
    with Computer(phone.port, version=wire.VERSION_WITH_SUMS, most=4096) as computer:
        assert computer.hello().first == wire.VERSION_WITH_SUMS
        computer.send(wire.OPEN, 1, 0, b"exec:screencap\0")
        computer.line.settimeout(PATIENCE)
        ready, header = (computer.line.recv(24, socket.MSG_WAITALL) for _ in range(2))
        payload = computer.line.recv(4096, socket.MSG_WAITALL)
        assert wire.HEADER.unpack(ready)[0] == wire.READY
        assert wire.HEADER.unpack(header)[3:5] == (4096, sum(payload))


def test_a_session_reads_lines_as_they_come(phone: PhonePort) -> None:
    def typed(text: str) -> bytes:
        return struct.pack("<BI", 0, len(text)) + text.encode()

    with Computer(phone.port) as computer:
        computer.hello()
        number = computer.open("shell,v2,raw:").first
        computer.send(wire.WRITE, 1, number, typed("echo 'a\nb'; false\necho $?\nec"))
        collected = b""
        while b"1\n" not in collected:
            message = computer.next()
            if message.command == wire.WRITE:
                collected += message.payload
                computer.send(wire.READY, 1, number)
        assert packets(collected) == {1: b"a\nb\n1\n"}
        computer.send(wire.WRITE, 1, number, typed("ho x >&- \necho $((1\nexit 5\n"))
        while (message := computer.next()).command != wire.CLOSE:
            if message.command == wire.WRITE:
                collected += message.payload
                computer.send(wire.READY, 1, number)
        assert packets(collected)[3] == b"\x05"


def test_streams_run_side_by_side(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        late = Message(wire.OPEN, 1, 0, b"exec:sleep 0.2; echo late\0")
        soon = Message(wire.OPEN, 2, 0, b"exec:echo soon\0")
        computer.line.sendall(late.encode() + soon.encode())  # both are there before it sleeps
        written: list[bytes] = []
        while len(written) < 2:
            message = computer.next()
            if message.command == wire.WRITE:
                written.append(message.payload)
    assert written == [b"soon\n", b"late\n"]


def test_a_command_that_never_ends_ends_with_its_stream(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        opened = computer.open("shell:logcat")
        assert computer.next().payload.startswith(b"--------- beginning")
        computer.send(wire.READY, 1, opened.first)
        computer.send(wire.CLOSE, 1, opened.first)
        assert computer.next() == Message(wire.CLOSE, opened.first, 1)
        assert computer.run("exec:echo a", 2) == b"a\n"


@pytest.mark.parametrize(
    "service",
    [
        "tcp:22", "tcp:127.0.0.1:22", "local:/tmp/x", "localabstract:x", "dev:/dev/null", "jdwp:1",
        "localfilesystem:/etc/passwd", "track-jdwp", "reverse:forward:tcp:1;tcp:2", "tcpip:5555",
        "reboot:", "sink:5", "source:5", "abb:package", "abb_exec:package\0list", "", ":", "shell",
        "spawn:sh", "sync:/etc", "exec",
    ],
)  # fmt: skip
def test_no_other_service_is_there(phone: PhonePort, service: str) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        assert computer.open(service) == Message(wire.CLOSE, 0, 1)


def test_limits_for_one_computer(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        for number in (1, 2, 3, 4):
            assert computer.open("shell:logcat", number).command == wire.READY
            assert computer.next().command == wire.WRITE
        assert computer.open("exec:echo", 5) == Message(wire.CLOSE, 0, 5)


def test_limits_for_one_phone(phone: PhonePort) -> None:
    computers = [Computer(phone.port) for _ in range(3)]
    try:
        for computer in computers:
            assert computer.hello().command == wire.CONNECT
        with Computer(phone.port) as fourth:
            with contextlib.suppress(ConnectionError):
                fourth.send(wire.CONNECT, wire.VERSION, 4096, b"host::")
            assert fourth.until_hung_up() == b""
    finally:
        for computer in computers:
            computer.line.close()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"CNXN",
        Message(wire.OPEN, 1, 0, b"exec:echo\0").encode(),
        Message(wire.CONNECT, 1, 4096).encode(),
        Message(wire.CONNECT, wire.VERSION, 10).encode(),
        Message(wire.CONNECT, wire.VERSION, 4096).encode() + Message(0x12345678, 0, 0).encode(),
        Message(wire.CONNECT, wire.VERSION, 4096).encode() + b"half a header",
    ],
    ids=["silence", "half", "no hello", "old", "tiny", "unknown", "half a message"],
)
def test_who_does_not_play_along_is_hung_up_on(impatient: PhonePort, data: bytes) -> None:
    with Computer(impatient.port) as computer:
        computer.line.sendall(data)
        assert wire.WRITE.to_bytes(4, "little") not in computer.until_hung_up()
    assert says_hello(impatient)


def says_hello(phone: PhonePort) -> bool:
    """Whether the phone greets a computer; tried again where a busy machine was too slow."""
    for _ in range(20):
        try:
            with Computer(phone.port) as computer:
                return computer.hello().command == wire.CONNECT
        except ConnectionError:
            continue
    return False


def test_bytes_that_drip_are_no_handshake(impatient: PhonePort) -> None:
    """Slow loris: a byte now and then keeps no thread."""
    hello = Message(wire.CONNECT, wire.VERSION, 4096, bytes(4096)).encode()

    def drip(computer: Computer) -> None:
        for place in range(len(hello) - 1):  # it never ends; 40 s at least
            computer.line.sendall(hello[place : place + 1])
            time.sleep(0.01)

    with Computer(impatient.port) as computer, pytest.raises(ConnectionError):
        drip(computer)


def test_a_cable_that_breaks_within_a_picture(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        phone.cable.break_after(10_000)
        computer.send(wire.OPEN, 1, 0, b"exec:screencap\0")
        got = b""
        while data := computer.line.recv(65536):
            got += data
        assert len(got) == 10_000
    with Computer(phone.port) as computer:  # it breaks once
        computer.hello()
        assert len(computer.run("exec:screencap")) > 10**6


def test_a_cable_that_stalls(phone: PhonePort) -> None:
    with Computer(phone.port) as computer:
        computer.hello()
        phone.cable.stall()
        computer.send(wire.OPEN, 1, 0, b"exec:echo a\0")
        with pytest.raises(AssertionError, match="nothing came"):
            computer.next(0.2)
        phone.cable.flow()
        assert computer.next().command == wire.READY
        assert computer.next().payload == b"a\n"


def test_each_phone_has_its_port_and_they_differ(server: PhoneServer) -> None:
    with Computer(server.phones[0].port) as one, Computer(server.phones[1].port) as two:
        one.hello()
        two.hello()
        assert one.run("exec:getprop ro.serialno") == b"one\n"
        assert two.run("exec:getprop ro.serialno") == b"two\n"
        assert one.run("exec:screencap -p", 2) != two.run("exec:screencap -p", 2)


def test_it_listens_on_loopback_only(server: PhoneServer) -> None:
    for phone in server.phones:
        assert phone.listener is not None
        assert phone.listener.getsockname()[0] == "127.0.0.1"
        # 127.0.0.2 is this machine too; what listens on every interface would answer there.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", phone.port), timeout=1.0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as somebody else")
def test_another_user_of_this_machine_is_hung_up_on(phone: PhonePort) -> None:
    os.seteuid(65534)
    try:
        stranger = socket.create_connection(("127.0.0.1", phone.port), timeout=PATIENCE)
    finally:
        os.seteuid(0)
    with stranger:
        assert stranger.recv(1) == b""
    with Computer(phone.port) as computer:
        computer.hello()


def test_unplugged_and_plugged_in_again() -> None:
    with PhoneServer([Handset("cable", 1)]) as server:
        (phone,) = server.phones
        with Computer(phone.port) as computer:
            computer.hello()
            server.unplug(0)
            assert computer.until_hung_up() == b""
        with pytest.raises(ConnectionRefusedError):
            Computer(phone.port)
        server.plug_in(0)
        with Computer(phone.port) as computer:
            assert computer.hello().command == wire.CONNECT


def test_a_taken_port_is_said_and_nothing_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidSetting, match=str(port)), PhoneServer([Handset("x")], port):
            pass
