"""Observations over the network: as they were; what is no observation of ours is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.engine.join.policy_processes import silent_learner
from tests.engine.join.test_join_listener import Member

from distrl.engine.join.decision_wire import (
    MAX_SCREENS,
    MAX_TEXT_BYTES,
    Ask,
    PolicyQuestion,
    ask_for,
    observation_in,
)
from distrl.engine.join.join_messages import LIMITS, pack, unpack
from distrl.records import Observation, Screen, Tap, TypeText

SCREEN = Screen(np.zeros((32, 16, 3), np.uint8))


def test_an_observation_arrives_as_it_was() -> None:
    colours = np.random.default_rng(0).integers(0, 256, (30, 32, 16, 3), np.uint8)
    screens = tuple(map(Screen, colours))
    seen = Observation(
        "open \udc00 it", screens[-1], (Tap(0.25, 1.0), TypeText("n\u00e9")), screens
    )
    arrived = observation_in(unpack(pack(ask_for(1, "a/1", seen)), Ask))
    assert (arrived.instruction, arrived.past_actions) == (seen.instruction, seen.past_actions)
    assert np.array_equal(arrived.screen.pixels, colours[-1])
    kept = [each.pixels for each in arrived.past_screens]
    assert np.array_equal(kept, colours[-(MAX_SCREENS - 1) :])  # more is refused before it joins


def test_what_is_no_observation_of_ours_is_refused_and_counted(tmp_path: Path) -> None:
    with silent_learner(tmp_path) as (learner, silent):
        member = Member(learner)
        good = ask_for(1, "a/1", Observation("open it", SCREEN, ()))
        assert observation_in(unpack(pack(good), Ask)).instruction == "open it"
        wrong = member.post("decide", pack(good), authorization=f"Bearer {'x' * 43}")
        assert wrong.status_code == 401
        assert member.post("decide", b"x" * (LIMITS["decide"] + 1)).status_code == 413
        long = ask_for(2, "a/1", Observation("x" * (MAX_TEXT_BYTES + 1), SCREEN, ()))
        typed = ask_for(3, "a/1", Observation("x", SCREEN, (TypeText("y" * (MAX_TEXT_BYTES + 1)),)))
        for each in (long, typed):
            assert member.post("decide", pack(each)).status_code == 413
        for broken in damaged(good):
            assert member.post("decide", broken).status_code == 400
        assert member.post("policy", pack(PolicyQuestion())).is_success
        assert learner.refusals == {"wrong_token": 1, "oversized": 3, "malformed": 4}
        assert silent.asked == 0


def damaged(good: Ask) -> list[bytes]:
    """Requests whose screens or actions are none."""
    whole = pack(good)
    [screen] = good.screens
    flipped = bytearray(whole)
    at = whole.index(screen.packed) + len(screen.packed) // 2
    flipped[at] ^= 1
    giant = whole.replace(b"\xa6height\x20", b"\xa6height\xcd\x7f\xff")  # 32767 pixels
    nowhere = ask_for(1, "a/1", Observation("x", SCREEN, (TypeText("y"),)))
    unknown = pack(nowhere).replace(b"TypeText", b"TypeTexx")
    assert giant != whole
    return [bytes(flipped), giant, unknown, b"\x93"]
