"""A ring that keeps the newest lessons and draws from all of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from distrl.imitation.sample_arrays import SHAPES, Arrays, bytes_per_sample, views
from distrl.imitation.sample_reservoir import SampleReservoir

CPU = torch.device("cpu")


def slab(first: int, count: int = 4) -> Arrays:
    """Lessons that can be told apart by every array of theirs."""
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


def test_arrays_of_a_lesson_stay_together() -> None:
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


def test_lessons_that_do_not_fit_in_a_row_are_refused() -> None:
    reservoir = SampleReservoir(10, CPU)
    reservoir.add(slab(0, 8))
    with pytest.raises(RuntimeError):
        reservoir.add(slab(8, 8))
