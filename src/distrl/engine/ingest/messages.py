"""The messages between a collector's process and the learner's, as bytes.

A message is one letter for its kind and then msgpack, its types checked when it is read; a delivery
is the encoded trajectory itself (`replay.trajectory_encoding`). Nothing is pickled. Both sides are
of one installation, so a message that cannot be read is a bug and raises.

    collector → learner   Delivery, Heartbeat, Played
    learner → collector   Hello, Received, Refused, Pace, Play, Stop
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Delivery:
    """A finished trajectory, encoded."""

    trajectory: bytes


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A collector's report; `state` (JSON) is what a replacement goes on from."""

    report: CollectorReport
    finished: tuple[FinishedEpisode, ...]
    state: str


@dataclass(frozen=True, slots=True)
class Played:
    """All that `Play` asked for is done."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The collector's identity, its run, and the state (JSON) that it goes on from."""

    run: str
    name: str
    number: int
    state: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """The trajectory of that id is on the disk; `new`: for the first time."""

    id: str
    new: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """The trajectory of that id could not be stored; keep it, and send it again in a while."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pace:
    """When an episode may start, so that none is too stale at its end.

    `rooms[n]` is how many episodes may be in flight for one more to start with weights that are n
    versions behind; below 0: none. `elsewhere` are in flight at others. Or all are `free` to start.
    """

    version: int
    rooms: tuple[int, ...] = ()
    elsewhere: int = 0
    free: bool = False

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        if self.free:
            return True
        behind = max(0, self.version - weight_version)
        return behind < len(self.rooms) and in_flight + self.elsewhere <= self.rooms[behind]


@dataclass(frozen=True, slots=True)
class Play:
    """Play `tasks` tasks, then send `Played`; None: without end."""

    tasks: int | None


@dataclass(frozen=True, slots=True)
class Stop:
    """Start nothing more, and end; episodes under way have `finish_within` seconds."""

    finish_within: float


Message = Delivery | Heartbeat | Played | Hello | Received | Refused | Pace | Play | Stop
KINDS: dict[bytes, Callable[..., Any]] = {
    b"D": Delivery, b"H": Heartbeat, b"E": Played, b"I": Hello,
    b"R": Received, b"N": Refused, b"P": Pace, b"C": Play, b"S": Stop,
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
    except msgspec.DecodeError as error:
        raise UsageError(
            f"a message of {len(data)} bytes is no {kind.__name__}: {error}; are both sides of one "
            "version of distrl?"
        ) from error
    raise UsageError(f"a message that begins with {data[:8]!r}; is the other side a distrl?")
