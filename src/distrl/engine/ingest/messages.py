"""The messages between a collector and the learner, and the socket between their processes.

    collector → learner   Delivery, Heartbeat, Played, Encodings
    learner → collector   Received, Refused, Pace, Play, Stop

The messages of a policy process (`serving.decision_messages`) use the same kind of socket.

A message is serialised as one letter for its kind and then msgpack, whose types are checked when it
is read; a delivery is the encoded trajectory itself (`replay.trajectory_encoding`). Nothing is
pickled. Both sides are of one installation, so a message that cannot be read is a bug and raises.

On the socket each message is a frame: its length (4 bytes, little-endian) and its bytes. Messages
arrive whole or not at all, in the order in which they were sent. (multiprocessing's `Connection`
would block its reader in the middle of a message.)
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from distrl.devices.safety.refusals import RefusalBatch
from distrl.engine.serving.decision_messages import (
    DecisionRequest,
    Decisions,
    EndSession,
    ReportRequest,
)
from distrl.engine.serving.policy_server import ServerReport
from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.errors import UsageError

LENGTH = struct.Struct("<I")
PIECE = 1 << 20  # bytes that are read from the socket at once
LONGEST = 1 << 28  # bytes of a frame; a greater length means that we did not send it


@dataclass(frozen=True, slots=True)
class Delivery:
    """A finished trajectory, encoded."""

    trajectory: bytes


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A collector's report; `state` (JSON) is what a replacement resumes from."""

    report: CollectorReport
    finished: tuple[FinishedEpisode, ...]
    state: str
    refusals: RefusalBatch | None = None  # None: it shares the learner's disk, and writes there


@dataclass(frozen=True, slots=True)
class Played:
    """All that `Play` asked for is done."""


@dataclass(frozen=True, slots=True)
class Encodings:
    """A frozen encoder's outputs for prompts (`agent.encoding_cache`), as safetensors.

    Sent when they are made, before the trajectory; without them the learner encodes by itself.
    """

    keys: tuple[tuple[str, ...], ...]
    parts: bytes


@dataclass(frozen=True, slots=True)
class Received:
    """The trajectory with that id is durable, or was dropped: the run has all that it wants.

    `new`: it was stored now, not before.
    """

    id: str
    new: bool
    kept: bool = True  # False: dropped, since the run has all that it wants


@dataclass(frozen=True, slots=True)
class Refused:
    """The trajectory of that id could not be stored; keep it, and send it again in a while."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pace:
    """The rule by which a collector starts episodes, so that none is too stale at its end.

    An episode may start with weights that are n versions behind if at most `rooms[n]` are in flight
    (below 0: never), `elsewhere` of them at other collectors. `free` lifts this bound. In any case,
    no more than `wanted` may be in flight at this collector.
    """

    version: int
    rooms: tuple[int, ...] = ()
    elsewhere: int = 0
    free: bool = False
    wanted: int | None = None

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        if self.wanted is not None and in_flight >= self.wanted:
            return False
        if self.free:
            return True
        behind = max(0, self.version - weight_version)
        return behind < len(self.rooms) and in_flight + self.elsewhere <= self.rooms[behind]


@dataclass(frozen=True, slots=True)
class Play:
    """Play `tasks` tasks, then send `Played`; None: without end. Send `Encodings` if asked to."""

    tasks: int | None
    share_encodings: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Start nothing more, and end; episodes under way have `finish_within` seconds."""

    finish_within: float


Message = (
    Delivery | Heartbeat | Played | Encodings | Received | Refused | Pace | Play | Stop
    | DecisionRequest | EndSession | ReportRequest | Decisions | ServerReport
)  # fmt: skip
KINDS: dict[bytes, Callable[..., Any]] = {
    b"D": Delivery, b"H": Heartbeat, b"E": Played, b"F": Encodings,
    b"R": Received, b"N": Refused, b"P": Pace, b"C": Play, b"S": Stop,
    b"Q": DecisionRequest, b"L": EndSession, b"W": ReportRequest, b"A": Decisions,
    b"V": ServerReport,
}  # fmt: skip
LETTERS = {kind: letter for letter, kind in KINDS.items()}


def to_bytes(message: Message) -> bytes:
    letter = LETTERS[type(message)]
    if isinstance(message, Delivery):
        return letter + message.trajectory
    return letter + msgspec.msgpack.encode(message)


def from_bytes(data: bytes) -> Message:
    kind: Any = KINDS.get(data[:1])
    if kind is Delivery:
        return Delivery(data[1:])
    try:
        if kind is not None:
            message: Message = msgspec.msgpack.decode(data[1:], type=kind)
            return message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"a message of {len(data)} bytes is no {kind.__name__}: {error}; are both sides of one "
            "version of distrl?"
        ) from error
    raise UsageError(f"a message that begins with {data[:8]!r}; is the other side a distrl?")


class MessageSocket:
    """One end of a connection. `send_seconds`: how long the other side may read nothing.

    Any thread may send. `send` waits until the message is written. `post` never waits: what the
    socket has no room for is queued until `flush`. Use one of the two per connection, and `post`
    without `send_seconds`. `receive` waits for the next message. `receive_all` takes what has
    arrived and never waits, so a process that stops in the middle of a message does not block a
    reader of several sockets. All raise `EOFError` once the other side has gone.
    """

    def __init__(self, connection: socket.socket, send_seconds: float | None = None) -> None:
        self._socket = connection
        self._socket.settimeout(send_seconds)
        self._sending = threading.Lock()
        self.taken = 0  # bytes of posted messages that the socket has taken so far
        self._unsent = bytearray()  # those that it has not taken yet
        self._buffer = bytearray()
        self._messages: deque[Message] = deque()

    def wait_at_most(self, seconds: float) -> None:
        """From now on, have `receive` raise `EOFError` after that many seconds of silence."""
        self._socket.settimeout(seconds)

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Wait until the message is written; raise `EOFError` if the other side reads no more."""
        frame = to_bytes(message)
        try:
            with self._sending:
                self._socket.sendall(LENGTH.pack(len(frame)) + frame)
        except OSError as error:
            raise EOFError(f"the other side takes no more: {error}") from error

    @property
    def unsent(self) -> int:
        """Bytes of posted messages that wait for room in the socket."""
        return len(self._unsent)

    def post(self, message: Message) -> None:
        """Send without waiting; raise `EOFError` if the other side is gone."""
        frame = to_bytes(message)
        with self._sending:
            self._unsent += LENGTH.pack(len(frame)) + frame
            self._write()

    def flush(self) -> None:
        """Write what is queued, as far as there is room. Call it when the socket is writable."""
        with self._sending:
            self._write()

    def _write(self) -> None:
        try:
            while self._unsent:
                taken = self._socket.send(self._unsent, socket.MSG_DONTWAIT)
                self.taken += taken
                del self._unsent[:taken]
        except BlockingIOError:
            return
        except OSError as error:
            self._unsent.clear()
            raise EOFError(f"the other side takes no more: {error}") from error

    def receive(self) -> Message:
        """Wait for the next message and return it."""
        while not self._messages:
            self._read()
        return self._messages.popleft()

    def receive_all(self) -> list[Message]:
        """Return the messages that are complete by now. Call it when the socket is readable."""
        self._read()
        messages = list(self._messages)
        self._messages.clear()
        return messages

    def _read(self) -> None:
        try:
            piece = self._socket.recv(PIECE)
        except OSError as error:
            raise EOFError(f"the connection broke: {error}") from error
        if not piece:
            raise EOFError("the other side has closed the connection")
        self._buffer += piece
        start = 0
        while len(self._buffer) - start >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._buffer, start)
            if length > LONGEST:
                raise EOFError(f"a frame of {length} bytes; these bytes are not ours")
            end = start + LENGTH.size + length
            if len(self._buffer) < end:
                break
            self._messages.append(from_bytes(bytes(self._buffer[start + LENGTH.size : end])))
            start = end
        del self._buffer[:start]

    def close(self) -> None:
        self._socket.close()
