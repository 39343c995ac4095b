"""The critic's loss and its gauges, by hand; its gradient reaches the heads and nothing else."""

from __future__ import annotations

import math

import pytest
import torch
from benchmarks.small_world import CORNER, DETOUR, HOME, PAGE, SHORTCUT, new_policy
from tests.learning.algorithms.algorithm_checks import DONE, LEFT, attempt, batch
from torch import Tensor, nn

from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.actor_critic import (
    CriticObjective,
    ValueLoss,
    explained_variance,
    reliability_gap,
    value_outcomes,
)
from distrl.learning.algorithms.ppo import Ppo, PpoSettings
from distrl.learning.algorithms.vtrace import VTraceActorCritic, VTraceSettings
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.retrace import retrace
from distrl.records import Ending

KINDS: tuple[ValueLoss, ...] = ("cross_entropy", "squared", "huber")
BOTH = torch.arange(2)


def test_a_perfect_critic_of_a_sure_success_has_no_gap_whatever_the_discount() -> None:
    # Five steps to a success that never fails, γ = 0.95, a step costs nothing: V_t = γ^(4 − t).
    steps = [(HOME, LEFT), (SHORTCUT, LEFT), (CORNER, LEFT), (DETOUR, LEFT), (PAGE, DONE)]
    data = batch(attempt(steps, Ending.SUCCESS))
    policy = new_policy(dtype=torch.float64)
    with torch.no_grad():
        for left, (state, _) in enumerate(reversed(steps)):
            policy.value_table[state] = torch.logit(_row(min(0.95**left, 1 - 1e-9)))
    for algorithm in (
        ARide(GradientStep(policy), ARideSettings(discount=0.95)),
        VTraceActorCritic(GradientStep(policy), VTraceSettings(discount=0.95)),
        Ppo(GradientStep(policy), PpoSettings(discount=0.95)),
    ):
        report = algorithm.plan(data, GradientStep(policy).score_batch(data))
        assert report.outcomes is not None
        assert report.outcomes[0].tolist() == pytest.approx(
            [0.95**left for left in (4, 3, 2, 1, 0)]
        )
        for name in {"brier_score", "reliability_gap"} & report.metrics.keys():
            assert report.metrics[name] == pytest.approx(0.0, abs=1e-6), name


def test_of_a_trajectory_that_was_cut_off_the_last_value_stands_for_the_rest() -> None:
    data = batch(attempt([(HOME, LEFT), (SHORTCUT, LEFT)], Ending.STEP_LIMIT))
    policy = new_policy()
    with torch.no_grad():
        policy.value_table.fill_(0.0)  # one half everywhere
    current = GradientStep(policy).score_batch(data)
    assert value_outcomes(data, current, 0.9)[0].tolist() == pytest.approx([0.405, 0.45])


def test_where_success_is_predicted_success_is_what_counts() -> None:
    settings = ARideSettings(discount=0.5, value_target="success")
    data = batch(attempt([(HOME, LEFT), (PAGE, DONE)], Ending.SUCCESS))
    report = ARide(GradientStep(new_policy()), settings).update(data)
    assert report.outcomes[0].tolist() == [1.0, 1.0]


def _row(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def _critic(kind: ValueLoss, *targets: float) -> CriticObjective:
    return CriticObjective(kind, _row(*targets), torch.ones(len(targets), dtype=torch.float64))


def test_cross_entropy_by_hand() -> None:
    # V = (½, ¾) against y = (1, 0): (log 2 + log 4) / 2
    logits = _row(0.0, math.log(3)).unsqueeze(-1)
    found = _critic("cross_entropy", 1.0, 0.0)(logits, BOTH)
    assert found.item() == pytest.approx(1.5 * math.log(2))
    # a soft target is met in the middle: y = V leaves no gradient
    settled = logits.clone().requires_grad_()
    loss = _critic("cross_entropy", 0.5, 0.75)(settled, BOTH)
    assert torch.autograd.grad(loss, settled)[0].abs().max() < 1e-12


def test_targets_beyond_one_still_have_a_minimum() -> None:
    logits = _row(50.0, -50.0).unsqueeze(-1)
    assert _critic("cross_entropy", 1.3, -0.2)(logits, BOTH).item() >= 0.0


@pytest.mark.parametrize(
    ("kind", "loss"),
    [("squared", (0.5 * 0.0625 + 0.5 * 4) / 2), ("huber", (0.5 * 0.0625 + (2 - 0.5)) / 2)],
)
def test_regression_by_hand(kind: ValueLoss, loss: float) -> None:
    # V − v = (0.25, −2)
    logits = _row(0.0, math.log(3)).unsqueeze(-1)
    found = _critic(kind, 0.25, 2.75)(logits, BOTH)
    assert found.item() == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_heads_learn_apart_and_their_losses_add_up(kind: ValueLoss) -> None:
    heads = torch.tensor([[0.2, 0.7], [0.9, 0.1]], dtype=torch.float64)
    critic = _critic(kind, 1.0, 0.0)
    apart = critic(heads[:, :1], BOTH) + critic(heads[:, 1:], BOTH)
    torch.testing.assert_close(critic(heads, BOTH), apart)
    # some turns at a time, weighed, over all turns: they add up to the whole
    weighed = CriticObjective(kind, critic.targets, _row(0.5, 2.0))
    parts = [weighed(heads[turn : turn + 1], torch.tensor([turn])) for turn in range(2)]
    torch.testing.assert_close(weighed(heads, BOTH), parts[0] + parts[1])
    alone = critic(heads[:1], BOTH[:1]), critic(heads[1:], BOTH[1:])
    torch.testing.assert_close(weighed(heads, BOTH), 0.5 * alone[0] + 2.0 * alone[1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_goes_through_predictions_and_not_through_targets(kind: ValueLoss) -> None:
    """Targets made from the very heads that learn, and not detached by the caller."""
    torch.manual_seed(0)
    heads, policy = (nn.Linear(4, n, dtype=torch.float64) for n in (2, 3))
    screens = torch.randn(1, 4, 4, dtype=torch.float64)  # three steps and the final screen
    mask, cut = torch.ones(1, 3).bool(), torch.ones(1).bool()

    def gradients(*, detached: bool) -> list[Tensor | None]:
        logits = heads(screens)
        ratios = policy(screens).exp()[:, :3, 0]
        values = logits.sigmoid().amin(-1)
        targets = retrace(values, _row(0.0, 0.0, 1.0)[None], ratios, mask, cut, 0.9, 0.9)
        targets = targets.detach() if detached else targets
        critic = CriticObjective(kind, targets[0], torch.ones(3, dtype=torch.float64))
        parts = [*heads.parameters(), *policy.parameters()]
        loss = critic(logits[0, :3], torch.arange(3))
        return list(torch.autograd.grad(loss, parts, allow_unused=True))

    ours, wanted = gradients(detached=False), gradients(detached=True)
    for mine, right in zip(ours[:2], wanted[:2], strict=True):
        assert mine is not None
        assert right is not None
        assert mine.any()
        assert mine.equal(right)
    assert ours[2:] == [None] * 2


def test_one_step_moves_the_heads_towards_the_target() -> None:
    logits = _row(0.2, -0.4).unsqueeze(-1).requires_grad_()
    before = logits.detach().sigmoid()
    optimiser = torch.optim.SGD([logits], lr=2.0)
    torch.autograd.backward(_critic("cross_entropy", 1.0, 0.0)(logits, BOTH))
    optimiser.step()
    # the slope by the logit is V − v, over two turns
    wanted = torch.tensor([[0.2], [-0.4]], dtype=torch.float64) - (before - _row(1.0, 0.0)[:, None])
    torch.testing.assert_close(logits.detach(), wanted)


def test_the_reliability_gap_is_that_of_the_bins() -> None:
    # 0.12 and 0.18 share a bin: |0.30 − 1| = 0.7; 0.9 and 1.0 another: |1.9 − 2| = 0.1; over 4
    values, outcomes = torch.tensor([0.12, 0.18, 0.9, 1.0]), torch.tensor([0.0, 1.0, 1.0, 1.0])
    assert reliability_gap(values, outcomes) == pytest.approx(0.8 / 4)
    assert reliability_gap(torch.full((4,), 0.5), torch.tensor([0.0, 1.0, 1.0, 0.0])) == 0.0
    assert reliability_gap(torch.zeros(0), torch.zeros(0)) == 0.0


def test_a_critic_that_means_what_it_says_has_no_reliability_gap() -> None:
    values, outcomes = torch.full((4,), 0.25), torch.tensor([1.0, 0.0, 0.0, 0.0])
    assert reliability_gap(values, outcomes) == pytest.approx(0.0, abs=1e-7)


def test_the_reliability_gap_is_weighed_by_the_steps_of_a_bin() -> None:
    # Bin 0: values 0.05 and 0.05, both failed: gap 0.05, 2 of 4 steps. Bin 9: values 0.95 (success)
    # and 1.0 (failed): mean 0.975, share 0.5, gap 0.475, 2 of 4. Error (2·0.05 + 2·0.475) / 4.
    values, outcomes = torch.tensor([0.05, 0.05, 0.95, 1.0]), torch.tensor([0.0, 0.0, 1.0, 0.0])
    assert reliability_gap(values, outcomes) == pytest.approx(0.2625, abs=1e-6)


def test_explained_variance_is_one_for_who_knows_and_zero_for_who_guesses() -> None:
    targets = torch.tensor([0.0, 0.5, 1.0, 0.5])
    assert explained_variance(targets, targets) == pytest.approx(1.0)
    assert explained_variance(torch.full_like(targets, 0.5), targets) == pytest.approx(0.0)
    # errors 0.25, 0, −0.25, 0: variance 0.03125 of 0.125
    halfway = torch.tensor([0.25, 0.5, 0.75, 0.5])
    assert explained_variance(halfway, targets) == pytest.approx(1 - 0.03125 / 0.125)
    assert explained_variance(targets, torch.full_like(targets, 0.3)) == 0.0
