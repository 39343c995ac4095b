"""The policy's losses: numbers by hand, exact gradients, and what one step of descent does."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import pytest
import torch
from tests.learning.definitions import GARBAGE
from torch import Tensor

from distrl.errors import InvalidSetting
from distrl.learning.losses.averages import Averaging, count, token_mean
from distrl.learning.losses.policy_losses import estimated_kl, policy_gradient, ppo
from distrl.learning.targets.ratios import RatioLevel, per_turn

# Two turns of one trajectory: two tokens, then one; A = (2, −1).
MASK = torch.tensor([[[True, True], [True, False]]])
LOGS = torch.tensor([[[-1.0, -2.0], [-0.5, math.nan]]], dtype=torch.float64)
ADVANTAGES = torch.tensor([[2.0, -1.0]], dtype=torch.float64)
AVERAGINGS: list[Averaging] = ["per_token", "per_turn", "whole_turn"]
LEVELS: list[RatioLevel] = ["token", "turn", "length_normalised"]


def _random(*shape: int, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=rng)


def _log_probs(logits: Tensor, token_ids: Tensor) -> Tensor:  # [..., vocabulary], [...] -> [...]
    return torch.log_softmax(logits, -1).gather(-1, token_ids.unsqueeze(-1)).squeeze(-1)


def _gradient(loss: Tensor, of: Tensor) -> Tensor:
    return torch.autograd.grad(loss, of)[0]


# Policy gradient ---------------------------------------------------------------------------------


def test_policy_gradient_by_hand() -> None:
    # −A·log π per token: (2, 4), (−0.5)
    assert policy_gradient(LOGS, ADVANTAGES, MASK).item() == pytest.approx(5.5 / 3)
    of_turns = policy_gradient(LOGS, ADVANTAGES, MASK, averaging="per_turn")
    assert of_turns.item() == pytest.approx((3 - 0.5) / 2)
    # whole turns with ratios (3 → 1, 0.5): equation 6, −½·(1·2·(−3) + 0.5·(−1)·(−0.5))
    ratios = torch.tensor([[3.0, 0.5]], dtype=torch.float64)
    to_the_letter = policy_gradient(LOGS, ADVANTAGES, MASK, ratios=ratios, averaging="whole_turn")
    assert to_the_letter.item() == pytest.approx(-0.5 * (1 * 2 * -3 + 0.5 * -1 * -0.5))
    # a cap of 2: −½·(2·2·(−3) + …)
    wide = policy_gradient(LOGS, ADVANTAGES, MASK, ratios=ratios, cap=2.0, averaging="whole_turn")
    assert wide.item() == pytest.approx(-0.5 * (2 * 2 * -3 + 0.5 * -1 * -0.5))
    # per token: ratios (0.5, 2 → 1), (0.25): (0.5·2 + 1·4 − 0.25·0.5) / 3
    each = torch.tensor([[[0.5, 2.0], [0.25, math.nan]]], dtype=torch.float64)
    by_token = policy_gradient(LOGS, ADVANTAGES, MASK, ratios=each)
    assert by_token.item() == pytest.approx((0.5 * 2 + 1 * 4 - 0.25 * 0.5) / 3)


@pytest.mark.parametrize("averaging", AVERAGINGS)
def test_its_gradient_goes_through_log_probs_alone(averaging: Averaging) -> None:
    logs = torch.where(MASK, LOGS, 0.0).requires_grad_()
    advantages = ADVANTAGES.clone().requires_grad_()
    ratios = (logs.sum(-1) + 1.0).exp()  # as if the caller had forgotten to detach them
    loss = policy_gradient(logs, advantages, MASK, ratios=ratios, cap=9.0, averaging=averaging)
    torch.autograd.backward(loss)
    assert advantages.grad is None
    # ∂/∂log π = −ρ·A / count, spread over the tokens of the turn where they share it
    share = {"per_token": (3.0, 3.0), "per_turn": (4.0, 2.0), "whole_turn": (2.0, 2.0)}[averaging]
    long, short = (-(r * a) / s for r, a, s in zip(ratios[0], ADVANTAGES[0], share, strict=True))
    assert logs.grad is not None
    expected = [long.item(), long.item(), short.item(), 0.0]
    assert logs.grad.flatten().tolist() == pytest.approx(expected, rel=1e-12)
    fixed = ratios.detach()
    assert torch.autograd.gradcheck(
        lambda x: policy_gradient(x, ADVANTAGES, MASK, ratios=fixed, averaging=averaging), (logs,)
    )


def test_off_policy_it_is_the_gradient_of_the_expected_advantage() -> None:
    """Every action once is data of the uniform policy; ρ makes of it an expectation over π."""
    logits = _random(6).requires_grad_()
    advantages = _random(6, seed=1)
    actions = torch.arange(6)
    one_token = torch.ones(6, 1).bool()
    logs = _log_probs(logits.expand(6, 1, 6), actions.unsqueeze(1))
    ratios = per_turn(logs, torch.full((6, 1), -math.log(6)), one_token)
    loss = policy_gradient(logs, advantages, one_token, ratios=ratios, cap=math.inf)
    exact = -(torch.softmax(logits, -1) * advantages).sum()
    torch.testing.assert_close(_gradient(loss, logits), _gradient(exact, logits))


def test_turns_may_stand_in_a_flat_list() -> None:
    packed = policy_gradient(LOGS[0], ADVANTAGES[0], MASK[0], averaging="per_turn")
    assert packed.equal(policy_gradient(LOGS, ADVANTAGES, MASK, averaging="per_turn"))


# Unreadable answers: A = −1 -----------------------------------------------------------------------


def test_the_penalty_is_the_gradient_of_the_chance_of_an_invalid_action() -> None:
    logits = _random(5).requires_grad_()
    invalid = torch.tensor([False, True, False, True, False])
    one_token = torch.ones(5, 1).bool()
    logs = _log_probs(logits.expand(5, 1, 5), torch.arange(5).unsqueeze(1))
    ratios = per_turn(logs, torch.full((5, 1), -math.log(5)), one_token)
    loss = policy_gradient(logs, -invalid.double(), one_token, ratios=ratios, cap=math.inf)
    rng = torch.softmax(logits, -1)[invalid].sum()
    torch.testing.assert_close(_gradient(loss, logits), _gradient(rng, logits))


@pytest.mark.parametrize("averaging", AVERAGINGS)
def test_one_step_lowers_the_probability_of_the_invalid_answer(averaging: Averaging) -> None:
    """Two turns of two tokens from one softmax each; the first answer could not be read."""
    logits = _random(1, 2, 2, 4).requires_grad_()
    ids, mask = torch.tensor([[[0, 1], [2, 3]]]), torch.ones(1, 2, 2).bool()

    def answers() -> Tensor:
        return _log_probs(logits, ids).sum(-1)

    before = answers().detach()
    optimiser = torch.optim.SGD([logits], lr=1.0)
    logs = _log_probs(logits, ids)
    invalid = torch.tensor([[True, False]])
    torch.autograd.backward(policy_gradient(logs, -invalid.double(), mask, averaging=averaging))
    optimiser.step()
    assert answers()[0, 0] < before[0, 0] - 0.1
    assert answers()[0, 1] == before[0, 1]


def test_without_an_invalid_turn_there_is_no_push() -> None:
    logs = LOGS.nan_to_num().requires_grad_()
    loss = policy_gradient(logs, -torch.zeros(1, 2), MASK)
    assert loss.item() == 0.0
    assert not _gradient(loss, logs).any()


def test_the_push_fades_as_the_answer_becomes_rare() -> None:
    one, blame = torch.ones(1, 1).bool(), -torch.ones(1)
    behaviour = torch.tensor([[-1.0]])
    pushes = []
    for log_prob in (-1.0, -5.0, -15.0):
        logs = torch.tensor([[log_prob]], requires_grad=True)
        ratios = per_turn(logs, behaviour, one)
        pushes.append(_gradient(policy_gradient(logs, blame, one, ratios=ratios), logs).item())
    assert pushes == pytest.approx([1.0, math.exp(-4), math.exp(-14)], rel=1e-5)


# PPO ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "slope"),
    [
        (1.0, 2.0, -2.0, -2.0),  # near: the plain gradient, −A·∂ρ/∂log π = −ρ·A
        (1.1, 2.0, -2.2, -2.2),
        (1.5, 2.0, -2.4, 0.0),  # gone up far enough: −1.2·2
        (0.5, 2.0, -1.0, -1.0),  # fallen although good: still pulled up
        (0.5, -2.0, 1.6, 0.0),  # fallen far enough: 0.8·2
        (1.5, -2.0, 3.0, 3.0),  # risen although bad: still pushed down
    ],
)
def test_ppo_by_hand(ratio: float, advantage: float, loss: float, slope: float) -> None:
    behaviour = torch.tensor([[-1.0]], dtype=torch.float64)
    logs = (behaviour + math.log(ratio)).requires_grad_()
    one = torch.ones(1, 1).bool()
    good = torch.tensor([advantage], dtype=torch.float64)
    found = ppo(logs, behaviour, good, one, clip=0.2)
    assert found.item() == pytest.approx(loss, rel=1e-12)
    assert _gradient(found, logs).item() == pytest.approx(slope, rel=1e-12)
    # a higher ceiling lets a good one go on
    freer = ppo(logs, behaviour, good, one, clip=0.2, clip_high=0.6)
    if ratio == 1.5 and advantage > 0:
        assert _gradient(freer, logs).item() == pytest.approx(-3.0)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("averaging", AVERAGINGS)
def test_decoupled_ppo_near_the_behaviour_is_ppo(level: RatioLevel, averaging: Averaging) -> None:
    old, new = _random(2, 3, 4), _random(2, 3, 4, seed=1)
    advantages, mask = _random(2, 3, seed=2), _random(2, 3, 4, seed=3) > -0.5
    plain = ppo(new, old, advantages, mask, level=level, averaging=averaging)
    same = ppo(new, old, advantages, mask, proximal_log_probs=old, level=level, averaging=averaging)
    torch.testing.assert_close(same, plain)


def test_decoupled_ppo_by_hand() -> None:
    # μ = 0.1, π_prox = 0.3, π_θ = 0.36: w = 3, r = 1.2 → clipped at 1.1; A = 2: −3·1.1·2
    # capped at w = 2: −2·1.1·2; PPO itself would have seen ρ = 3.6 and no room at all
    behaviour, proximal, current = (
        torch.tensor([[p]], dtype=torch.float64).log() for p in (0.1, 0.3, 0.36)
    )
    one, good = torch.ones(1, 1).bool(), torch.tensor([2.0], dtype=torch.float64)
    found = ppo(current, behaviour, good, one, proximal_log_probs=proximal, clip=0.1)
    assert found.item() == pytest.approx(-6.6)
    capped = ppo(
        current, behaviour, good, one, proximal_log_probs=proximal, clip=0.1, behaviour_cap=2.0
    )
    assert capped.item() == pytest.approx(-4.4)
    at_start = proximal.clone().requires_grad_()
    inside = ppo(at_start, behaviour, good, one, proximal_log_probs=proximal, clip=0.1)
    assert _gradient(inside, at_start).item() == pytest.approx(-6.0)  # −w·r·A, r = 1
    old_data = ppo(at_start, behaviour, good, one, clip=0.1)
    assert _gradient(old_data, at_start).item() == 0.0


@pytest.mark.parametrize("level", LEVELS)
def test_ppo_gradients(level: RatioLevel) -> None:
    new = (0.3 * _random(2, 2, 3)).requires_grad_()
    proximal, old = (0.3 * _random(2, 2, 3, seed=s) for s in (1, 2))
    advantages, mask = _random(2, 2, seed=3), _random(2, 2, 3, seed=4) > -0.8
    assert torch.autograd.gradcheck(
        lambda x: ppo(x, old, advantages, mask, proximal_log_probs=proximal, level=level), (new,)
    )
    for weight in (proximal, old, advantages):
        weight.requires_grad_()
    torch.autograd.backward(
        ppo(new, old, advantages, mask, proximal_log_probs=proximal, level=level)
    )
    torch.autograd.backward(ppo(new, old, advantages, mask, level=level))
    assert all(weight.grad is None for weight in (proximal, old, advantages))


@pytest.mark.parametrize(("clip", "high"), [(0.0, None), (1.5, None), (math.nan, 0.2), (0.2, 0.0)])
def test_ppo_refuses_a_clip_that_is_none(clip: float, high: float | None) -> None:
    with pytest.raises(InvalidSetting, match="clip"):
        ppo(LOGS, LOGS, ADVANTAGES, MASK, clip=clip, clip_high=high)


# Imitation ---------------------------------------------------------------------------------------


def test_imitation_by_hand() -> None:
    kept = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    everything, narrow = torch.ones_like(kept), MASK & kept.bool().unsqueeze(-1)
    assert policy_gradient(LOGS, everything, MASK).item() == pytest.approx(3.5 / 3)
    assert policy_gradient(LOGS, kept, MASK).item() == pytest.approx(3.0 / 3)
    assert policy_gradient(LOGS, everything, narrow).item() == pytest.approx(3.0 / 2)
    whole = policy_gradient(LOGS, everything, narrow, averaging="whole_turn")
    assert whole.item() == pytest.approx(3.0)


# Divergence from a reference ---------------------------------------------------------------------


def _mean_estimate(logits: Tensor, reference: Tensor) -> Tensor:
    """The estimate's mean over π, every token of the vocabulary weighed by its probability."""
    words = torch.arange(logits.shape[-1])
    new, old = (_log_probs(each.expand(len(words), -1), words) for each in (logits, reference))
    return (new.exp().detach() * estimated_kl(new, old, torch.ones_like(words).bool())).sum()


def test_the_estimate_is_right_on_average() -> None:
    logits, reference = _random(7), _random(7, seed=1)
    new, old = (torch.distributions.Categorical(logits=each) for each in (logits, reference))
    exact = torch.distributions.kl_divergence(new, old)
    torch.testing.assert_close(_mean_estimate(logits, reference), exact)


def test_as_a_loss_it_pulls_towards_the_reference() -> None:
    logits, reference = _random(7).requires_grad_(), _random(7, seed=1)
    p, q = torch.softmax(reference, -1), torch.log_softmax(logits, -1)
    wanted = _gradient((p * (p.log() - q)).sum(), logits)  # ∇KL(ref ‖ π)
    torch.testing.assert_close(_gradient(_mean_estimate(logits, reference), logits), wanted)


def test_the_estimate_is_never_negative_and_padding_is_nothing() -> None:
    new = torch.tensor([-1.0, -2.0, math.nan, -50.0], requires_grad=True)
    old = torch.tensor([-2.0, -1.0, math.inf, -1.0], requires_grad=True)
    mask = torch.tensor([True, True, False, True])
    found = estimated_kl(new, old, mask)
    assert (found >= 0).all()
    assert found[2] == 0.0
    assert found.isfinite().all()
    torch.autograd.backward(token_mean(found, mask))
    assert new.grad is not None
    assert new.grad[2] == 0.0
    assert old.grad is None


# All of them -------------------------------------------------------------------------------------

Loss = Callable[..., Tensor]
FIXED = {"old": _random(3, 2, 4, seed=1), "recent": _random(3, 2, 4, seed=2)}
TURNS = _random(3, 2, seed=3)
REAL = torch.tensor([[[True] * 4, [True] * 2 + [False] * 2]] * 2 + [[[True] * 3 + [False]] * 2])
REAL[2, 1] = False


def _losses(garbage: float) -> dict[str, Loss]:
    """Each loss as a function of log-probs and mask, its other arrays with garbage in padding."""
    old, recent = (torch.where(REAL, x, garbage) for x in FIXED.values())
    turns = torch.where(REAL.any(-1), TURNS, garbage)
    ratios = torch.where(REAL.any(-1), TURNS.exp(), garbage)
    return {
        "policy_gradient": lambda x, m, rows, **k: policy_gradient(
            x, turns[rows], m, ratios=ratios[rows], **k
        ),
        "on-policy gradient": lambda x, m, rows, **k: policy_gradient(x, turns[rows], m, **k),
        "ppo": lambda x, m, rows, **k: ppo(x, old[rows], turns[rows], m, **k),
        "decoupled_ppo": lambda x, m, rows, **k: ppo(
            x, old[rows], turns[rows], m, proximal_log_probs=recent[rows], level="turn", **k
        ),
        "kl": lambda x, m, rows, **k: token_mean(estimated_kl(x, old[rows], m), m, **k),
    }


EVERYWHERE = slice(None)


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("name", _losses(0.0))
@pytest.mark.parametrize("averaging", AVERAGINGS)
def test_padding_changes_nothing(name: str, averaging: Averaging, garbage: float) -> None:
    clean = _random(3, 2, 4).requires_grad_()
    dirty = torch.where(REAL, clean.detach(), garbage).requires_grad_()
    expected = _losses(0.0)[name](clean, REAL, EVERYWHERE, averaging=averaging)
    found = _losses(garbage)[name](dirty, REAL, EVERYWHERE, averaging=averaging)
    assert found.equal(expected)
    gradient = _gradient(found, dirty)
    assert gradient.equal(_gradient(expected, clean))
    assert not gradient[~REAL].any()
    assert gradient[REAL].any()


@pytest.mark.parametrize("name", _losses(0.0))
@pytest.mark.parametrize("averaging", AVERAGINGS)
def test_micro_batches_add_up_to_their_batch(name: str, averaging: Averaging) -> None:
    logs, loss = _random(3, 2, 4), _losses(0.0)[name]
    total = count(REAL, averaging)
    pieces = [
        loss(logs[rows], REAL[rows], rows, averaging=averaging, total=total)
        for rows in (slice(0, 1), slice(1, 3))
    ]
    whole = loss(logs, REAL, EVERYWHERE, averaging=averaging)
    torch.testing.assert_close(functools.reduce(torch.add, pieces), whole, rtol=0, atol=1e-12)
