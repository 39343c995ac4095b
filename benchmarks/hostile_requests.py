"""Malformed and hostile requests drawn from a seed, which a listener must survive.

A `HostilePeer` sends them over TLS from loopback addresses of its own, so that the listener sees
many peers. Most requests carry the token, as from a broken or hijacked member.
"""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from distrl.engine.join.decision_wire import ask_for
from distrl.engine.join.join_messages import SEQUENCE, SESSION
from distrl.records import Observation, Screen

KINDS = ("join", "heartbeat", "deliver", "decide", "policy", "leave")
METHODS = ("GET", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW")
PATHS = (
    "/", "/weights/", "/weights/../join/key.pem", "/weights/%2e%2e%2fkey.pem",
    "/weights/" + "0" * 32, "/%00", "//", "/join/../deliver", "/" + "a" * 3000, "*",
    "/join?x=" + "%ff" * 50,
)  # fmt: skip
A_CONNECTION = 15  # requests on a connection; the next one has another address
SECONDS = 20.0  # timeout for an answer
CLOSED, SILENT = 0, -1  # in place of a status: connection closed, or no answer in time


@dataclass(slots=True)
class HostilePeer:
    """Sends to a loopback port; `statuses` counts answers, including `CLOSED` and `SILENT`."""

    port: int
    token: str
    session: str  # id of a member's session
    seed: int
    statuses: Counter[int] = field(default_factory=Counter)
    _address: int = 0

    def attack(self, count: int) -> None:
        rng = random.Random(f"hostile/{self.seed}")
        done = 0
        while done < count:
            if rng.random() < 0.02:
                self._garbage(rng)
                done += 1
            else:
                done += self._converse(rng, min(A_CONNECTION, count - done))

    def _converse(self, rng: random.Random, count: int) -> int:
        """Send requests on one connection until it is closed; return the number sent."""
        sent = 0
        with self._counted(), self._connected(rng, tls=True) as connection:
            while sent < count:
                sent += 1
                connection.sendall(self._request(rng))
                status, goes_on = _answer(connection)
                self.statuses[status] += 1
                if not goes_on:
                    break
        return max(1, sent)

    def _garbage(self, rng: random.Random) -> None:
        """Send bytes that are not HTTP, with or without TLS."""
        with self._counted(), self._connected(rng, tls=rng.random() < 0.5) as connection:
            connection.sendall(rng.randbytes(rng.randrange(1, 2000)) + b"\r\n\r\n")
            status, _ = _answer(connection)
            self.statuses[status] += 1

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a request that gets no answer and ends its connection."""
        try:
            yield
        except TimeoutError:
            self.statuses[SILENT] += 1
        except OSError:
            self.statuses[CLOSED] += 1

    def _connected(self, rng: random.Random, *, tls: bool) -> socket.socket:
        self._address += 1
        own = f"127.{1 + self.seed % 250}.{self._address // 250 % 250}.{1 + self._address % 250}"
        plain = socket.create_connection(("127.0.0.1", self.port), SECONDS, (own, 0))
        if not tls:
            return plain
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(plain)

    # Requests -----------------------------------------------------------------------------------

    def _request(self, rng: random.Random) -> bytes:
        draw: Callable[[random.Random], bytes] = rng.choice(
            (self._stranger, self._fuzzed, self._replayed, self._odd, self._false_length)
        )
        return draw(rng)

    def _stranger(self, rng: random.Random) -> bytes:
        shown = rng.choice(
            ("", "Bearer ", f"Bearer {self.token[:-1]}", f"bearer {self.token}", "ÿ")
        )
        return self._post(rng, rng.choice(KINDS), rng.randbytes(50), {"authorization": shown})

    def _fuzzed(self, rng: random.Random) -> bytes:
        """Return a request whose body is of its kind or of another one, with some bytes changed."""
        kind, beat = rng.choice(KINDS), {"in_flight": -1, "full": {"report": {"name": "x"}}}
        session = "0" * 32
        bodies: dict[str, object] = {
            "join": {
                "protocol": 1, "member": "0" * 31, "session": session, "place": "x", "devices": 1,
            },
            "heartbeat": beat,
            "deliver": {"trajectories": [b"DRTJ" + rng.randbytes(30)]},
            "decide": _no_observation(rng),
            "policy": {"ended": ["x" * 100] * rng.randrange(1001), "sizes": [[1, 1 << 40]]},
            "leave": beat,
        }  # fmt: skip
        others: list[object] = [*bodies.values(), [[[[[[[[[[]]]]]]]]]] * 50, None]
        plain = bodies[kind] if rng.random() < 0.5 else rng.choice(others)
        body = bytearray(msgspec.msgpack.encode(plain))
        for _ in range(rng.randrange(4)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        return self._post(rng, kind, bytes(body), {})

    def _replayed(self, rng: random.Random) -> bytes:
        return self._post(rng, rng.choice(KINDS[1:]), b"\x80", {SEQUENCE: "0"})

    def _odd(self, rng: random.Random) -> bytes:
        """Return a request with a meaningless path, method or header."""
        method = rng.choice((*METHODS, "POST"))
        path = rng.choice((*PATHS, *(f"/{kind}" for kind in KINDS)))
        extra = f"x-{rng.randrange(99)}: {'y' * rng.randrange(2000)}"
        odd = rng.choice(
            ("content-encoding: gzip", "upgrade: websocket\r\nconnection: upgrade", "expect: 9",
             "range: bytes=9-1,-", f"{SEQUENCE}: 1e999", f"{SESSION}: \x7f", extra)
        )  # fmt: skip
        length = "" if rng.random() < 0.5 else "content-length: 0\r\n"
        words = f"{method} {path} HTTP/1.1\r\nhost: x\r\n{length}{odd}\r\n"
        return f"{words}authorization: Bearer {self.token}\r\n\r\n".encode("latin-1")

    def _false_length(self, rng: random.Random) -> bytes:
        length = rng.choice(("-1", "0x10", "99999999999", "9" * 400, str(1 << 40), "1e3", ""))
        return self._post(rng, rng.choice(KINDS), b"", {"content-length": length})

    def _post(self, rng: random.Random, kind: str, body: bytes, changed: dict[str, str]) -> bytes:
        headers = {
            "host": "x",
            "authorization": f"Bearer {self.token}",
            "content-length": str(len(body)),
            SESSION: rng.choice((self.session, "0" * 32, "")),
            SEQUENCE: str(rng.randrange(100)),
        } | changed
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"POST /{kind} HTTP/1.1\r\n{lines}\r\n".encode("latin-1", "replace") + body


def _no_observation(rng: random.Random) -> dict[str, object]:
    """Return a request to decide whose screen is invalid: its bytes, its size or its digest."""
    seen = Observation("open it", Screen(np.zeros((32, 16, 3), np.uint8)), ())
    ask: dict[str, Any] = msgspec.to_builtins(ask_for(1, "a/1", seen), builtin_types=(bytes,))
    wrong = {"packed": rng.randbytes(40), "height": 33, "width": 4097, "address": "0" * 32}
    name = rng.choice(list(wrong))
    return ask | {"screens": [{**ask["screens"][0], name: wrong[name]}]}


def _answer(connection: socket.socket) -> tuple[int, bool]:
    """Return the status of the next answer (or `CLOSED`) and whether the connection stays open."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1 << 16)
        if not piece:
            return CLOSED, False
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    status = int(lines[0].split()[1]) if lines[0].startswith("http/") else CLOSED
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    missing = int(headers.get("content-length", "0")) - len(body)
    while missing > 0:
        piece = connection.recv(1 << 16)
        if not piece:
            return status, False
        missing -= len(piece)
    return status, headers.get("connection") != "close" and missing == 0
