"""Advantages, how much better a step was than expected: GAE, doubly robust, group-relative, forks.

Conventions of `retrace`: right-padded [batch, time] arrays, values with one column more; padding
may hold anything on input and is 0 on output. Advantages are weights: `losses` detaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from distrl.learning.targets.retrace import backward_sums, check_share, next_values, td_errors


@dataclass(frozen=True, slots=True)
class Continuation:
    """The rest of a trajectory from a step on."""

    steps: int  # from there to the end
    success: bool


def generalised(
    values: Tensor,  # [batch, time + 1]
    rewards: Tensor,  # [batch, time]
    mask: Tensor,  # [batch, time]
    bootstrap: Tensor,  # [batch]
    discount: float,
    lambda_: float,
) -> Tensor:
    """Return generalised advantages (GAE): A_t = δ_t + γ·λ·A_{t+1}; λ = 1 is Monte-Carlo − V."""
    check_share("lambda_", lambda_)
    errors = td_errors(values, rewards, mask, bootstrap, discount)
    return backward_sums(errors, torch.full_like(errors, discount * lambda_))


def fork_advantage(own: Continuation, others: Sequence[Continuation], discount: float) -> float:
    """Return G − mean of the others' G, with G = γ^(steps − 1) for a success, else 0.

    The others' outcomes, and the decision to use them, do not depend on the answer of `own`, so
    the baseline is as unbiased as a critic's and free of the critic's errors. Both sides are
    measured: the difference of a bootstrapped target and measured returns would contain the
    critic's error. Costs are left out: where all have failed nothing was measured, and a filter
    that keeps positive advantages would keep the attempt that gave up first.
    """
    mine, *theirs = [
        discount ** (each.steps - 1) if each.success else 0.0 for each in (own, *others)
    ]
    return mine - sum(theirs) / len(theirs)


def doubly_robust(
    values: Tensor,  # [batch, time + 1]: success probabilities
    rewards: Tensor,  # [batch, time]
    outcomes: Tensor,  # [batch]: r_H, 1 for success and 0 for failure
    mask: Tensor,  # [batch, time]
    bootstrap: Tensor,  # [batch]
    decay: float,
) -> Tensor:
    """Return DigiRL's step advantage: w_h + (1 − w_h)·(V(s_{h+1}) + r_h − V(s_h)).

    w_h = λ^{H−h}·r_H: near the end of a success the outcome dominates, elsewhere the critic. DigiRL
    keeps steps above 1/H: see `keep_above`.
    """
    check_share("decay", decay)
    steps = torch.arange(mask.shape[1], device=mask.device)
    left = (mask.sum(1, keepdim=True) - 1 - steps).clamp(min=0)  # H − h, [batch, time]
    weights = outcomes.unsqueeze(1) * torch.full_like(rewards, decay) ** left
    real_values = torch.where(mask, values[:, :-1], 0.0)
    real_rewards = torch.where(mask, rewards, 0.0)
    improvement = next_values(values, mask, bootstrap) + real_rewards - real_values
    return torch.where(mask, weights + (1.0 - weights) * improvement, 0.0)


def group_relative(
    outcomes: Tensor,  # [batch]: one return per trajectory
    groups: Tensor,  # [batch]: attempts at the same task have equal ids
    *,
    divide_by_deviation: bool = True,
    tolerance: float = 1e-6,
) -> Tensor:
    """Return GRPO's (R − mean of its group) / deviation of its group, [batch].

    The deviation is that of the population (two attempts, one success: ±1). Groups whose returns
    differ by no more than `tolerance`, such as groups of one, carry no signal and give exactly 0.
    Without the division it is the unbiased variant, which does not favour tasks that nearly always
    or nearly never succeed.
    """
    same = groups.unsqueeze(1) == groups.unsqueeze(0)  # [batch, batch]
    size = same.sum(1)
    highest = torch.where(same, outcomes, -torch.inf).amax(1)
    lowest = torch.where(same, outcomes, torch.inf).amin(1)
    spread_out = highest - lowest > tolerance
    mean = torch.where(same, outcomes, 0.0).sum(1) / size
    centred = torch.where(spread_out, outcomes - mean, 0.0)
    if not divide_by_deviation:
        return centred
    variance = torch.where(same, centred.square(), 0.0).sum(1) / size
    return centred / torch.where(spread_out, variance, 1.0).sqrt()


def normalise(advantages: Tensor, mask: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Return (A − mean) / (deviation + ε) over the real steps of the batch; a single step gives 0.

    ε is well above float32 rounding errors, so that equal advantages do not become noise of ±1.
    """
    real = torch.where(mask, advantages, 0.0)
    steps = mask.sum().clamp(min=1)
    centred = torch.where(mask, real - real.sum() / steps, 0.0)
    deviation = (centred.square().sum() / steps).sqrt()
    return centred / (deviation + epsilon)


def keep_above(advantages: Tensor, mask: Tensor, threshold: float | Tensor = 0.0) -> Tensor:
    """Return 1{A_t > threshold} as weights, [batch, time]; the threshold may be [batch, 1]."""
    return (mask & (advantages > threshold)).to(advantages.dtype)
