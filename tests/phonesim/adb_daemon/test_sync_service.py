"""File transfer: what is sent comes back, and what makes no sense is refused."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest

from phonesim.adb_daemon import sync_service
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.streams import Inbox
from phonesim.adb_daemon.sync_service import CHUNK, sync


def request(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data


def sent(path: str, data: bytes, mode: int = 0o100644, changed: int = 77) -> bytes:
    pieces = [request(b"DATA", data[at : at + CHUNK]) for at in range(0, len(data), CHUNK)]
    return request(b"SEND", f"{path},{mode}".encode()) + b"".join(pieces) + done(changed)


def done(changed: int) -> bytes:
    return b"DONE" + struct.pack("<I", changed)


def answers(handset: Handset, *data: bytes) -> bytes:
    """What the service says to all of it, sent byte after byte in odd pieces."""
    inbox = Inbox()
    service = sync(handset, inbox)
    whole, collected = b"".join(data), b""
    rng = random.Random("sync/1")

    def pieces() -> Iterator[bytes]:
        place = 0
        while place < len(whole):
            count = rng.choice((1, 7, 8, 9, 70_000))
            yield whole[place : place + count]
            place += count

    for piece in pieces():
        inbox.put(piece)
        for said in service:
            if isinstance(said, float):
                break
            collected += said
    return collected


@pytest.fixture
def handset() -> Handset:
    return Handset("sync", 1)


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1, 5 * CHUNK])
def test_a_file_comes_back_as_it_went(handset: Handset, size: int) -> None:
    data = random.Random(f"file/{size}").randbytes(size)
    assert answers(handset, sent("/sdcard/new/a b", data)) == b"OKAY" + bytes(4)
    said = answers(handset, request(b"RECV", b"/sdcard/new/a b"))
    got = b""
    while said[:4] == b"DATA":
        (count,) = struct.unpack_from("<I", said, 4)
        got, said = got + said[8 : 8 + count], said[8 + count :]
    assert said == b"DONE" + bytes(4)
    assert got == data
    stat = answers(handset, request(b"STAT", b"/sdcard/new/a b"))
    assert stat == b"STAT" + struct.pack("<3I", 0o100644, size, 77)


def test_lists_and_what_is_not_there(handset: Handset) -> None:
    listed = answers(handset, request(b"LIST", b"/sdcard"))
    assert b"Download" in listed
    assert listed.endswith(b"DONE" + bytes(16))
    assert answers(handset, request(b"STAT", b"/nothing")) == b"STAT" + bytes(12)
    assert answers(handset, request(b"LIST", b"/nothing")) == b"DONE" + bytes(16)
    assert answers(handset, request(b"RECV", b"/nothing"))[:4] == b"FAIL"
    assert answers(handset, request(b"RECV", b"/sdcard"))[:4] == b"FAIL"


@pytest.mark.parametrize(
    "data",
    [
        sent("/etc/passwd", b"x"),
        sent("/sdcard/Download", b"x"),
        sent("/sdcard/link", b"/etc/passwd", mode=0o120777),
        request(b"SEND", b"no mode") + done(0),
        request(b"SEND", b"/sdcard/x,99999999999999") + done(0),
        request(b"SEND", b"/sdcard/x,33188") + request(b"DATA", bytes(CHUNK + 1)),
        request(b"SEND", b"/sdcard/x,33188") + request(b"WHAT", b""),
        request(b"EXEC", b"/bin/sh"),
        b"STAT" + struct.pack("<I", 2**31),
    ],
)
def test_what_makes_no_sense_is_refused(handset: Handset, data: bytes) -> None:
    assert answers(handset, data)[:4] == b"FAIL"


def test_too_much_is_refused_and_the_old_file_stays(
    handset: Handset, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(handset, sent("/sdcard/a", b"old"))
    monkeypatch.setattr(sync_service, "MAX_BYTES", 100_000)
    assert b"No space" in answers(handset, sent("/sdcard/a", bytes(200_000)))
    answers(handset, request(b"SEND", b"/sdcard/a,33188") + request(b"DATA", b"half"))
    assert handset.files.read("/sdcard/a") == b"old"
