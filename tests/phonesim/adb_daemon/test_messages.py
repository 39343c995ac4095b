"""Messages on a socket: cut right, however they come, and refused when they are none."""

from __future__ import annotations

import random
import socket
import threading
import time

import pytest

from phonesim.adb_daemon import messages as wire
from phonesim.adb_daemon.messages import Message, MessageReader, ProtocolBreach


def test_a_header_worked_by_hand() -> None:
    encoded = Message(wire.OPEN, 1, 0, b"a\xff").encode(with_sum=True)
    # "OPEN", 1, 0, two bytes, 0x61 + 0xff = 0x160, and the inverse of "OPEN"
    assert encoded == (
        b"OPEN\x01\0\0\0\0\0\0\0\x02\0\0\0\x60\x01\0\0"
        + bytes(0xFF - b for b in b"OPEN")
        + b"a\xff"
    )
    assert Message(wire.OPEN, 1, 0, b"a\xff").encode()[16:20] == bytes(4)


def test_messages_are_cut_the_same_however_they_come() -> None:
    rng = random.Random("messages/1")
    sent = [
        Message(wire.WRITE, number, 7, rng.randbytes(size))
        for number, size in enumerate((0, 1, 5000, wire.MAX_PAYLOAD, 3, wire.MAX_PAYLOAD))
    ]
    data = b"".join(message.encode() for message in sent)
    ours, theirs = socket.socketpair()

    def drip() -> None:
        place = 0
        while place < len(data):
            count = rng.choice((1, 23, 24, 100_000, 700_000))
            theirs.sendall(data[place : place + count])
            place += count

    thread = threading.Thread(target=drip)
    thread.start()
    reader = MessageReader(ours, 5.0)
    assert [reader.next() for _ in sent] == sent
    thread.join()
    theirs.close()
    with pytest.raises(ConnectionResetError):
        reader.next()
    ours.close()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n", "none of adb's"),
        (bytes(24), "none of adb's"),
        (wire.HEADER.pack(wire.OPEN, 1, 0, 2**20 + 1, 0, wire.OPEN ^ 0xFFFFFFFF), "1048577 bytes"),
    ],
    ids=["another protocol", "zeros", "too large"],
)
def test_what_is_no_message_is_a_breach(data: bytes, why: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        with pytest.raises(ProtocolBreach, match=why):
            MessageReader(ours, 5.0).next()


def test_silence_between_messages_is_allowed_and_within_one_is_not() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader = MessageReader(ours, patience=0.1)
        assert reader.next(time.monotonic() + 0.3) is None
        theirs.sendall(Message(wire.WRITE, 1, 2, b"abc").encode()[:-1])
        with pytest.raises(ProtocolBreach, match=r"0\.1 s"):
            reader.next()
