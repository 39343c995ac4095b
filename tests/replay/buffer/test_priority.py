"""The priority by hand, and what padding and non-numbers do to it: nothing, or an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.errors import InvalidSetting
from distrl.replay.buffer.priority import PriorityWeights, priority

MASK = np.array([[1, 1, 0], [1, 0, 0]], dtype=bool)


def test_by_hand() -> None:
    """First row: 50·(0.1+0.3)/2 + 1·(2+1)/2 + 0.01·(4+2)/2 = 10 + 1.5 + 0.03; second: one step."""
    got = priority(
        [[0.1, 0.3, 0.0], [0.2, 0.0, 0.0]],
        [[2.0, 1.0, 0.0], [0.5, 0.0, 0.0]],
        [[4.0, 2.0, 0.0], [1.0, 0.0, 0.0]],
        MASK,
        PriorityWeights(),
    )
    assert got == pytest.approx([11.53, 10.51], abs=1e-12)


def test_each_weight_has_its_own_term() -> None:
    terms = ([[1.0]], [[10.0]], [[100.0]], [[True]])
    assert priority(*terms, PriorityWeights(2.0, 0.0, 0.0)) == pytest.approx([2.0])
    assert priority(*terms, PriorityWeights(0.0, 2.0, 0.0)) == pytest.approx([20.0])
    assert priority(*terms, PriorityWeights(0.0, 0.0, 2.0)) == pytest.approx([200.0])


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=5),
    st.sampled_from([1e9, -1e9, float("nan"), float("inf")]),
    st.integers(0, 2**16),
)
def test_padding_changes_nothing(lengths: list[int], garbage: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (len(lengths), 8)
    mask = np.arange(8) < np.array(lengths)[:, None]
    terms = [rng.uniform(0.0, 2.0, shape) for _ in range(3)]
    padded = [np.where(mask, term, garbage) for term in terms]
    weights = PriorityWeights(3.0, 2.0, 1.0)
    got = priority(padded[0], padded[1], padded[2], mask, weights)
    for row, length in enumerate(lengths):
        means = [term[row, :length].mean() if length else 0.0 for term in terms]
        assert got[row] == pytest.approx(3.0 * means[0] + 2.0 * means[1] + means[2], rel=1e-12)


def test_ratios_end_at_their_limit_and_infinite_ones_too() -> None:
    weights = PriorityWeights(td=0.0, ratio=1.0, entropy=0.0, ratio_limit=5.0)
    got = priority([[0.0, 0.0]], [[1.0, np.inf]], [[0.0, 0.0]], [[True, True]], weights)
    assert got == pytest.approx([3.0])


def test_entropy_a_hair_below_zero_counts_as_zero() -> None:
    weights = PriorityWeights(td=0.0, ratio=0.0, entropy=1.0)
    assert priority([[0.0]], [[0.0]], [[-1e-9]], [[True]], weights).tolist() == [0.0]


@pytest.mark.parametrize(
    ("which", "wrong"),
    [(0, np.nan), (0, np.inf), (0, -1.0), (1, np.nan), (1, -1.0), (2, np.nan), (2, np.inf)],
)
def test_what_no_step_can_have_is_refused_with_its_row(which: int, wrong: float) -> None:
    terms = [np.ones((3, 2)) for _ in range(3)]
    terms[which][1, 0] = wrong
    with pytest.raises(ValueError, match=r"of row \[1\]"):
        priority(terms[0], terms[1], terms[2], np.ones((3, 2), bool), PriorityWeights())


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"ratios has shape \(1, 1\)"):
        priority([[1.0, 1.0]], [[1.0]], [[1.0, 1.0]], [[True, True]], PriorityWeights())


@pytest.mark.parametrize(
    "weights",
    [
        {"td": -1.0},
        {"ratio": float("nan")},
        {"entropy": float("inf")},
        {"td": 0.0, "ratio": 0.0, "entropy": 0.0},
        {"ratio_limit": 0.0},
        {"ratio_limit": float("inf")},
    ],
)
def test_weights_out_of_range_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting):
        PriorityWeights(**weights)
