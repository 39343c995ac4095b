"""Inputs that were expected are those that would be made later, and are made once."""

from __future__ import annotations

import itertools
import threading
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
import torch
from tests.agent.made_up_screens import blocks

from distrl.agent.prompt import Prompt
from distrl.agent.starter import inputs_ahead
from distrl.agent.starter.inputs import StarterInputs
from distrl.agent.starter.inputs_ahead import InputsAhead
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


def test_after_a_damaged_screen_all_rows_are_free_again(
    inputs: StarterInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs._ahead, "_free", [0, 1])
    damaged = Prompt("", "Open", (CompressedScreen(b"no frame", 720, 360, "an-address"),))
    for each in (damaged, prompt(1)):
        inputs.expect(each)
    makings = [each.token_ids for each in inputs._ahead._expected.values()]
    with pytest.raises(CorruptSnapshot):
        inputs.build([damaged, prompt(1)])
    wait(makings, 60.0)
    assert sorted(inputs._ahead._free) == [0, 1]
    assert not inputs._ahead._expected


def test_any_thread_may_expect_while_others_build_and_rows_are_used_again(
    inputs: StarterInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs._ahead, "_free", [0, 1, 2, 3])
    prompts = [prompt(number) for number in range(12)]
    batches = [[prompts[(first + place) % 12] for place in range(4)] for first in range(12)]
    wanted = [new_inputs().build(each) for each in batches]
    UNPACKED.clear()
    stop = threading.Event()

    def expect(first: int) -> None:
        for number in itertools.count(first):
            if stop.is_set():
                return
            inputs.expect(prompts[number % 12])

    def build(_: int) -> None:  # both the same, so that they read the same rows
        for batch in 2 * list(range(12)):
            made = inputs.build(batches[batch])
            for name in ("pixel_values", "input_ids"):
                assert torch.equal(made.tensors[name], wanted[batch].tensors[name])

    with ThreadPoolExecutor(4) as threads:
        expecting = [threads.submit(expect, first) for first in (0, 5)]
        try:
            deque(threads.map(build, range(2)), maxlen=0)  # raises what a build raised
        finally:
            stop.set()
    wait(expecting)


# The ring alone ----------------------------------------------------------------------------------


@pytest.fixture
def ring() -> InputsAhead:
    def make(asked: Prompt, into: Pixels) -> list[int]:
        into[...] = int(asked.text)
        return [int(asked.text)]

    return InputsAhead(make, (2,), rows=1)


def numbered(number: int) -> Prompt:
    return Prompt("", str(number), ())


def test_a_row_that_another_still_reads_is_not_used_again(ring: InputsAhead) -> None:
    ring.expect(numbered(1))
    [first], [second] = ring.take([numbered(1)]), ring.take([numbered(1)])
    assert first is not None
    assert first is second
    first.token_ids.result(60.0)
    ring.give_back([first])
    ring.expect(numbered(2))
    assert ring.take([numbered(2)]) == [None]
    assert ring.row(first).tolist() == [1, 1]
    ring.give_back([second])
    ring.expect(numbered(2))
    [other] = ring.take([numbered(2)])
    assert other is not None
    assert other.token_ids.result(60.0) == [2]


def test_what_is_read_is_not_evicted_and_what_is_given_back_late_drops_no_other(
    ring: InputsAhead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs_ahead, "STALE_SECONDS", -1.0)
    ring.expect(numbered(1))
    [read] = ring.take([numbered(1)])
    assert read is not None
    read.token_ids.result(60.0)
    ring.expect(numbered(2))
    assert ring.row(read).tolist() == [1, 1]
    ring.expect(numbered(1))  # the same entry, once more
    ring.give_back([read])
    assert ring.take([numbered(1)]) == [read]


def test_one_that_two_take_at_once_is_given_back_once(ring: InputsAhead) -> None:
    ring.expect(numbered(1))
    taken = ring.take([numbered(1), numbered(1)])
    assert taken[0] is not None
    taken[0].token_ids.result(60.0)
    ring.give_back(taken)
    assert ring._free == [0]
    ring.give_back(ring.take([numbered(1)]))
    assert ring._free == [0]


def test_a_row_is_not_used_again_while_it_is_drawn() -> None:
    begin = threading.Event()

    def make(asked: Prompt, into: Pixels) -> list[int]:
        begin.wait(60.0)
        into[...] = int(asked.text)
        return []

    ring = InputsAhead(make, (2,), rows=1)
    ring.expect(numbered(1))
    taken = ring.take([numbered(1)])
    assert taken[0] is not None
    ring.give_back(taken)  # as a build does that another prompt has ended
    assert ring._free == []
    begin.set()
    taken[0].token_ids.result(60.0)
    ring._threads.shutdown()  # type: ignore[union-attr]
    assert ring._free == [0]
