"""Inputs that were expected are those that would be made later, and are made once."""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest
import torch
from tests.agent.made_up_screens import blocks

from distrl.agent.prompt import Prompt
from distrl.agent.starter import inputs_ahead
from distrl.agent.starter.inputs import StarterInputs
from distrl.errors import CorruptSnapshot
from distrl.imitation.sample_arrays import new_inputs
from distrl.records import Pixels
from distrl.replay.compressed_screen import CompressedScreen, compress

UNPACKED: Counter[str] = Counter()


class Counted(CompressedScreen):
    """Counts how often it is unpacked."""

    __slots__ = ()

    @property
    def pixels(self) -> Pixels:
        UNPACKED[self.address] += 1
        return super().pixels


def prompt(number: int, height: int = 720) -> Prompt:
    packed = compress(blocks(number, 360, height))
    screen = Counted(packed.packed, packed.height, packed.width, packed.address)
    return Prompt("", f"Open the app {number}\ntap <3,4>", (screen,))


@pytest.fixture
def inputs() -> StarterInputs:
    UNPACKED.clear()
    return new_inputs()


@pytest.mark.parametrize("expected", [range(20), range(0, 20, 3), range(0)])
def test_the_same_inputs_whether_all_some_or_none_were_expected(
    inputs: StarterInputs, expected: range
) -> None:
    prompts = [prompt(number, 720 if number % 4 else 800) for number in range(20)]
    wanted = new_inputs().build(prompts)
    UNPACKED.clear()
    for number in expected:
        inputs.expect(prompts[number])
    for _ in range(2):  # what was expected is there once, and made anew after that
        made = inputs.build(prompts)
        assert made.tensors.keys() == wanted.tensors.keys()
        for name, tensor in made.tensors.items():
            assert torch.equal(tensor, wanted.tensors[name])
    assert sum(UNPACKED.values()) == 40


def test_what_two_expect_is_made_once_for_both(inputs: StarterInputs) -> None:
    same = prompt(1)
    inputs.expect(same)
    inputs.expect(prompt(1))
    for _ in range(2):
        inputs.build([same])
    assert UNPACKED.total() == 1
    inputs.build([same])
    assert UNPACKED.total() == 2


def test_without_room_a_prompt_is_made_when_it_is_asked_for(
    inputs: StarterInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs._ahead, "_free", [0, 1])
    prompts = [prompt(number) for number in range(4)]
    for each in prompts:
        inputs.expect(each)
    inputs.build(prompts[1:2])
    inputs.expect(prompts[3])  # has the row of the one that was built
    assert torch.equal(
        inputs.build(prompts).tensors["pixel_values"],
        torch.from_numpy(np.stack([each.screens[0].pixels for each in prompts])),
    )
    assert sorted(inputs._ahead._free) == [0, 1]


def test_what_nobody_asks_for_keeps_its_row_for_a_while_only(
    inputs: StarterInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs._ahead, "_free", [0])
    inputs.expect(prompt(0))
    [kept] = inputs._ahead._expected.values()
    kept.token_ids.result(60.0)
    inputs.expect(prompt(1))
    assert list(inputs._ahead._expected.values()) == [kept]
    monkeypatch.setattr(inputs_ahead, "STALE_SECONDS", -1.0)
    inputs.expect(prompt(2))
    [newer] = inputs._ahead._expected.values()
    assert newer is not kept


def test_a_damaged_screen_is_an_error_where_it_is_asked_for(inputs: StarterInputs) -> None:
    damaged = Prompt("", "Open", (CompressedScreen(b"no frame", 720, 360, "an-address"),))
    inputs.expect(damaged)
    with pytest.raises(CorruptSnapshot):
        inputs.build([damaged])


def test_any_thread_may_expect_while_another_builds(inputs: StarterInputs) -> None:
    prompts = [prompt(number) for number in range(12)]
    wanted = new_inputs().build(prompts)

    def expect() -> None:
        for _ in range(20):
            for each in prompts:
                inputs.expect(each)

    threads = [threading.Thread(target=expect) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        made = inputs.build(prompts)
        assert torch.equal(made.tensors["pixel_values"], wanted.tensors["pixel_values"])
        assert torch.equal(made.tensors["input_ids"], wanted.tensors["input_ids"])
