"""Value targets against the double sums of their definitions, by hand, and at their borders."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning.definitions import (
    CHECKS,
    GARBAGE,
    Batch,
    Walk,
    assert_defined,
    batch_from_seed,
    batches,
    monte_carlo_sum,
    one_step_sum,
    walks,
)

from distrl.errors import InvalidSetting
from distrl.learning.targets import retrace as targets
from distrl.learning.targets.retrace import (
    monte_carlo,
    next_targets,
    next_values,
    one_step_td,
    retrace,
    td_errors,
    vtrace,
)

garbages = st.sampled_from(GARBAGE)


@pytest.mark.parametrize("name", CHECKS)
def test_it_is_the_sum_that_defines_it(name: str) -> None:
    @settings(max_examples=2 * settings().max_examples)
    @given(batch=batches, garbage=garbages)
    def check(batch: Batch, garbage: float) -> None:
        CHECKS[name](targets, batch, garbage)

    check()


# Identities --------------------------------------------------------------------------------------


def _on_policy(batch: Batch, lambda_: float) -> Batch:
    same = [dataclasses.replace(walk, ratios=[1.0] * len(walk.ratios)) for walk in batch.walks]
    return dataclasses.replace(batch, walks=same, lambda_=lambda_, rho_clip=1.0, c_clip=1.0)


@given(batch=batches)
def test_on_policy_with_full_traces_it_is_monte_carlo(batch: Batch) -> None:
    batch = _on_policy(batch, lambda_=1.0)
    found = retrace(**batch.padded(), discount=batch.discount, lambda_=1.0)
    assert_defined(found, monte_carlo_sum, batch)


@given(batch=batches)
def test_without_traces_it_is_one_step_td(batch: Batch) -> None:
    found = retrace(**batch.padded(), discount=batch.discount, lambda_=0.0)
    assert_defined(found, one_step_sum, batch)


@given(batch=batches)
def test_on_policy_it_equals_vtrace(batch: Batch) -> None:
    """For every λ: with ρ = 1 it no longer matters which step the trace is counted to."""
    batch = _on_policy(batch, batch.lambda_)
    arrays = batch.padded()
    ours = retrace(**arrays, discount=batch.discount, lambda_=batch.lambda_)
    theirs = vtrace(**arrays, discount=batch.discount, lambda_=batch.lambda_).targets
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


@given(walk=walks(), discount=st.floats(0.0, 1.0), below=st.floats(0.0, 0.99))
def test_off_policy_only_vtrace_weighs_the_step_itself(
    walk: Walk, discount: float, below: float
) -> None:
    """On the last step there is nothing but the step itself: Retrace takes its error in full
    whatever its ratio, V-trace takes the share ρ of it.
    """
    walk = dataclasses.replace(walk, ratios=[below] * len(walk.ratios))
    if not walk.rewards:
        return
    batch = Batch([walk], discount, lambda_=1.0, rho_clip=1.0, c_clip=1.0)
    arrays, last = batch.padded(), len(walk.rewards) - 1
    value, error = walk.values[last], walk.error(last, discount)
    ours = retrace(**arrays, discount=discount, lambda_=1.0)[0, last]
    theirs = vtrace(**arrays, discount=discount).targets[0, last]
    assert float(ours) == pytest.approx(value + error, abs=1e-10)
    assert float(theirs) == pytest.approx(value + below * error, abs=1e-10)


def test_the_released_code_of_the_paper_computes_something_else() -> None:
    """There both switches gave the V-trace numbers; here they differ as the equations do."""
    batch = batch_from_seed(1)
    arrays = batch.padded()
    ours = retrace(**arrays, discount=0.9, lambda_=1.0)
    theirs = vtrace(**arrays, discount=0.9).targets
    assert (ours - theirs).abs().max() > 0.1


# Hand-worked numbers -----------------------------------------------------------------------------

# Two steps, γ = 0.5, λ = 0.8, r = (0, 1), V = (0.4, 0.6 | 0.9), ρ = (2, 0.5).
VALUES = torch.tensor([[0.4, 0.6, 0.9]], dtype=torch.float64)
REWARDS = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
RATIOS = torch.tensor([[2.0, 0.5]], dtype=torch.float64)
BOTH = torch.tensor([[True, True]])
ENDED, CUT = torch.tensor([False]), torch.tensor([True])


def _close(found: torch.Tensor, *expected: float) -> None:
    torch.testing.assert_close(
        found, torch.tensor([expected], dtype=found.dtype), rtol=0, atol=1e-12
    )


def test_retrace_by_hand() -> None:
    # ended: δ1 = 1 + 0 − 0.6 = 0.4; δ0 = 0 + 0.5·0.6 − 0.4 = −0.1; c1 = 0.8·min(1, 0.5) = 0.4
    # Δ1 = 0.4; Δ0 = −0.1 + 0.5·0.4·0.4 = −0.02; v = (0.38, 1.0)
    _close(retrace(VALUES, REWARDS, RATIOS, BOTH, ENDED, 0.5, 0.8), 0.38, 1.0)
    # cut: δ1 = 1 + 0.5·0.9 − 0.6 = 0.85; Δ0 = −0.1 + 0.2·0.85 = 0.07; v = (0.47, 1.45)
    _close(retrace(VALUES, REWARDS, RATIOS, BOTH, CUT, 0.5, 0.8), 0.47, 1.45)


def test_vtrace_by_hand() -> None:
    # ended: ρ̄ = (1, 0.5), c0 = min(1, 2) = 1; Δ1 = 0.5·0.4 = 0.2; Δ0 = −0.1 + 0.5·1·0.2 = 0
    # v = (0.4, 0.8); A0 = 1·(0 + 0.5·0.8 − 0.4) = 0; A1 = 0.5·(1 + 0 − 0.6) = 0.2
    found = vtrace(VALUES, REWARDS, RATIOS, BOTH, ENDED, 0.5)
    _close(found.targets, 0.4, 0.8)
    _close(found.advantages, 0.0, 0.2)
    # rho_clip = 2 doubles the first step: Δ0 = −0.2 + 0.5·1·0.2 = −0.1; A0 = 2·0 = 0
    wide = vtrace(VALUES, REWARDS, RATIOS, BOTH, ENDED, 0.5, rho_clip=2.0)
    _close(wide.targets, 0.3, 0.8)
    _close(wide.advantages, 0.0, 0.2)
    # cut: δ1 = 0.85, Δ1 = 0.425, Δ0 = −0.1 + 0.2125; A1 = 0.5·0.85
    cut = vtrace(VALUES, REWARDS, RATIOS, BOTH, CUT, 0.5)
    _close(cut.targets, 0.5125, 1.025)
    _close(cut.advantages, 0.5 * 1.025 - 0.4, 0.425)


def test_the_others_by_hand() -> None:
    _close(td_errors(VALUES, REWARDS, BOTH, ENDED, 0.5), -0.1, 0.4)
    _close(one_step_td(VALUES, REWARDS, BOTH, CUT, 0.5), 0.3, 1.45)
    _close(monte_carlo(VALUES, REWARDS, BOTH, ENDED, 0.5), 0.5, 1.0)
    _close(monte_carlo(VALUES, REWARDS, BOTH, CUT, 0.5), 0.725, 1.45)
    _close(next_values(VALUES, BOTH, ENDED), 0.6, 0.0)
    _close(next_targets(REWARDS, VALUES, BOTH, CUT), 1.0, 0.9)


# Padding, precision, gradients, refusals ---------------------------------------------------------


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("name", ["retrace", "vtrace", "monte_carlo", "one_step_td"])
def test_padding_changes_neither_results_nor_gradients(name: str, garbage: float) -> None:
    batch = batch_from_seed(3)

    def run(garbage: float, extra: int) -> tuple[torch.Tensor, torch.Tensor]:
        arrays = dataclasses.replace(batch, extra=extra).padded(garbage)
        values = arrays.pop("values").requires_grad_()
        if name in ("retrace", "vtrace"):
            keywords = {"lambda_": 0.9}
        else:
            keywords = {}
            del arrays["ratios"]
        out = getattr(targets, name)(values, **arrays, discount=0.9, **keywords)
        out = out.targets + out.advantages if name == "vtrace" else out
        (gradient,) = torch.autograd.grad((out * out.detach()).sum(), values)
        return out.detach(), gradient

    clean, dirty = run(0.0, extra=0), run(garbage, extra=3)
    for one, other in zip(clean, dirty, strict=True):
        torch.testing.assert_close(other[:, : one.shape[1]], one, rtol=0, atol=0)
        assert not other[:, one.shape[1] :].any()


def test_float32_stays_float32_and_close() -> None:
    batch = batch_from_seed(4)
    arrays = batch.padded()
    single = {k: v.float() if v.is_floating_point() else v for k, v in arrays.items()}
    found = retrace(**single, discount=batch.discount, lambda_=batch.lambda_)
    assert found.dtype == torch.float32
    exact = retrace(**arrays, discount=batch.discount, lambda_=batch.lambda_)
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_the_numbers() -> None:
    batch = batch_from_seed(5)
    arrays = batch.padded(0.0)
    values = arrays.pop("values").requires_grad_()
    rewards = arrays.pop("rewards").requires_grad_()

    def of_values(values: torch.Tensor, rewards: torch.Tensor) -> torch.Tensor:
        return retrace(values, rewards, **arrays, discount=0.9, lambda_=0.8)

    assert torch.autograd.gradcheck(of_values, (values, rewards))


def test_the_rewarded_last_step_reaches_every_step_before_it() -> None:
    rewards = torch.zeros(1, 5, dtype=torch.float64)
    rewards[0, 3] = 1.0  # the last real step of four
    mask = torch.tensor([[True, True, True, True, False]])
    ones = torch.ones_like(rewards)
    found = retrace(torch.zeros(1, 6), rewards, ones, mask, ENDED, discount=0.5, lambda_=1.0)
    _close(found, 0.125, 0.25, 0.5, 1.0, 0.0)


def test_nothing_at_all_is_fine() -> None:
    nothing = torch.zeros(2, 0)
    no_steps = nothing.bool()
    found = retrace(torch.zeros(2, 1), nothing, nothing, no_steps, torch.ones(2).bool(), 0.9, 0.9)
    assert found.shape == (2, 0)


@pytest.mark.parametrize(("discount", "lambda_"), [(1.1, 0.5), (-0.1, 0.5), (math.nan, 0.5)])
def test_settings_out_of_range_are_refused(discount: float, lambda_: float) -> None:
    with pytest.raises(InvalidSetting, match=r"\[0, 1\]"):
        retrace(VALUES, REWARDS, RATIOS, BOTH, ENDED, discount, lambda_)
    with pytest.raises(InvalidSetting, match="lambda_"):
        retrace(VALUES, REWARDS, RATIOS, BOTH, ENDED, 0.5, discount)
    with pytest.raises(InvalidSetting, match="rho_clip"):
        vtrace(VALUES, REWARDS, RATIOS, BOTH, ENDED, 0.5, rho_clip=0.0)


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"need values \(1, 3\), got \(1, 2\)"):
        retrace(VALUES[:, :2], REWARDS, RATIOS, BOTH, ENDED, 0.5, 0.8)
    with pytest.raises(ValueError, match="are bool"):
        retrace(VALUES, REWARDS, RATIOS, BOTH.double(), ENDED, 0.5, 0.8)
    with pytest.raises(ValueError, match="hole"):
        retrace(VALUES, REWARDS, RATIOS, torch.tensor([[False, True]]), ENDED, 0.5, 0.8)
    with pytest.raises(ValueError, match="ratios"):
        retrace(VALUES, REWARDS, RATIOS[:, :1], BOTH, ENDED, 0.5, 0.8)
