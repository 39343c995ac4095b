"""How much better a step was than expected: GAE, doubly robust, group-relative, filtered.

Conventions of `retrace`: right-padded [batch, time] arrays, values with one column more, garbage
allowed in padding, 0 out of it. Advantages are weights, not losses: `losses` detaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from distrl.learning.targets.retrace import backward_sums, check_share, next_values, td_errors


@dataclass(frozen=True, slots=True)
class Continuation:
    """What came of going on from a step."""

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
    """Generalised advantage estimation: A_t = δ_t + γ·λ·A_{t+1}; λ = 1 is Monte-Carlo − V."""
    check_share("lambda_", lambda_)
    errors = td_errors(values, rewards, mask, bootstrap, discount)
    return backward_sums(errors, torch.full_like(errors, discount * lambda_))


def fork_advantage(own: Continuation, others: Sequence[Continuation], discount: float) -> float:
    """G − mean of the others' G, with G = γ^(steps − 1) for a success, else 0.

    Neither what came of the others nor whether they are asked depends on the answer that they are
    held against, so that it is as unbiased as with a critic for a baseline, and knows nothing of
    the critic's errors. Both sides are measured:
    a bootstrapped target against measured returns would be off by what the critic is wrong. Costs
    are left out: where all have failed nothing was measured, and a filter that keeps whatever is
    above the others would keep the one that gave up first.
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
    """DigiRL's step advantage: w_h + (1 − w_h)·(V(s_{h+1}) + r_h − V(s_h)), w_h = λ^{H−h}·r_H.

    Near the end of a success it trusts the outcome, elsewhere the critic. DigiRL keeps steps above
    1/H: see `keep_above`.
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
    groups: Tensor,  # [batch]: equal ids tried the same task
    *,
    divide_by_deviation: bool = True,
    tolerance: float = 1e-6,
) -> Tensor:
    """GRPO: (R − mean of its group) / deviation of its group, [batch].

    The deviation is that of the population (two attempts, one success: ±1). Groups whose returns
    differ by no more than `tolerance`, groups of one among them, teach nothing and give exactly 0.
    Without the division it is the unbiased variant, which does not favour tasks that are nearly
    always or never done.
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
    """(A − mean) / (deviation + ε) over the real steps of the batch; one step alone gives 0.

    ε is well above the rounding of float32, so that equal advantages do not become noise of ±1.
    """
    real = torch.where(mask, advantages, 0.0)
    steps = mask.sum().clamp(min=1)
    centred = torch.where(mask, real - real.sum() / steps, 0.0)
    deviation = (centred.square().sum() / steps).sqrt()
    return centred / (deviation + epsilon)


def keep_above(advantages: Tensor, mask: Tensor, threshold: float | Tensor = 0.0) -> Tensor:
    """1{A_t > threshold} as weights 0 and 1, [batch, time]; the threshold may be [batch, 1]."""
    return (mask & (advantages > threshold)).to(advantages.dtype)
