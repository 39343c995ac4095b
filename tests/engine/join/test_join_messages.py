"""Messages come back as they were; anything else is refused and nothing worse."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.made_up_reports import finished, report

from distrl.engine.ingest.messages import Heartbeat, Pace, Received, Refused
from distrl.engine.join.join_messages import (
    MAX_DELIVERIES,
    Deliveries,
    DeliveryReply,
    JoinHeartbeat,
    JoinRequest,
    Orders,
    WeightOffer,
    Welcome,
    pack,
    unpack,
)
from distrl.engine.supervision.collector_registry import HeartbeatReply
from distrl.errors import JoinRefused

MESSAGES = [
    JoinRequest(1, "a" * 32, "0" * 32, "attic", 4),
    Welcome("run", "collector-1024.1", 1024, "{}", "[run]"),
    JoinHeartbeat(3, Heartbeat(report(), (finished("c/1"),), "{}")),
    JoinHeartbeat(0),
    Orders(HeartbeatReply(Pace(3, (1, 2)), 1.5), WeightOffer(3, "f" * 32, 10), 0.5),
    Deliveries((b"one", b"two")),
    DeliveryReply((("c/1", True),), (("c/2", "full"),), ((2, "no"),)),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_a_message_comes_back(message: object) -> None:
    assert unpack(pack(message), type(message)) == message


def test_a_reply_tells_apart_what_is_stored_refused_and_unusable() -> None:
    answers: list[Received | Refused] = [Received("c/1", new=False), Refused("c/2", "full")]
    assert DeliveryReply.of(answers, [(2, "no")]) == DeliveryReply(
        (("c/1", False),), (("c/2", "full"),), ((2, "no"),)
    )


@pytest.mark.parametrize(
    "bad",
    [
        JoinRequest(1, "A" * 32, "0" * 32, "attic", 4),
        JoinRequest(1, "a" * 31, "0" * 32, "attic", 4),
        JoinRequest(1, "a" * 32, "0" * 32, "a" * 101, 4),
        JoinRequest(1, "a" * 32, "0" * 32, "attic", 0),
        Deliveries(()),
        Deliveries((b"",) * (MAX_DELIVERIES + 1)),
        JoinHeartbeat(-1),
    ],
)
def test_what_is_out_of_bounds_is_refused(bad: object) -> None:
    with pytest.raises(JoinRefused) as caught:
        unpack(pack(bad), type(bad))
    assert caught.value.reason == "malformed"


@given(st.binary(max_size=200), st.sampled_from([JoinRequest, JoinHeartbeat, Deliveries]))
def test_any_bytes_are_a_message_or_refused(data: bytes, kind: type) -> None:
    with suppress(JoinRefused):  # and nothing else
        assert isinstance(unpack(data, kind), kind)
