"""One connection of a computer to a phone: the handshake, then many multiplexed streams.

Everything runs in the thread that calls `serve`, so that a short command costs one wake-up of one
thread. Whatever the computer sends, `serve` returns instead of raising: it closes the connection
and logs the reason, and the phone is unaffected.
"""

from __future__ import annotations

import itertools
import logging
import math
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from phonesim.adb_daemon import messages as wire
from phonesim.adb_daemon.authorization import Authorization, PublicKey, read_key
from phonesim.adb_daemon.cable import Cable
from phonesim.adb_daemon.messages import Message, MessageReader, ProtocolBreach
from phonesim.adb_daemon.streams import Inbox, Service, Stream

logger = logging.getLogger(__name__)

LEAST_PAYLOAD = 4096  # bytes, the maximum payload of the oldest adb
APPROVAL_POLL = 0.05  # seconds between checks whether the user has tapped "Allow"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on time and resources for each computer."""

    handshake_seconds: float = 10.0
    message_seconds: float = 10.0  # from the first to the last byte of one message
    send_seconds: float = 30.0  # for the computer to take what we send
    streams: int = 64  # at once
    connections: int = 8  # at once, for each phone


OpenService = Callable[[str], Callable[[Inbox], Service] | None]


class Connection:
    """Serves one socket until one side hangs up."""

    def __init__(
        self,
        line: socket.socket,
        banner: bytes,
        open_service: OpenService,
        authorization: Authorization,
        cable: Cable,
        limits: Limits,
    ) -> None:
        self._line = line
        self._banner = banner
        self._open_service = open_service
        self._authorization = authorization
        self._cable = cable
        self._limits = limits
        self._reader = MessageReader(line, limits.message_seconds)
        self._streams: dict[int, Stream] = {}
        self._numbers = itertools.count(1)
        self._max_payload = LEAST_PAYLOAD
        self._with_sums = False

    def serve(self) -> None:
        try:
            self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._shake_hands()
            while True:
                message = self._next(self._next_wake())
                if message is None:
                    self._wake_streams()
                else:
                    self._take(message)
        except ProtocolBreach as breach:
            logger.warning("hung up on a computer: %s", breach)
        except OSError as error:
            logger.debug("a connection ended: %s", error)
        finally:
            self._close_streams()
            self._line.close()

    def hang_up(self) -> None:
        """Make `serve` return soon; may be called from any thread."""
        try:
            self._line.shutdown(socket.SHUT_RDWR)
        except OSError as error:  # the other side was quicker
            logger.debug("a connection was gone already: %s", error)

    # The handshake -----------------------------------------------------------------------------

    def _shake_hands(self) -> None:
        hello = self._next(time.monotonic() + self._limits.handshake_seconds)
        if hello is None or hello.command != wire.CONNECT:
            raise ProtocolBreach("a computer that did not say who it is")
        self._agree(hello)
        if not self._authorization.everybody:
            self._authorize()
        self._say_hello()

    def _agree(self, hello: Message) -> None:
        if hello.first < wire.VERSION_WITH_SUMS or hello.second < LEAST_PAYLOAD:
            raise ProtocolBreach(f"version {hello.first:#x} with payloads of {hello.second} bytes")
        self._with_sums = hello.first == wire.VERSION_WITH_SUMS
        self._max_payload = min(hello.second, wire.MAX_PAYLOAD)

    def _say_hello(self) -> None:
        version = wire.VERSION_WITH_SUMS if self._with_sums else wire.VERSION
        self._send([Message(wire.CONNECT, version, wire.MAX_PAYLOAD, self._banner)])

    def _authorize(self) -> None:
        """Ask for signatures until one is by a trusted key, or the user has tapped "Allow"."""
        token = self._send_token()
        waiting: PublicKey | None = None
        while waiting is None or not self._authorization.trusts(waiting):
            poll = None if waiting is None else time.monotonic() + APPROVAL_POLL
            message = self._next(poll)
            if message is None:
                continue
            if message.command != wire.AUTHORIZE:
                raise ProtocolBreach("a computer that goes on before it may")
            if message.first == wire.SIGNATURE:
                if self._authorization.proves(token, message.payload):
                    return
                token = self._send_token()
            elif message.first == wire.PUBLIC_KEY:
                waiting = read_key(message.payload)
                if waiting is None:
                    raise ProtocolBreach("a public key that is none")
                self._authorization.ask(waiting)

    def _send_token(self) -> bytes:
        token = self._authorization.new_token()
        self._send([Message(wire.AUTHORIZE, wire.TOKEN, 0, token)])
        return token

    # Messages ----------------------------------------------------------------------------------

    def _next(self, wake_at: float | None = None) -> Message | None:
        message = self._reader.next(wake_at)
        self._cable.wait_until_it_flows()
        return message

    def _take(self, message: Message) -> None:
        match message.command:
            case wire.OPEN:
                self._open(message)
            case wire.WRITE:
                self._received(message)
            case wire.READY:
                self._acknowledged(message)
            case wire.CLOSE:
                self._closed(message)
            case wire.CONNECT:  # the computer begins anew
                self._close_streams()
                self._agree(message)
                self._say_hello()
            case wire.AUTHORIZE:
                logger.debug("an answer to a question that we no longer ask")
            case _:
                raise ProtocolBreach(f"a message {message.command:#010x} that adb does not have")

    def _open(self, message: Message) -> None:
        peer = message.first
        if peer == 0 or len(self._streams) >= self._limits.streams:
            self._send([Message(wire.CLOSE, 0, peer)])
            return
        name = message.payload.rstrip(b"\x00").decode("utf-8", "replace")
        serve = self._open_service(name)
        if serve is None:
            self._send([Message(wire.CLOSE, 0, peer)])
            return
        stream = Stream(next(self._numbers) & 0xFFFFFFFF, peer, serve, self._max_payload)
        self._streams[stream.number] = stream
        ready = Message(wire.READY, stream.number, peer)
        self._send([ready, *stream.advance(time.monotonic())])
        self._drop_if_closed(stream)

    def _received(self, message: Message) -> None:
        stream = self._streams.get(message.second)
        if stream is None:  # it was closed while this was under way
            self._send([Message(wire.CLOSE, 0, message.first)])
            return
        stream.received(message.payload)
        self._advance(stream)

    def _acknowledged(self, message: Message) -> None:
        stream = self._streams.get(message.second)
        if stream is not None:
            stream.acknowledged()
            self._advance(stream)

    def _closed(self, message: Message) -> None:
        stream = self._streams.pop(message.second, None)
        if stream is not None:
            stream.close()
            self._send([Message(wire.CLOSE, stream.number, stream.peer)])

    # Streams -----------------------------------------------------------------------------------

    def _advance(self, stream: Stream) -> None:
        self._send(stream.advance(time.monotonic()))
        self._drop_if_closed(stream)

    def _drop_if_closed(self, stream: Stream) -> None:
        if stream.closed:
            self._streams.pop(stream.number, None)

    def _next_wake(self) -> float | None:
        soonest = min((stream.due for stream in self._streams.values()), default=math.inf)
        return soonest if soonest < math.inf else None

    def _wake_streams(self) -> None:
        for stream in list(self._streams.values()):
            self._advance(stream)

    def _close_streams(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def _send(self, messages: Iterable[Message]) -> None:
        data = b"".join(message.encode(self._with_sums) for message in messages)
        if not data:
            return
        through = self._cable.share(len(data))
        self._line.settimeout(self._limits.send_seconds)
        self._line.sendall(data if through == len(data) else data[:through])
        if through < len(data):
            raise ConnectionAbortedError("the cable broke")
