"""A trajectory comes back from its bytes as it was; bytes that are none are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.replay.any_trajectory import trajectories, what_it_is
from tests.replay.made_up_trajectories import trajectory

from distrl.episodes.demonstrations import demonstrate
from distrl.errors import CorruptRecord
from distrl.records import Decision, Done, Trajectory, Verdict
from distrl.replay.compressed_screen import CompressedScreen, compress
from distrl.replay.trajectory_encoding import (
    MAGIC,
    PREFIX,
    VERSION,
    decode_trajectory,
    encode_trajectory,
)
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task


@given(trajectories())
def test_any_trajectory_comes_back(any_one: Trajectory) -> None:
    back = decode_trajectory(encode_trajectory(any_one), verify=True)
    assert what_it_is(back) == what_it_is(any_one)


def test_one_of_the_phone_comes_back_packed_and_small() -> None:
    played = demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("x"))
    encoded = encode_trajectory(played)
    back = decode_trajectory(encoded, verify=True)
    assert what_it_is(back) == what_it_is(played)
    assert all(isinstance(screen, CompressedScreen) for screen in back.screens)
    unique = {screen.address: screen for screen in map(compress, played.screens)}
    packed = sum(len(screen.packed) for screen in unique.values())
    assert packed < len(encoded) < packed + 4_000
    assert encode_trajectory(back) == encoded


def test_a_screen_that_comes_again_is_there_once() -> None:
    once, thrice = trajectory("a", screens=(1,)), trajectory("a", screens=(1, 1, 1))
    size = len(compress(once.screens[0]).packed)
    assert len(encode_trajectory(thrice)) < len(encode_trajectory(once)) + size


def test_numbers_of_numpy_become_those_of_python() -> None:
    """Models hand out whatever their arrays are made of."""
    log_probs = tuple(np.array([-0.1, -2.5], np.float32))
    decision = Decision(Done(), "", tuple(np.arange(2)), log_probs, weight_version=np.int64(3))  # type: ignore[arg-type]
    back = decode_trajectory(encode_trajectory(replace(trajectory("a"), decisions=(decision,))))
    assert back.decisions[0].token_ids == (0, 1)
    assert back.decisions[0].log_probs == (float(np.float32(-0.1)), -2.5)
    assert {type(n) for n in back.decisions[0].log_probs} == {float}
    assert type(back.weight_version) is int


def test_a_record_may_grow_a_field() -> None:
    """What was stored before the field was there gets its default."""
    assert decode_trajectory(_changed(lambda h: h["decisions"][0].pop("weight_version"))).id == "a"


def test_a_verdict_of_before_progress_was_counted_is_read() -> None:
    def older(header: dict[str, Any]) -> None:
        header["verdict"] = {"success": False, "reason": "no note", "judge": "facts"}

    assert decode_trajectory(_changed(older)).verdict == Verdict(False, "no note", "facts")


def _changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """A trajectory's bytes, with its header changed."""
    data = encode_trajectory(trajectory("a"))
    _, _, length = PREFIX.unpack_from(data)
    header = json.loads(data[PREFIX.size : PREFIX.size + length])
    change(header)
    text = json.dumps(header).encode()
    return PREFIX.pack(MAGIC, VERSION, len(text)) + text + data[PREFIX.size + length :]


def _act(header: dict[str, Any], action: list[Any]) -> None:
    header["decisions"][0]["action"] = action


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no id": lambda h: h.pop("id"),
    "a number for an id": lambda h: h.update(id=7),
    "an unknown ending": lambda h: h.update(ending="bliss"),
    "an unknown action": lambda h: _act(h, ["os.system", {}]),
    "an action off the screen": lambda h: _act(h, ["Tap", {"x": 2.0, "y": 1.0}]),
    "an unknown field": lambda h: h["task"].update(reward=1),
    "a task without a seed": lambda h: h["task"].pop("seed"),
    "a split that is none": lambda h: h["task"].update(split="validation"),
    "true for a seed": lambda h: h["task"].update(seed=True),
    "words for tokens": lambda h: h["decisions"][0].update(token_ids=["a"]),
    "a word of tokens": lambda h: h["decisions"][0].update(token_ids="12"),
    "one screen too few": lambda h: h["screens"].pop(),
    "a screen that is not there": lambda h: h.update(screens=[0, 2]),
    "a screen without width": lambda h: h["pictures"][0].__setitem__(1, 0),
    "a screen as large as a house": lambda h: h["pictures"][0].__setitem__(1, 2**30),
    "screens of other lengths": lambda h: h["pictures"][0].__setitem__(3, 5),
    "a length below zero": lambda h: h["pictures"][0].__setitem__(3, -5),
    "no pictures": lambda h: h.update(pictures=None),
    "a word for progress": lambda h: h.update(verdict={"success": True, "reason": "", "judge": "",
                                                       "progress": "half"}),
    "a list for a verdict": lambda h: h.update(verdict=[]),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_header_that_makes_no_sense_is_refused(wrong: str) -> None:
    with pytest.raises(CorruptRecord, match="no trajectory"):
        decode_trajectory(_changed(WRONG[wrong]))


def test_another_version_is_named() -> None:
    data = encode_trajectory(trajectory("a"))
    with pytest.raises(CorruptRecord, match="version 2, these bytes with b'DRTJ' and 9"):
        decode_trajectory(data[:4] + b"\x09" + data[5:])


def test_a_screen_under_a_wrong_address_is_noticed_when_asked_to() -> None:
    def swap(header: dict[str, Any]) -> None:
        first, second = header["pictures"]
        first[2], second[2] = second[2], first[2]

    assert decode_trajectory(_changed(swap)).id == "a"
    with pytest.raises(CorruptRecord, match="other pixels"):
        decode_trajectory(_changed(swap), verify=True)


@given(st.binary(max_size=200), st.booleans())
def test_noise_is_refused(noise: bytes, with_prefix: bool) -> None:
    prefix = PREFIX.pack(MAGIC, VERSION, len(noise) // 2) if with_prefix else b""
    with pytest.raises(CorruptRecord):
        decode_trajectory(prefix + noise)


def test_every_truncation_is_refused() -> None:
    data = encode_trajectory(trajectory("a"))
    for length in range(len(data)):
        with pytest.raises(CorruptRecord):
            decode_trajectory(data[:length])


def test_an_action_of_a_stranger_is_our_own_mistake() -> None:
    alien = replace(trajectory("a"), decisions=(Decision(object()),))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no action"):
        encode_trajectory(alien)
