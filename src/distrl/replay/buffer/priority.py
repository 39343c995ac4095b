"""The priority of a trajectory in DPER (distributed prioritised experience replay).

    p(τ) = w1 · mean_t |δ_t|  +  w2 · mean_t min(ρ_t, limit)  +  w3 · mean_t H_t

over the valid steps of the trajectory, where δ is the temporal-difference error, ρ the ratio of the
current policy to the one that acted, and H the entropy of the current policy. Trajectories with
large errors, on-policy ones and uncertain ones come first. The learner calls it after each update.

Non-finite values: a ratio is a product over many tokens and may overflow, so ratios are clipped at
`ratio_limit`, infinity included. Everything else must be finite: a NaN, an infinite error or
entropy, or a negative error or ratio in a valid step means that training has diverged, and raises
an error that names the rows. Padding is ignored. A row without valid steps has priority 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distrl.bounds import Bounds, Fixed, Weight, check_bounds
from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class PriorityWeights:
    """The weights w1, w2 and w3 of the priority (not all 0), and the limit of ratios."""

    td: Weight = 50.0
    ratio: Weight = 1.0
    entropy: Weight = 0.01
    ratio_limit: Annotated[
        float,
        Bounds(0.0, 1e300, "(a ratio)", open=True),
        Fixed("it only keeps one overflowing ratio from outweighing all others"),
    ] = 100.0

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.td == self.ratio == self.entropy == 0.0:
            raise InvalidSetting("priority weights are all 0, so nothing would ever be drawn")


def priority(
    abs_td: ArrayLike,  # [batch, time]
    ratios: ArrayLike,  # [batch, time]
    entropies: ArrayLike,  # [batch, time]
    mask: ArrayLike,  # [batch, time], true where there is a step
    weights: PriorityWeights,
) -> NDArray[np.float64]:  # [batch]
    """Return the priority of each trajectory of a padded batch."""
    valid = np.asarray(mask, dtype=np.bool_)
    steps = np.maximum(valid.sum(axis=1), 1)

    def mean(name: str, values: ArrayLike, largest: float = math.inf) -> NDArray[np.float64]:
        known = _valid_steps(name, values, valid)
        _refuse_rows(name, np.isnan(known) | (known < 0.0))
        known = np.minimum(known, largest)
        _refuse_rows(name, np.isinf(known))
        return np.asarray(known.sum(axis=1) / steps)

    surprise = np.maximum(_valid_steps("entropies", entropies, valid), 0.0)  # rounding gives -1e-9
    return (
        weights.td * mean("abs_td", abs_td)
        + weights.ratio * mean("ratios", ratios, weights.ratio_limit)
        + weights.entropy * mean("entropies", surprise)
    )


def _valid_steps(name: str, values: ArrayLike, valid: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the values, with 0 at padding."""
    given = np.asarray(values, dtype=np.float64)
    if given.shape != valid.shape or valid.ndim != 2:
        raise ValueError(f"{name} has shape {given.shape}, mask {valid.shape}; both [batch, time]")
    return np.where(valid, given, 0.0)


def _refuse_rows(name: str, wrong: NDArray[np.bool_]) -> None:
    if wrong.any():
        rows = np.flatnonzero(wrong.any(axis=1)).tolist()
        raise ValueError(
            f"{name} of row {rows} has steps that are negative or no finite number; "
            "no priority can be had from them: look at the losses of this update"
        )
