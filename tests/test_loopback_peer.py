"""Connections over loopback have an owner, and only ours are taken for ours."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from distrl.loopback_peer import is_own_peer, owners_are_known, peer_user

STRANGER = 65534
needs_list = pytest.mark.skipif(not owners_are_known(), reason="this system lists no owners")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as somebody else")


@contextmanager
def acting_as(user: int) -> Iterator[None]:
    """Sockets belong to whoever opens them."""
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


def accepted(family: int, host: str) -> tuple[socket.socket, socket.socket, socket.socket]:
    listener = socket.create_server((host, 0), family=family)
    mine = socket.create_connection(listener.getsockname()[:2])
    return listener, mine, listener.accept()[0]


@needs_list
@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_a_connection_of_ours_is_ours_until_it_is_closed(family: int, host: str) -> None:
    listener, mine, theirs = accepted(family, host)
    peer, own = theirs.getpeername(), theirs.getsockname()
    with listener, theirs:
        assert peer_user(peer, own) == os.geteuid()
        assert is_own_peer(peer, own)
        mine.close()
        assert peer_user(peer, own) is None  # nobody's, though it is listed as root's


@needs_list
def test_a_socket_of_ipv6_may_speak_ipv4() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_INET6) as mine:
        mine.connect((f"::ffff:{listener.getsockname()[0]}", listener.getsockname()[1]))
        theirs = listener.accept()[0]
        with theirs:
            assert is_own_peer(theirs.getpeername(), theirs.getsockname())


@needs_list
def test_what_is_no_connection_of_this_machine_is_nobodys() -> None:
    own = ("127.0.0.1", 7400)
    for peer in [("127.0.0.1", 1), ("10.1.2.3", 5000), ("localhost", 80), ("", 0), ("::1", 9)]:
        assert peer_user(peer, own) is None
        assert not is_own_peer(peer, own)


@needs_list
@needs_root
def test_a_connection_of_another_user_is_not_ours() -> None:
    with acting_as(STRANGER):
        listener, mine, theirs = accepted(socket.AF_INET, "127.0.0.1")
    with listener, mine, theirs:
        assert peer_user(theirs.getpeername(), theirs.getsockname()) == STRANGER
        assert not is_own_peer(theirs.getpeername(), theirs.getsockname())
        with acting_as(STRANGER):
            assert is_own_peer(theirs.getpeername(), theirs.getsockname())


@needs_list
def test_a_user_is_told_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    listener, mine, theirs = accepted(socket.AF_INET, "127.0.0.1")
    with listener, mine, theirs:
        ends = theirs.getpeername(), theirs.getsockname()
        assert is_own_peer(*ends)
        owner = peer_user(*ends)
        assert owner is not None
        monkeypatch.setattr("distrl.loopback_peer.ROOT", -1)
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
        assert not is_own_peer(*ends)
