"""Peers that keep a connection and send no request are cut off, whatever they send instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.listening_learner import listening_learner
from tests.engine.join.raw_connections import raw_connection, said_until_closed

from distrl.engine.join import bounded_protocol


def test_a_connection_that_sends_nothing_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_protocol, "FIRST_REQUEST_SECONDS", 0.1)
    with listening_learner(tmp_path) as learner, raw_connection(learner.port) as connection:
        connection.sendall(b"POST /join HTTP/1.1\r\nhost:")  # and never the rest
        assert said_until_closed(connection) == b""


@pytest.mark.parametrize(
    "next_bytes", [b"x", b"xxxxxPOST /join HTTP/1.1\r\nhost:"], ids=["body", "head"]
)
def test_a_connection_whose_next_request_never_ends_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, next_bytes: bytes
) -> None:
    """The rest of a body that was refused by its token, or of the next head, drop by drop."""
    monkeypatch.setattr(bounded_protocol, "IDLE_SECONDS", 0.1)
    with listening_learner(tmp_path) as learner, raw_connection(learner.port) as connection:
        connection.sendall(b"POST /join HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n")
        connection.sendall(next_bytes)
        assert said_until_closed(connection).startswith(b"HTTP/1.1 401 ")


def test_a_connection_too_many_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_protocol, "MAX_CONNECTIONS", 0)
    with listening_learner(tmp_path) as learner, raw_connection(learner.port) as connection:
        assert said_until_closed(connection) == b""
