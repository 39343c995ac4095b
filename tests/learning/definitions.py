"""The targets as their papers define them: double sums over plain Python numbers, slow and obvious.

Nothing here shares a line with `distrl.learning`. A `Batch` is a list of trajectories without any
padding; `padded` makes the arrays that the functions take, with garbage wherever nothing is real.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

GARBAGE = (1e9, -1e9, math.inf, -math.inf, math.nan)
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Walk:
    """One trajectory: T rewards and ratios, T + 1 values."""

    rewards: list[float]
    ratios: list[float]
    values: list[float]
    truncated: bool

    def next_value(self, step: int) -> float:
        last = step == len(self.rewards) - 1
        return self.values[step + 1] if not last or self.truncated else 0.0

    def error(self, step: int, discount: float) -> float:
        return self.rewards[step] + discount * self.next_value(step) - self.values[step]


@dataclass(frozen=True)
class Batch:
    """Trajectories of different lengths, and the settings to use on them."""

    walks: list[Walk]
    discount: float
    lambda_: float
    rho_clip: float
    c_clip: float
    extra: int = 0  # columns of padding beside the longest walk

    def padded(self, garbage: float = 1e9) -> dict[str, Any]:
        time = max(len(walk.rewards) for walk in self.walks) + self.extra
        values = [_filled(_known(walk), time + 1, garbage) for walk in self.walks]
        return {
            "values": torch.tensor(values, dtype=torch.float64),
            "rewards": self._rows("rewards", time, garbage),
            "ratios": self._rows("ratios", time, garbage),
            "mask": torch.tensor(
                [[t < len(walk.rewards) for t in range(time)] for walk in self.walks],
                dtype=torch.bool,
            ),
            "bootstrap": torch.tensor([walk.truncated for walk in self.walks]),
        }

    def _rows(self, name: str, time: int, garbage: float) -> Tensor:
        rows = [_filled(getattr(walk, name), time, garbage) for walk in self.walks]
        return torch.tensor(rows, dtype=torch.float64)


def _known(walk: Walk) -> list[float]:
    """The value of the final screen is garbage too where the task itself ended."""
    return walk.values if walk.truncated else walk.values[:-1]


def _filled(numbers: Sequence[float], length: int, garbage: float) -> list[float]:
    return [*numbers, *[garbage] * (length - len(numbers))]


# The definitions ---------------------------------------------------------------------------------


def retrace_sum(walk: Walk, batch: Batch, t: int) -> float:
    """V(s_t) + Σ_{k≥t} γ^{k−t} (Π_{i=t+1..k} λ·min(1, ρ_i)) δ_k."""
    total = walk.values[t]
    for k in range(t, len(walk.rewards)):
        traces = [batch.lambda_ * min(1.0, walk.ratios[i]) for i in range(t + 1, k + 1)]
        total += batch.discount ** (k - t) * math.prod(traces) * walk.error(k, batch.discount)
    return total


def vtrace_sum(walk: Walk, batch: Batch, t: int) -> float:
    """V(s_t) + Σ_{k≥t} γ^{k−t} (Π_{i=t..k−1} λ·min(c̄, ρ_i)) min(ρ̄, ρ_k) δ_k."""
    total = walk.values[t]
    for k in range(t, len(walk.rewards)):
        traces = [batch.lambda_ * min(batch.c_clip, walk.ratios[i]) for i in range(t, k)]
        weight = min(batch.rho_clip, walk.ratios[k])
        error = walk.error(k, batch.discount)
        total += batch.discount ** (k - t) * math.prod(traces) * weight * error
    return total


def vtrace_advantage(walk: Walk, batch: Batch, t: int) -> float:
    """min(ρ̄, ρ_t)·(r_t + γ·v_{t+1} − V(s_t))."""
    last = t == len(walk.rewards) - 1
    following = walk.next_value(t) if last else vtrace_sum(walk, batch, t + 1)
    weight = min(batch.rho_clip, walk.ratios[t])
    return weight * (walk.rewards[t] + batch.discount * following - walk.values[t])


def monte_carlo_sum(walk: Walk, batch: Batch, t: int) -> float:
    """Σ_{k≥t} γ^{k−t} r_k, and γ^{T−t} times the final value where truncated."""
    steps = len(walk.rewards)
    total = sum(batch.discount ** (k - t) * walk.rewards[k] for k in range(t, steps))
    final = walk.values[steps] if walk.truncated else 0.0
    return total + batch.discount ** (steps - t) * final


def one_step_sum(walk: Walk, batch: Batch, t: int) -> float:
    """r_t + γ·V(s_{t+1})."""
    return walk.rewards[t] + batch.discount * walk.next_value(t)


Definition = Callable[[Walk, Batch, int], float]


def assert_defined(found: Tensor, definition: Definition, batch: Batch) -> None:
    """Every real step has the defined number, and everything else is 0."""
    expected = torch.zeros_like(found)
    for row, walk in enumerate(batch.walks):
        for t in range(len(walk.rewards)):
            expected[row, t] = definition(walk, batch, t)
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE)


# How each function of a module (ours, or a mutant of it) is held against its definition ----------


def check_retrace(module: Any, batch: Batch, garbage: float) -> None:
    found = module.retrace(**batch.padded(garbage), discount=batch.discount, lambda_=batch.lambda_)
    assert_defined(found, retrace_sum, batch)


def check_vtrace(module: Any, batch: Batch, garbage: float) -> None:
    found = module.vtrace(
        **batch.padded(garbage),
        discount=batch.discount,
        rho_clip=batch.rho_clip,
        c_clip=batch.c_clip,
        lambda_=batch.lambda_,
    )
    assert_defined(found.targets, vtrace_sum, batch)
    assert_defined(found.advantages, vtrace_advantage, batch)


def check_monte_carlo(module: Any, batch: Batch, garbage: float) -> None:
    arrays = batch.padded(garbage)
    del arrays["ratios"]
    found = module.monte_carlo(**arrays, discount=batch.discount)
    assert_defined(found, monte_carlo_sum, batch)


def check_one_step(module: Any, batch: Batch, garbage: float) -> None:
    arrays = batch.padded(garbage)
    del arrays["ratios"]
    found = module.one_step_td(**arrays, discount=batch.discount)
    assert_defined(found, one_step_sum, batch)
    errors = module.td_errors(**arrays, discount=batch.discount)
    assert_defined(errors, lambda walk, batch, t: walk.error(t, batch.discount), batch)


Check = Callable[[Any, Batch, float], None]
CHECKS: dict[str, Check] = {
    "retrace": check_retrace,
    "vtrace": check_vtrace,
    "monte_carlo": check_monte_carlo,
    "one_step_td": check_one_step,
}

# Batches, drawn by hypothesis or from a seed -----------------------------------------------------

numbers = st.floats(-2.0, 2.0, allow_subnormal=False)
shares = st.floats(0.0, 1.0, allow_subnormal=False)
positive_ratios = st.floats(0.0, 3.0, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 1e6])
clips = st.floats(0.1, 1.5)


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    steps = draw(st.integers(0, 8))

    def some(of: st.SearchStrategy[float], size: int) -> list[float]:
        return draw(st.lists(of, min_size=size, max_size=size))

    return Walk(
        rewards=some(numbers, steps),
        ratios=some(positive_ratios, steps),
        values=some(numbers, steps + 1),
        truncated=draw(st.booleans()),
    )


batches = st.builds(
    Batch,
    walks=st.lists(walks(), min_size=1, max_size=4),
    discount=shares,
    lambda_=shares,
    rho_clip=clips,
    c_clip=clips,
    extra=st.integers(0, 2),
)


def batch_from_seed(seed: int) -> Batch:
    rng = random.Random(f"learning/batch/{seed}")

    def walk() -> Walk:
        steps = rng.randint(1, 8)
        return Walk(
            rewards=[rng.uniform(-2, 2) for _ in range(steps)],
            ratios=[math.exp(rng.gauss(0, 1)) for _ in range(steps)],
            values=[rng.uniform(-2, 2) for _ in range(steps + 1)],
            truncated=rng.random() < 0.5,
        )

    return Batch(
        walks=[walk() for _ in range(4)],
        discount=rng.uniform(0.5, 1.0),
        lambda_=rng.uniform(0.5, 1.0),
        rho_clip=rng.uniform(1.0, 1.5),
        c_clip=rng.uniform(0.5, 1.0),
        extra=seed % 2,
    )
