"""Value targets over whole trajectories: Retrace, V-trace, one-step TD and Monte-Carlo.

Arrays are padded on the right: step t of trajectory b is real where mask[b, t], [batch, time].
`rewards` has that shape; `values` has one column more, [batch, time + 1]: column t is V(s_t), and
the column after the last real step is the value of the final screen. `bootstrap`, [batch], is True
where the trajectory was truncated, so that its return is bootstrapped from the final value; where
it is False the trajectory terminated, and the value after it is 0.

Promises: every real step has a target, including the rewarded last one; targets of padding are 0;
padding may hold anything (1e9, inf, NaN) without a change in any result or gradient. The functions
are differentiable; the losses detach their targets, other callers must do it themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True, eq=False)
class VTrace:
    """Value targets, and advantages that are already multiplied by their truncated ratio."""

    targets: Tensor  # [batch, time]
    advantages: Tensor  # [batch, time]


def retrace(
    values: Tensor,  # [batch, time + 1]
    rewards: Tensor,  # [batch, time]
    ratios: Tensor,  # [batch, time]: ρ_t = π(a_t|s_t) / μ(a_t|s_t)
    mask: Tensor,  # [batch, time]
    bootstrap: Tensor,  # [batch]
    discount: float,
    lambda_: float,
) -> Tensor:
    """Return Retrace(λ) on V: V(s_t) + Δ_t with Δ_t = δ_t + γ·c_{t+1}·Δ_{t+1}, c = λ·min(1, ρ).

    Δ_t = Σ_{k≥t} γ^{k−t} (Π_{i=t+1..k} c_i) δ_k: the step itself counts in full, whatever its own
    ratio; only later steps are down-weighted, where the current policy would act differently.
    """
    _check_lambda(lambda_, ratios, rewards)
    errors = td_errors(values, rewards, mask, bootstrap, discount)
    traces = lambda_ * torch.where(mask, ratios, 0.0).clamp(max=1.0)  # c_t
    corrections = backward_sums(errors, discount * _one_later(traces))
    return torch.where(mask, values[:, :-1] + corrections, 0.0)


def vtrace(
    values: Tensor,  # [batch, time + 1]
    rewards: Tensor,  # [batch, time]
    ratios: Tensor,  # [batch, time]
    mask: Tensor,  # [batch, time]
    bootstrap: Tensor,  # [batch]
    discount: float,
    *,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
    lambda_: float = 1.0,
) -> VTrace:
    """Return V-trace (Espeholt et al. 2018): Δ_t = ρ̄_t·δ_t + γ·c_t·Δ_{t+1}, v_t = V(s_t) + Δ_t.

    ρ̄ = min(rho_clip, ρ) and c = λ·min(c_clip, ρ). Unlike Retrace it weights the step itself by its
    ratio, so that the targets are those of a policy between μ and π. The policy-gradient advantage
    is ρ̄_t·(r_t + γ·v_{t+1} − V(s_t)). The theory requires rho_clip ≥ c_clip.
    """
    _check_positive("rho_clip", rho_clip)
    _check_positive("c_clip", c_clip)
    _check_lambda(lambda_, ratios, rewards)
    errors = td_errors(values, rewards, mask, bootstrap, discount)
    real_ratios = torch.where(mask, ratios, 0.0)
    weights = real_ratios.clamp(max=rho_clip)  # ρ̄_t
    traces = lambda_ * real_ratios.clamp(max=c_clip)  # c_t
    corrections = backward_sums(weights * errors, discount * traces)
    targets = torch.where(mask, values[:, :-1] + corrections, 0.0)
    advantages = signed_advantages(targets, values, rewards, mask, bootstrap, discount)
    return VTrace(targets, weights * advantages)


def signed_advantages(
    targets: Tensor,  # [batch, time]: v_t of retrace, vtrace, one_step_td or monte_carlo
    values: Tensor,  # [batch, time + 1]
    rewards: Tensor,  # [batch, time]
    mask: Tensor,  # [batch, time]
    bootstrap: Tensor,  # [batch]
    discount: float,
) -> Tensor:
    """Return A_t = r_t + γ·v_{t+1} − V(s_t), [batch, time]; see `next_targets` for v_{t+1}."""
    following = next_targets(targets, values, mask, bootstrap)
    real_rewards = torch.where(mask, rewards, 0.0)
    real_values = torch.where(mask, values[:, :-1], 0.0)
    return torch.where(mask, real_rewards + discount * following - real_values, 0.0)


def one_step_td(
    values: Tensor, rewards: Tensor, mask: Tensor, bootstrap: Tensor, discount: float
) -> Tensor:
    """Return r_t + γ·V(s_{t+1}): low variance, but with the full bias of the critic."""
    _check_arrays(values, rewards, mask, bootstrap, discount)
    return torch.where(mask, rewards, 0.0) + discount * next_values(values, mask, bootstrap)


def monte_carlo(
    values: Tensor, rewards: Tensor, mask: Tensor, bootstrap: Tensor, discount: float
) -> Tensor:
    """Return G_t = r_t + γ·G_{t+1}; after the end G is the final value if truncated, else 0."""
    _check_arrays(values, rewards, mask, bootstrap, discount)
    follows = _one_later(mask)
    final = torch.where(follows, 0.0, next_values(values, mask, bootstrap))
    terms = torch.where(mask, rewards, 0.0) + discount * final
    return backward_sums(terms, discount * follows.to(terms.dtype))


def td_errors(
    values: Tensor, rewards: Tensor, mask: Tensor, bootstrap: Tensor, discount: float
) -> Tensor:
    """Return δ_t = r_t + γ·V(s_{t+1}) − V(s_t); 0 at padding."""
    targets = one_step_td(values, rewards, mask, bootstrap, discount)
    return targets - torch.where(mask, values[:, :-1], 0.0)


def next_values(values: Tensor, mask: Tensor, bootstrap: Tensor) -> Tensor:
    """Return V(s_{t+1}), [batch, time]; after the end the final value if truncated, else 0."""
    follows = _one_later(mask)
    used = follows | (mask & ~follows & bootstrap.unsqueeze(1))
    return torch.where(used, values[:, 1:], 0.0)


def next_targets(targets: Tensor, values: Tensor, mask: Tensor, bootstrap: Tensor) -> Tensor:
    """Return v_{t+1} for targets v, [batch, time]; after the last step as `next_values`."""
    return torch.where(
        _one_later(mask), _one_later(targets), next_values(values, mask, bootstrap)
    )  # [batch, time]


def backward_sums(terms: Tensor, factors: Tensor) -> Tensor:
    """Return x_t = terms_t + factors_t·x_{t+1}, computed from the last column, [batch, time]."""
    columns: list[Tensor] = []
    later = torch.zeros_like(terms[:, :1])
    for t in reversed(range(terms.shape[1])):
        later = terms[:, t : t + 1] + factors[:, t : t + 1] * later
        columns.append(later)
    return torch.cat([terms[:, :0], *reversed(columns)], dim=1)


def _one_later(array: Tensor) -> Tensor:
    """Shift columns left by one and fill the last with 0; for a mask: where step t + 1 is real."""
    return torch.cat([array[:, 1:], torch.zeros_like(array[:, :1])], dim=1)


def _check_arrays(
    values: Tensor, rewards: Tensor, mask: Tensor, bootstrap: Tensor, discount: float
) -> None:
    batch, time = rewards.shape
    shapes = {"values": values.shape, "mask": mask.shape, "bootstrap": bootstrap.shape}
    wanted = {"values": (batch, time + 1), "mask": (batch, time), "bootstrap": (batch,)}
    for name, shape in shapes.items():
        if tuple(shape) != wanted[name]:
            raise ValueError(
                f"rewards {tuple(rewards.shape)} need {name} {wanted[name]}, got {tuple(shape)}"
            )
    if mask.dtype != torch.bool or bootstrap.dtype != torch.bool:
        raise ValueError(f"mask and bootstrap are bool, got {mask.dtype} and {bootstrap.dtype}")
    if bool((_one_later(mask) & ~mask).any()):
        raise ValueError("a mask has a hole: the real steps of a trajectory stand first, unbroken")
    check_share("discount", discount)


def _check_lambda(lambda_: float, ratios: Tensor, rewards: Tensor) -> None:
    if ratios.shape != rewards.shape:
        raise ValueError(
            f"rewards {tuple(rewards.shape)} need ratios of the same shape, one per turn, "
            f"got {tuple(ratios.shape)}"
        )
    check_share("lambda_", lambda_)


def check_share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:  # also refuses NaN
        raise InvalidSetting(f"{name}={value!r}; give a number in [0, 1]")


def _check_positive(name: str, value: float) -> None:
    if not value > 0.0:
        raise InvalidSetting(f"{name}={value!r}; give a number above 0")
