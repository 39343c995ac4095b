"""Messages between a joined collector and the learner: requests, replies and size limits.

    POST /join        JoinRequest → Welcome           a session begins
    POST /heartbeat   JoinHeartbeat → Orders          every second or so
    POST /deliver     Deliveries → DeliveryReply      answered when all are durable
    POST /decide      Ask → PackedDecision            an observation for the learner's policy
    POST /policy      PolicyQuestion → PolicyAnswer   the report of its server
    POST /leave       JoinHeartbeat → Orders          the session ends
    GET  /weights/X   the file of the weights of digest X, from any byte on (`Range`)

Bodies are msgpack, whose types are checked when it is decoded; trajectories in them are encoded as
they are stored (`replay.trajectory_encoding`). Nothing is pickled, and no body is compressed, since
screens already are. `LIMITS` has the maximum size of a body of each kind, in bytes.

Each request carries the token, the session id that the collector drew when it joined, and a number
that grows with each request of its kind (those of `decide`, sent by many threads, may overtake each
other within `WINDOW`). The learner accepts each number once; a collector that gets no answer sends
the same content again under the next number. A trajectory sent twice is stored once, by its id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from distrl.engine.ingest.messages import Heartbeat, Received, Refused
from distrl.engine.join.decision_wire import MAX_REQUEST_BYTES
from distrl.engine.supervision.collector_registry import HeartbeatReply
from distrl.errors import JoinRefused

PROTOCOL = 1
SESSION, SEQUENCE, REASON = "distrl-session", "distrl-sequence", "distrl-refused"  # headers
MAX_DELIVERY_BYTES = 1 << 26  # a trajectory of a hundred large screens
MAX_DELIVERIES = 64  # trajectories in one request
LIMITS = {
    "join": 1 << 12, "heartbeat": 1 << 22, "leave": 1 << 22, "deliver": MAX_DELIVERY_BYTES,
    "decide": MAX_REQUEST_BYTES, "policy": 1 << 17,
}  # fmt: skip
WINDOW = {"decide": 1024}  # kinds whose requests may overtake each other, and by how many
MAX_REPLY_BYTES = 1 << 23  # of everything but weights
Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """A request to join. `member` is drawn once for each spool directory and never changes."""

    protocol: int
    member: Hex
    session: Hex
    place: Annotated[str, Meta(max_length=100)]  # the name of its machine, for people
    devices: Annotated[int, Meta(ge=1, le=10**6)]


@dataclass(frozen=True, slots=True)
class Welcome:
    """What a joined collector starts with; `run` identifies the run across learner restarts."""

    run: str
    name: str  # of the collector; its episode ids begin with it
    number: int  # of its slot
    state: str  # JSON, to resume from; empty: a new start
    settings: str  # TOML, all of the learner's


@dataclass(frozen=True, slots=True)
class JoinHeartbeat:
    """A sign of life. `in_flight`: episodes running or undelivered; `full`: a report, if due."""

    in_flight: Annotated[int, Meta(ge=0, le=1 << 20)]
    full: Heartbeat | None = None


@dataclass(frozen=True, slots=True)
class WeightOffer:
    """The newest weights, which may be fetched by their digest."""

    version: int
    digest: Hex
    nbytes: int


@dataclass(frozen=True, slots=True)
class Orders:
    """The learner's reply to a heartbeat; `beat_seconds`: until the next one."""

    reply: HeartbeatReply
    weights: WeightOffer | None
    beat_seconds: float


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Encoded trajectories."""

    trajectories: Annotated[tuple[bytes, ...], Meta(min_length=1, max_length=MAX_DELIVERIES)]


@dataclass(frozen=True, slots=True)
class DeliveryReply:
    """Ids that are stored, ids to send again later, and positions of unusable trajectories."""

    received: tuple[tuple[str, bool], ...]  # and whether it is new
    refused: tuple[tuple[str, str], ...]  # and why
    unusable: tuple[tuple[int, str], ...]  # and why; to be sent no more

    @classmethod
    def of(
        cls, answers: list[Received | Refused], unusable: list[tuple[int, str]]
    ) -> DeliveryReply:
        return cls(
            tuple((each.id, each.new) for each in answers if isinstance(each, Received)),
            tuple((each.id, each.reason) for each in answers if isinstance(each, Refused)),
            tuple(unusable),
        )


def pack(message: Any) -> bytes:
    return msgspec.msgpack.encode(message)


def unpack(data: bytes, kind: type[T]) -> T:
    """Decode a message of that kind; raise `JoinRefused` if the bytes are not one."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise JoinRefused(
            f"{len(data)} bytes are no {kind.__name__}: {error}; are both sides of one version of "
            "distrl?",
            "malformed",
        ) from error
