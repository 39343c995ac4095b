"""What processes say to each other comes back as it was said."""

from __future__ import annotations

import socket
import threading

import pytest
from tests.engine.made_up_reports import finished, report

from distrl.engine.ingest.messages import (
    KINDS,
    LENGTH,
    Delivery,
    Encodings,
    Heartbeat,
    Message,
    MessageSocket,
    Pace,
    Play,
    Played,
    Received,
    Refused,
    Stop,
    from_bytes,
    to_bytes,
)
from distrl.engine.serving.decision_messages import (
    DecisionRequest,
    Decisions,
    EndSession,
    PackedDecision,
    ReportRequest,
)
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.serving.screen_memory import WrittenScreen
from distrl.errors import UsageError

SCREEN = WrittenScreen(34_000, 720, 360, "a1-360x720")
MESSAGES: list[Message] = [
    Delivery(b"DRTJ\x00 any bytes"),
    Heartbeat(report(), (finished("a"), finished("b")), '{"started": 3}'),
    Played(),
    Encodings((("Go home", "a1-2x3"), ("alone",)), b"\x00 any bytes"),
    Received("a/1", True),
    Refused("ä/1", "the disk is full"),
    Pace(3, (16, 4, -1), 2),
    Pace(0, free=True),
    Play(None),
    Play(7, share_encodings=True),
    Stop(1.5),
    DecisionRequest(3, "a", b"Go home", (("Tap", (0.2, 0.3)),), 4096, (SCREEN,)),
    EndSession("a"),
    ReportRequest(),
    Decisions((PackedDecision(3, ("Back", ()), b"back", (1, 2), (-0.5, -0.25), 7),)),
    ServerReport("node", 2, 1, report().batcher),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_every_message_comes_back_equal(message: Message) -> None:
    assert from_bytes(to_bytes(message)) == message


def test_every_kind_is_among_them_and_strangers_are_refused() -> None:
    assert {type(message) for message in MESSAGES} == set(KINDS.values())
    with pytest.raises(UsageError, match="is the other side a distrl"):
        from_bytes(b"GET / HTTP/1.1")


@pytest.mark.parametrize(
    "data", [b"", b"R", b"R{}", b"R\xff\xff", b"S\xa5words", to_bytes(Received("a", True))[:-2]]
)
def test_bytes_that_are_no_message_are_refused(data: bytes) -> None:
    with pytest.raises(UsageError):
        from_bytes(data)


def test_fields_of_other_types_are_refused() -> None:
    wrong = Received(7, "yes")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no Received: Expected `str`, got `int`"):
        from_bytes(to_bytes(wrong))


def test_numbers_without_end_are_numbers_too() -> None:
    assert from_bytes(to_bytes(Stop(float("inf")))) == Stop(float("inf"))


def test_a_pace_lets_start_what_has_room() -> None:
    pace = Pace(version=10, rooms=(16, 4, -1), elsewhere=3)
    assert pace.may_start(10, 13)
    assert not pace.may_start(10, 14)
    assert pace.may_start(9, 1)
    assert not pace.may_start(9, 2)
    assert not pace.may_start(8, 0)
    assert not pace.may_start(7, 0)  # older than anything that may start
    assert pace.may_start(12, 13)  # a version that the learner has yet to reach again
    assert not Pace(0).may_start(0, 0)
    assert Pace(0, free=True).may_start(-5, 10**6)


def test_messages_of_any_size_arrive_whole_and_in_order() -> None:
    one, other = socket.socketpair()
    sender, receiver = MessageSocket(one), MessageSocket(other)
    messages: list[Message] = [Delivery(b""), Delivery(b"a"), Delivery(b"b" * 3_000_000), Stop(1.0)]

    def send_all() -> None:
        for message in messages:
            sender.send(message)

    thread = threading.Thread(target=send_all)
    thread.start()
    assert [receiver.receive() for _ in messages] == messages
    thread.join()
    sender.close()
    with pytest.raises(EOFError):
        receiver.receive()
    receiver.close()


def test_half_a_message_holds_nobody_up() -> None:
    one, other = socket.socketpair()
    receiver = MessageSocket(other)
    one.sendall(LENGTH.pack(3) + b"Dok" + LENGTH.pack(100) + b"Donly the beginning")
    assert receiver.receive_all() == [Delivery(b"ok")]
    one.sendall(b"x" * 81)
    assert receiver.receive_all() == [Delivery(b"only the beginning" + b"x" * 81)]
    one.sendall(LENGTH.pack(100) + b"Dtorn")
    assert receiver.receive_all() == []
    one.close()
    with pytest.raises(EOFError):
        receiver.receive_all()
    receiver.close()


def test_who_takes_nothing_is_given_up() -> None:
    one, other = socket.socketpair()
    sender = MessageSocket(one, send_seconds=0.05)
    with pytest.raises(EOFError, match="takes no more"):
        sender.send(Delivery(b"x" * 10_000_000))
    one.close()
    other.close()


def test_what_is_posted_waits_for_room_and_arrives_whole_and_in_order() -> None:
    one, other = socket.socketpair()
    sender, receiver = MessageSocket(one), MessageSocket(other)
    messages: list[Message] = [Delivery(b"a"), Delivery(b"b" * 3_000_000), Stop(1.0)]
    for message in messages:
        sender.post(message)  # no one reads yet
    whole = sum(LENGTH.size + len(to_bytes(message)) for message in messages)
    assert 0 < sender.unsent == whole - sender.taken < whole
    arrived: list[Message] = []
    while len(arrived) < len(messages):
        arrived += receiver.receive_all()
        sender.flush()
    assert arrived == messages
    assert (sender.unsent, sender.taken) == (0, whole)
    receiver.close()
    with pytest.raises(EOFError, match="takes no more"):
        sender.post(Stop(1.0))
    assert sender.unsent == 0
    sender.close()


def test_bytes_that_are_no_frames_are_refused() -> None:
    one, other = socket.socketpair()
    receiver = MessageSocket(other)
    one.sendall(b"GET / HTTP/1.1\r\n")
    with pytest.raises(EOFError, match="not ours"):
        receiver.receive_all()
    one.close()
    other.close()
