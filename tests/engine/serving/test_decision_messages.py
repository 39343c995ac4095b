"""Observations and decisions over a socket: they arrive as they were, whatever is in them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from distrl.engine.ingest.messages import from_bytes, to_bytes
from distrl.engine.serving.decision_messages import (
    DecisionRequest,
    Decisions,
    decision_of,
    decision_request,
    observation_of,
    packed_decision,
)
from distrl.engine.serving.screen_memory import written
from distrl.errors import UsageError
from distrl.records import (
    Action,
    Answer,
    Back,
    Decision,
    Done,
    Enter,
    Home,
    Impossible,
    LongPress,
    Observation,
    OpenApp,
    Screen,
    Swipe,
    Tap,
    TypeText,
    Unreadable,
    Wait,
)
from distrl.replay.compressed_screen import compress

SCREENS = tuple(compress(Screen(np.zeros((2, n, 3), np.uint8))) for n in (1, 2, 3))
ACTIONS: tuple[Action, ...] = (
    Tap(0.1, 1.0), LongPress(0.0, 1.0), Swipe(0.1, 0.2, 0.3, 0.4, 0.05), TypeText("né\ud83d"),
    Back(), Home(), Enter(), OpenApp("Clock"), Wait(2.5), Answer("42\n"), Done(), Impossible(),
    Unreadable("tap the", "no such\udc00"),
)  # fmt: skip


def test_an_observation_arrives_as_it_was() -> None:
    seen = Observation("open \udc00 it", SCREENS[2], ACTIONS, SCREENS[:2])
    sent = decision_request(7, "collector-0.1/3", seen, 4096, SCREENS)
    arrived = from_bytes(to_bytes(sent))
    assert isinstance(arrived, DecisionRequest)
    assert arrived == sent
    assert (arrived.offset, arrived.screens) == (4096, tuple(map(written, SCREENS)))
    assert [each.address for each in arrived.screens] == [each.address for each in SCREENS]
    assert observation_of(arrived, SCREENS) == seen


@pytest.mark.parametrize("action", ACTIONS)
def test_a_decision_arrives_bit_by_bit(action: Action) -> None:
    made = Decision(action, "<tap>\ud800", (3, 70000, 0), (-0.1, -math.inf, -1e-300), 12)
    arrived = from_bytes(to_bytes(Decisions((packed_decision(5, made),))))
    assert isinstance(arrived, Decisions)
    [packed] = arrived.decided
    assert (packed.number, decision_of(packed)) == (5, made)


@pytest.mark.parametrize("packed", [("Tap", (2.0, 0.0)), ("Tap", (0.1,)), ("exit", ())])
def test_what_is_no_action_is_refused(packed: tuple[str, tuple[float, ...]]) -> None:
    request = DecisionRequest(0, "s", b"", (packed,), 0, (written(SCREENS[0]),))
    with pytest.raises(UsageError, match="cannot be read"):
        observation_of(request, SCREENS[:1])
