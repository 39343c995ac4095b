"""Streams keep adb's flow control: one unanswered message in each direction."""

from __future__ import annotations

import math

import pytest

from phonesim.adb_daemon import messages as wire
from phonesim.adb_daemon.messages import Message, ProtocolBreach
from phonesim.adb_daemon.streams import MAX_UNREAD, Inbox, Service, Stream


def test_a_long_answer_waits_for_each_acknowledgement_but_not_for_the_last() -> None:
    def serve(inbox: Inbox) -> Service:
        yield b"abc"
        yield b"de"

    stream = Stream(1, 9, serve, max_payload=2)
    assert list(stream.advance(0.0)) == [Message(wire.WRITE, 1, 9, b"ab")]
    assert not list(stream.advance(0.0))
    stream.acknowledged()
    assert list(stream.advance(0.0)) == [Message(wire.WRITE, 1, 9, b"cd")]
    stream.acknowledged()
    end = [Message(wire.WRITE, 1, 9, b"e"), Message(wire.CLOSE, 1, 9)]
    assert list(stream.advance(0.0)) == end
    assert stream.closed


def test_a_service_sleeps_without_holding_anybody_up() -> None:
    def serve(inbox: Inbox) -> Service:
        yield 2.0
        yield b"awake"

    stream = Stream(1, 9, serve, 100)
    assert not list(stream.advance(10.0))
    assert stream.due == 12.0
    assert not list(stream.advance(11.9))
    assert [message.command for message in stream.advance(12.0)] == [wire.WRITE, wire.CLOSE]


def test_a_service_waits_for_what_it_needs() -> None:
    def serve(inbox: Inbox) -> Service:
        yield (yield from inbox.exactly(4)) + b"!"

    stream = Stream(1, 9, serve, 100)
    assert not list(stream.advance(0.0))
    assert stream.due == math.inf
    stream.received(b"ab")
    assert list(stream.advance(0.0)) == [Message(wire.READY, 1, 9)]
    stream.received(b"cde")
    assert Message(wire.WRITE, 1, 9, b"abcd!") in stream.advance(0.0)


def test_who_is_not_read_has_to_wait_and_who_does_not_wait_is_refused() -> None:
    def serve(inbox: Inbox) -> Service:
        yield 1000.0

    stream = Stream(1, 9, serve, 100)
    list(stream.advance(0.0))
    stream.received(bytes(MAX_UNREAD))
    assert not list(stream.advance(0.0)), "told to go on, although nothing was read"
    for _ in range(4):
        stream.received(bytes(MAX_UNREAD))
    with pytest.raises(ProtocolBreach):
        stream.received(b"more")
