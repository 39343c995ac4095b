"""Messages over a socket: whole, in order, and no waiting for halves."""

from __future__ import annotations

import socket
import threading

import pytest

from distrl.engine.local.framed_socket import LENGTH, FramedSocket


def test_frames_of_any_size_arrive_whole_and_in_order() -> None:
    one, other = socket.socketpair()
    sender, receiver = FramedSocket(one), FramedSocket(other)
    frames = [b"", b"a", b"b" * 3_000_000, b"c"]

    def send_all() -> None:
        for frame in frames:
            sender.send(frame)

    thread = threading.Thread(target=send_all)
    thread.start()
    assert [receiver.receive() for _ in frames] == frames
    thread.join()
    sender.close()
    with pytest.raises(EOFError):
        receiver.receive()
    receiver.close()


def test_half_a_frame_holds_nobody_up() -> None:
    one, other = socket.socketpair()
    receiver = FramedSocket(other)
    one.sendall(LENGTH.pack(2) + b"ok" + LENGTH.pack(100) + b"only the beginning")
    assert receiver.receive_all() == [b"ok"]
    one.sendall(b"x" * 82)
    assert receiver.receive_all() == [b"only the beginning" + b"x" * 82]
    one.sendall(LENGTH.pack(100) + b"torn")
    assert receiver.receive_all() == []
    one.close()
    with pytest.raises(EOFError):
        receiver.receive_all()
    receiver.close()


def test_who_takes_nothing_is_given_up() -> None:
    one, other = socket.socketpair()
    sender = FramedSocket(one, send_seconds=0.05)
    with pytest.raises(EOFError, match="takes no more"):
        sender.send(b"x" * 10_000_000)
    one.close()
    other.close()


def test_bytes_that_are_no_frames_are_refused() -> None:
    one, other = socket.socketpair()
    receiver = FramedSocket(other)
    one.sendall(b"GET / HTTP/1.1\r\n")
    with pytest.raises(EOFError, match="not ours"):
        receiver.receive_all()
    one.close()
    other.close()
