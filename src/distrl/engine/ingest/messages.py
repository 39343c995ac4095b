"""What a collector's process and the learner's say to each other, as bytes.

A message is one letter for its kind, and then JSON; a delivery is the encoded trajectory itself
(`replay.trajectory_encoding`). Nothing is pickled. Both sides are of one installation, so a message
that cannot be read is a mistake of ours and raises.

    collector → learner   Delivery, Heartbeat, Played
    learner → collector   Hello, Received, Refused, Pace, Play, Stop
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from distrl.config.typed_reader import read_record
from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Delivery:
    """A finished trajectory, encoded."""

    trajectory: bytes


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The collector lives, and stands so; `state` (JSON) is for whoever takes its place."""

    report: CollectorReport
    finished: tuple[FinishedEpisode, ...]
    state: str


@dataclass(frozen=True, slots=True)
class Played:
    """All that `Play` asked for is done."""


@dataclass(frozen=True, slots=True)
class Hello:
    """Who the collector is, for which run it plays, and what it goes on from (JSON)."""

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
    """Who may start an episode, so that none is too old at its end.

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
    """Play so many tasks and say when they are done; None: without end."""

    tasks: int | None


@dataclass(frozen=True, slots=True)
class Stop:
    """Start nothing more, and end; what is under way may go on for so many seconds."""

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
    return letter + json.dumps(_plain(message)).encode()


def from_bytes(data: bytes) -> Message:
    kind: Any = KINDS.get(data[:1])
    if kind is None:
        raise UsageError(f"a message that begins with {data[:8]!r}; is the other side a distrl?")
    message: Message
    if kind is Delivery:
        message = Delivery(data[1:])
    else:
        message = read_record(kind, json.loads(data[1:]), "a message")
    return message


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value))
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, Enum) else value
