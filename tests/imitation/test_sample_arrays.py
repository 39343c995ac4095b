"""A lesson survives being written down as arrays."""

from __future__ import annotations

import dataclasses

import numpy as np
from tests.imitation.few_samples import samples, written

from distrl.agent.dialects.compact import Compact
from distrl.imitation.sample_arrays import (
    MAX_ANSWER,
    SHAPES,
    SIZE,
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
    return INPUTS.decode([int(token) for token in row.tolist() if token])


def test_what_was_taught_can_be_read_back() -> None:
    arrays = written(SOME)
    for index, sample in enumerate(SOME):
        assert np.array_equal(arrays["pixels"][index], sample.observation.screen.pixels)
        said = decoded(arrays["answer"][index])
        assert Compact().write(Compact().read(said, SIZE), SIZE) == said
        assert said == Compact().write(sample.action, SIZE)
        asked = decoded(arrays["prompt"][index])
        assert asked.startswith(sample.observation.instruction)
        for past in sample.observation.past_actions[-6:]:
            assert Compact().write(past, SIZE) in asked
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


def test_an_answer_that_is_too_long_is_no_lesson() -> None:
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


def test_a_shorter_lesson_leaves_nothing_of_the_one_before() -> None:
    arrays = views(bytearray(bytes_per_sample()), 1)
    writer = SampleWriter(INPUTS)
    for sample in (*SOME[:3], SOME[0]):
        writer.write(sample, arrays, 0)
    alone = written(SOME[:1])
    assert all(np.array_equal(alone[name], arrays[name]) for name in SHAPES)
