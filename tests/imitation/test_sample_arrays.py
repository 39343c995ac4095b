"""A sample survives being written as arrays; the ring buffer keeps the newest."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.imitation.few_samples import samples, written

from distrl.agent.dialects.compact import COMPACT
from distrl.imitation.sample_arrays import (
    MAX_ANSWER,
    SHAPES,
    SIZE,
    Arrays,
    SampleReservoir,
    SampleWriter,
    bytes_per_sample,
    new_inputs,
    views,
)
from distrl.records import TypeText
from phonesim.drawing.labelled_canvas import STARTS

INPUTS = new_inputs()
SOME = samples("train", 24)


def decoded(row: np.ndarray[tuple[int], np.dtype[np.generic]]) -> str:
    return INPUTS.answers.decode([int(token) for token in row.tolist() if token])


def test_what_was_written_can_be_read_back() -> None:
    arrays = written(SOME)
    for index, sample in enumerate(SOME):
        assert np.array_equal(arrays["pixels"][index], sample.observation.screen.pixels)
        said = decoded(arrays["answer"][index])
        assert COMPACT.write(COMPACT.read(said, SIZE), SIZE) == said
        assert said == COMPACT.write(sample.action, SIZE)
        asked = decoded(arrays["prompt"][index])
        assert asked.startswith(sample.observation.instruction)
        for past in sample.observation.past_actions[-6:]:
            assert COMPACT.write(past, SIZE) in asked
        bits = np.unpackbits(arrays["cells"][index].view(np.uint8)).reshape(72, 36).astype(bool)
        assert np.array_equal(bits, sample.cells)
        assert sample.signs is not None
        signs = arrays["signs"][index].astype(np.int64)
        assert np.array_equal(np.abs(signs), sample.signs & (STARTS - 1))
        assert np.array_equal(signs < 0, sample.signs & STARTS > 0)


def test_arrays_lie_one_after_the_other_and_fill_their_memory() -> None:
    memory = bytearray(3 * bytes_per_sample())
    arrays = views(memory, 3)
    assert {name: (array.shape[1:], array.dtype.type) for name, array in arrays.items()} == SHAPES
    for number, array in enumerate(arrays.values(), start=1):
        array[...] = number
    assert 0 not in memory[::2]  # the low bytes of numbers, all over the memory
    assert all((array == n).all() for n, array in enumerate(arrays.values(), start=1))


def test_an_answer_that_is_too_long_is_no_sample() -> None:
    memory = bytearray(bytes_per_sample())
    writer = SampleWriter(INPUTS)

    def fits(text: str) -> bool:
        sample = dataclasses.replace(SOME[0], action=TypeText(text))
        return writer.write(sample, views(memory, 1), 0)

    assert not fits("x" * MAX_ANSWER)
    assert not any(memory)  # nothing was written
    assert not writer.write(dataclasses.replace(SOME[0], signs=None), views(memory, 1), 0)
    assert fits("x" * (MAX_ANSWER - 2))  # the word <type> and the end
    assert any(memory)


def test_a_shorter_sample_leaves_nothing_of_the_one_before() -> None:
    arrays = views(bytearray(bytes_per_sample()), 1)
    writer = SampleWriter(INPUTS)
    for sample in (*SOME[:3], SOME[0]):
        writer.write(sample, arrays, 0)
    alone = written(SOME[:1])
    assert all(np.array_equal(alone[name], arrays[name]) for name in SHAPES)


CPU = torch.device("cpu")


def slab(first: int, count: int = 4) -> Arrays:
    """Samples that can be told apart by every array of theirs."""
    arrays = views(bytearray(count * bytes_per_sample()), count)
    for array in arrays.values():
        for place in range(count):
            array[place] = first + place
    return arrays


def numbers(reservoir: SampleReservoir) -> list[int]:
    return sorted(int(row[0]) for row in reservoir.tensor("answer"))


def test_it_keeps_the_newest() -> None:
    reservoir = SampleReservoir(12, CPU)
    assert len(reservoir) == 0
    for first in range(0, 20, 4):
        reservoir.add(slab(first))
    assert numbers(reservoir) == list(range(8, 20))
    assert (len(reservoir), reservoir.seen) == (12, 20)


def test_what_it_takes_is_a_copy() -> None:
    reservoir, arrays = SampleReservoir(8, CPU), slab(1)
    reservoir.add(arrays)
    for array in arrays.values():
        array[...] = 99  # the slab is filled again
    assert numbers(reservoir) == [1, 2, 3, 4]


def test_arrays_of_a_sample_stay_together() -> None:
    reservoir = SampleReservoir(8, CPU)
    for first in (0, 4, 8):
        reservoir.add(slab(first))
    batch = reservoir.draw(50, torch.Generator().manual_seed(1))
    for row in range(50):
        assert len({int(batch[name][row].flatten()[-1]) for name in SHAPES}) == 1
    assert {name: tuple(batch[name].shape[1:]) for name in SHAPES} == {
        name: shape for name, (shape, _) in SHAPES.items()
    }


def test_draws_are_even_and_only_of_what_is_there() -> None:
    reservoir = SampleReservoir(40, CPU)
    reservoir.add(slab(1, 10))  # three quarters are empty
    generator = torch.Generator().manual_seed(2)
    drawn = torch.cat([reservoir.draw(100, generator)["answer"][:, 0] for _ in range(20)])
    counts = np.bincount(drawn.numpy(), minlength=11)
    assert counts[0] == 0
    chi_square = float(((counts[1:] - 200) ** 2 / 200).sum())
    assert chi_square < 27.9  # 9 degrees of freedom: 1 in 1,000
    again = reservoir.draw(100, torch.Generator().manual_seed(2))["answer"][:, 0]
    assert torch.equal(again, drawn[:100])


def test_samples_that_do_not_fit_in_a_row_are_refused() -> None:
    reservoir = SampleReservoir(10, CPU)
    reservoir.add(slab(0, 8))
    with pytest.raises(RuntimeError):
        reservoir.add(slab(8, 8))
