"""The tree against a plain array, and its draws against the numbers in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.errors import UsageError
from distrl.replay.buffer.reduction_tree import LARGEST, ReductionTree
from distrl.replay.buffer.sum_tree import SumTree

NUMBERS = st.one_of(
    st.just(0.0),
    st.floats(0.0, 10.0),
    st.sampled_from([5e-324, 1e-300, 1e-12, 1.0, 1e16, 1e99]),
)
CAPACITIES = st.sampled_from([1, 2, 31, 32, 33, 100, 1024, 1025, 2000])


@st.composite
def changes(draw: st.DrawFn) -> tuple[int, list[tuple[list[int], list[float]]]]:
    """A capacity, and batches of (places, numbers), with places that come twice."""
    capacity = draw(CAPACITIES)
    pairs = st.lists(st.tuples(st.integers(0, capacity - 1), NUMBERS), min_size=1, max_size=8)
    batches = draw(st.lists(pairs, min_size=1, max_size=8))
    return capacity, [([i for i, _ in batch], [v for _, v in batch]) for batch in batches]


@given(changes(), st.booleans())
def test_the_tree_holds_the_numbers_and_their_reductions(
    case: tuple[int, list[tuple[list[int], list[float]]]], one_by_one: bool
) -> None:
    capacity, batches = case
    sums, largest = SumTree(capacity), ReductionTree(capacity, np.maximum)
    plain = np.zeros(capacity)
    for places, numbers in batches:
        plain[places] = numbers
        for tree in (sums, largest):
            if one_by_one:
                for place, number in zip(places, numbers, strict=True):
                    tree.set(place, number)
            else:
                tree.update(places, numbers)
    assert np.array_equal(sums.values(np.arange(capacity)), plain)
    assert sums.total == pytest.approx(plain.sum(), rel=1e-12)
    assert largest.root == plain.max()


@given(changes())
def test_the_tree_depends_on_its_leaves_only(
    case: tuple[int, list[tuple[list[int], list[float]]]],
) -> None:
    """Bit for bit: a replay that is filled at once draws like one that grew."""
    capacity, batches = case
    grown, filled = SumTree(capacity), SumTree(capacity)
    for places, numbers in batches:
        grown.update(places, numbers)
        for place, number in zip(places, numbers, strict=True):
            filled.set(place, 7.0)
            filled.set(place, number)
    assert grown.total == filled.total
    marks = np.linspace(0.0, grown.total, 50)
    if grown.total:
        assert np.array_equal(grown.find(marks), filled.find(marks))


@given(changes(), st.integers(0, 2**32 - 1))
def test_an_empty_place_is_never_found(
    case: tuple[int, list[tuple[list[int], list[float]]]], seed: int
) -> None:
    capacity, batches = case
    tree = SumTree(capacity)
    for places, numbers in batches:
        tree.update(places, numbers)
    total = tree.total
    if not total:
        with pytest.raises(UsageError, match="all 0"):
            tree.sample(4, np.random.default_rng(seed))
        return
    edges = [
        0.0,
        total,
        np.nextafter(total, 0.0),
        np.nextafter(total, np.inf),
        2 * total,
        total / 3,
    ]
    ends = np.cumsum(tree.values(np.arange(capacity)))
    marks = np.concatenate([edges, ends, np.nextafter(ends, 0.0), np.nextafter(ends, np.inf)])
    found = [tree.find(marks)]
    found += [tree.sample(64, np.random.default_rng(seed), stratified=s) for s in (True, False)]
    for drawn in found:
        assert (drawn < capacity).all()
        assert (tree.values(drawn) > 0.0).all()


@given(CAPACITIES, st.integers(0, 2**16))
def test_a_mark_finds_the_place_that_the_running_sum_has_there(capacity: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 6, capacity)
    numbers[-1] = 3  # at least one is not empty
    tree = SumTree(capacity)
    tree.update(np.arange(capacity), numbers)
    marks = np.arange(numbers.sum(), dtype=np.float64) + 0.5
    expected = np.searchsorted(np.cumsum(numbers), marks, side="right")
    assert np.array_equal(tree.find(marks), expected)


def test_marks_on_a_border_belong_to_the_right() -> None:
    tree = SumTree(3)
    tree.update([0, 1, 2], [2.0, 0.0, 1.0])
    assert tree.find(np.array([0.0, 1.9, 2.0, 3.0])).tolist() == [0, 0, 2, 2]


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    return float(((counts - expected) ** 2 / expected).sum())


def test_plain_draws_follow_the_numbers() -> None:
    """χ² over 10⁵ draws: with 49 degrees of freedom it passes 85.4 once in a thousand times."""
    numbers = np.random.default_rng(1).uniform(0.1, 3.0, 50)
    tree = SumTree(50)
    tree.update(np.arange(50), numbers)
    drawn = tree.sample(100_000, np.random.default_rng(2), stratified=False)
    counts = np.bincount(drawn, minlength=50)
    assert 20.0 < chi_square(counts, 1e5 * numbers / numbers.sum()) < 85.4


def test_stratified_draws_are_as_fair_and_less_noisy() -> None:
    numbers = np.random.default_rng(1).uniform(0.1, 3.0, 50)
    tree = SumTree(50)
    tree.update(np.arange(50), numbers)
    rng = np.random.default_rng(3)
    counts = np.zeros(50)
    for _ in range(1000):
        counts += np.bincount(tree.sample(100, rng), minlength=50)
    assert chi_square(counts, 1e5 * numbers / numbers.sum()) < 20.0
    one = np.bincount(tree.sample(1000, rng), minlength=50)
    assert np.abs(one - 1000 * numbers / numbers.sum()).max() <= 2.0


@pytest.mark.parametrize("number", [-1.0, float("nan"), float("inf"), 2 * LARGEST])
def test_what_is_no_share_is_refused_and_changes_nothing(number: float) -> None:
    tree = SumTree(4)
    tree.update([0, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="number 1 of 4"):
        tree.update([0, 1], [5.0, number])
    with pytest.raises(ValueError, match="number 1 of 4"):
        tree.set(1, number)
    assert tree.values([0, 1]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("place", [-1, 4, 31])
def test_places_that_are_not_there_are_refused(place: int) -> None:
    tree = SumTree(4)
    with pytest.raises(ValueError, match=f"number {place} of 4"):
        tree.update([place], [1.0])
    with pytest.raises(ValueError, match=f"number {place} of 4"):
        tree.set(place, 1.0)
