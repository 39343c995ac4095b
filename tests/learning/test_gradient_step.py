"""One step: the same however it is split, clipped apart, and never half a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from benchmarks.small_world import ANSWERS, REWARDS, STATE_NAMES, VOCABULARY
from benchmarks.tabular_policy import TabularPolicy
from tests.learning.actor_critic_checks import moved_policy, old_episodes
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.errors import InvalidSetting
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep, Losses, StepSettings, TurnLoss
from distrl.records import Observation

ENDLESS = float("inf")


class WatchedPolicy(TabularPolicy):
    """Notes how much went through it at once."""

    def __init__(self) -> None:
        super().__init__(len(STATE_NAMES), VOCABULARY, ANSWERS)
        self.scored: list[tuple[int, int]] = []  # turns, and tokens with their padding
        self.valued: list[int] = []

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        scores = super().score(observations, answers)
        self.scored.append((len(observations), scores.log_probs.numel()))
        return scores

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:
        self.valued.append(len(observations))
        return super().value_logits(observations)


class CrampedPolicy(WatchedPolicy):
    """Has no room for `room` turns with a gradient until it checkpoints, if it may."""

    def __init__(self, room: int, *, may_checkpoint: bool) -> None:
        super().__init__()
        self.room, self.may_checkpoint = room, may_checkpoint
        self.checkpointing = False

    def start_checkpointing(self) -> bool:
        started = self.may_checkpoint and not self.checkpointing
        self.checkpointing = self.checkpointing or started
        return started

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        room = 2 * self.room if self.checkpointing else self.room
        if torch.is_grad_enabled() and len(observations) > room:
            raise torch.cuda.OutOfMemoryError("made up")
        return super().score(observations, answers)


def _batch() -> Batch:
    return batch_of(old_episodes(), REWARDS)


def _loss(batch: Batch, scale: float = 1.0) -> TurnLoss:
    """Something of everything: sums over turns, divided by the turns of the whole batch."""

    def loss(scores: Scores, turns: Tensor) -> Losses:
        said = torch.where(scores.token_mask, scores.log_probs, 0.0).sum(-1)
        weights = (turns % 5 - 2).to(said)
        total = len(batch.turns)
        return {
            "policy": scale * (weights * said).sum() / total,
            "value": (weights.unsqueeze(1) * scores.value_logits).sum() / total,
        }

    return loss


def _step(
    policy: TabularPolicy, batch: Batch, scale: float = 1.0, **settings: Any
) -> tuple[dict[str, float], dict[str, float]]:
    """Losses and norms of one step."""
    return GradientStep(policy, StepSettings(**settings)).step(batch, _loss(batch, scale))


@pytest.mark.parametrize(
    "split",
    [
        {"micro_batch_turns": 1},
        {"micro_batch_turns": 7},
        {"micro_batch_tokens": 1},
        {"micro_batch_tokens": 9},
        {"micro_batch_turns": 5, "micro_batch_tokens": 8},
    ],
)
def test_any_split_gives_the_same_gradients_losses_and_survey(split: dict[str, Any]) -> None:
    batch, whole, parts = _batch(), moved_policy(), moved_policy()
    big = {"clip": ENDLESS, "critic_clip": ENDLESS}
    surveys = [
        GradientStep(whole, StepSettings(micro_batch_turns=4096)).score_batch(batch),
        GradientStep(parts, StepSettings(**split)).score_batch(batch),
    ]
    for name in ("log_probs", "entropies", "values"):
        real = batch.token_mask if name != "values" else torch.ones_like(surveys[0].values).bool()
        one, other = (getattr(current, name)[real] for current in surveys)
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0.0)
    losses, norms = _step(whole, batch, micro_batch_turns=4096, **big)
    split_losses, split_norms = _step(parts, batch, **split, **big)
    torch.testing.assert_close(whole.logits.grad, parts.logits.grad, atol=1e-12, rtol=0.0)
    torch.testing.assert_close(whole.value_table.grad, parts.value_table.grad, atol=1e-12, rtol=0)
    assert losses == pytest.approx(split_losses, abs=1e-12)
    assert norms == pytest.approx(split_norms, abs=1e-12)


@pytest.mark.parametrize("tokens", [2, 3, 12])
def test_no_more_goes_through_at_once_than_allowed_and_everything_goes_once(tokens: int) -> None:
    batch, policy = _batch(), WatchedPolicy()
    _step(policy, batch, micro_batch_turns=8, micro_batch_tokens=tokens)
    assert sum(turns for turns, _ in policy.scored) == len(batch.turns)
    assert max(turns for turns, _ in policy.scored) <= 8
    assert max(size for _, size in policy.scored) in (tokens - 1, tokens)  # full, and no fuller


def test_a_turn_above_the_limit_goes_alone() -> None:
    policy = WatchedPolicy()
    _step(policy, _batch(), micro_batch_tokens=1)
    assert {turns for turns, _ in policy.scored} == {1}


def test_a_survey_is_what_the_policy_says_in_rows_and_columns() -> None:
    batch, policy = _batch(), moved_policy()
    current = GradientStep(policy, StepSettings(micro_batch_turns=4)).score_batch(batch)
    with torch.no_grad():
        for turn in batch.turns:
            scores = policy.score([turn.observation], [turn.token_ids])
            tokens = len(turn.token_ids)
            place = (turn.row, turn.column)
            torch.testing.assert_close(current.log_probs[place][:tokens], scores.log_probs[0])
            torch.testing.assert_close(current.entropies[place][:tokens], scores.entropies[0])
            lowest = scores.value_logits[0].sigmoid().min()
            torch.testing.assert_close(current.values[place], lowest)
    assert not current.log_probs.requires_grad
    assert not current.values.requires_grad


def test_last_screens_have_a_value_where_an_episode_was_cut_off_and_none_where_it_ended() -> None:
    batch, policy = _batch(), WatchedPolicy()
    assert bool(batch.bootstrap.any())
    assert not bool(batch.bootstrap.all())
    values = GradientStep(policy, StepSettings(micro_batch_turns=2)).score_batch(batch).values
    lengths = batch.mask.sum(1).tolist()
    for row, length in enumerate(lengths):
        final = TabularPolicy.value_logits(policy, [batch.finals[row]]).detach().sigmoid().min()
        wanted = float(final) if bool(batch.bootstrap[row]) else 0.0
        assert float(values[row, length]) == pytest.approx(wanted)
        assert float(values[row, length + 1 :].abs().sum()) == 0.0
    assert sum(policy.valued) == int(batch.bootstrap.sum())  # no pass for what has ended
    assert max(policy.valued) <= 2


def test_another_policy_can_be_asked_about_the_same_answers() -> None:
    batch, policy, other = _batch(), moved_policy(0), moved_policy(1)
    asked = GradientStep(policy).log_probs_of(other, batch)
    own = GradientStep(other).score_batch(batch).log_probs
    torch.testing.assert_close(asked, own, atol=0.0, rtol=0.0)
    assert not asked.requires_grad


@pytest.mark.parametrize("turns", [1, 7, 4096])
def test_one_pass_gives_what_two_give(turns: int) -> None:
    batch, twice, once = _batch(), WatchedPolicy(), WatchedPolicy()
    twice.load_weights(moved_policy().weights(), 0)
    once.load_weights(twice.weights(), 0)
    settings = StepSettings(micro_batch_turns=turns)
    plain = GradientStep(twice, settings)
    wanted_scores = plain.score_batch(batch)
    wanted = plain.step(batch, _loss(batch))
    step = GradientStep(once, settings)
    found_scores, scored = step.score_for_step(batch)
    assert scored is not None
    for name in ("log_probs", "entropies", "values"):
        found, expected = getattr(found_scores, name), getattr(wanted_scores, name)
        assert torch.equal(found, expected)
        assert not found.requires_grad
    assert step.step(batch, _loss(batch), scored=scored) == wanted
    for name, weights in once.weights().items():
        assert torch.equal(weights, twice.weights()[name])
    assert sum(count for count, _ in once.scored) == len(batch.turns)  # each turn once


def test_a_batch_whose_activations_do_not_fit_is_scored_without_them() -> None:
    batch = _batch()
    step = GradientStep(moved_policy(), StepSettings(one_pass_turns=len(batch.turns) - 1))
    scores, scored = step.score_for_step(batch)
    assert scored is None
    assert torch.equal(scores.log_probs, step.score_batch(batch).log_probs)


def test_the_policy_stands_still_while_the_critic_warms_up() -> None:
    batch, policy = _batch(), moved_policy()
    before = policy.weights()
    step = GradientStep(policy, StepSettings(weight_decay=0.1))
    for _ in range(3):
        step.step(batch, _loss(batch), policy_moves=False)
    assert torch.equal(policy.logits, before["logits"])
    assert not torch.equal(policy.value_table, before["values"])
    step.step(batch, _loss(batch))
    assert not torch.equal(policy.logits, before["logits"])


def test_policy_and_critic_are_clipped_apart_and_norms_are_those_before() -> None:
    batch = _batch()
    free, tight = moved_policy(), moved_policy()
    _, norms = _step(free, batch, scale=100.0, clip=ENDLESS, critic_clip=ENDLESS)
    _, clipped = _step(tight, batch, scale=100.0, clip=0.01, critic_clip=ENDLESS)
    assert clipped == pytest.approx(norms)
    assert norms["policy"] > 1.0
    assert free.logits.grad is not None
    assert tight.logits.grad is not None
    assert float(tight.logits.grad.norm()) == pytest.approx(0.01, rel=1e-4)
    torch.testing.assert_close(tight.logits.grad, free.logits.grad * 0.01 / norms["policy"])
    torch.testing.assert_close(tight.value_table.grad, free.value_table.grad)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_gradient_that_is_no_number_moves_nothing(bad: float) -> None:
    batch, policy = _batch(), moved_policy()
    before = policy.weights()

    def loss(scores: Scores, turns: Tensor) -> Losses:
        return {"policy": bad * scores.log_probs.sum(), "value": scores.value_logits.sum()}

    with pytest.raises(FloatingPointError, match="nothing was moved"):
        GradientStep(policy).step(batch, loss)
    assert all(torch.equal(before[name], now) for name, now in policy.weights().items())


@pytest.mark.parametrize(
    "setting",
    [
        {"learning_rate": 0.0},
        {"critic_learning_rate": -1.0},
        {"clip": float("nan")},
        {"critic_clip": 0.0},
        {"weight_decay": -0.1},
        {"micro_batch_turns": 0},
        {"micro_batch_tokens": 0},
    ],
)
def test_settings_out_of_range_are_refused_by_name(setting: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(setting))):
        StepSettings(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize("one_pass_turns", [0, 512])
def test_where_memory_runs_out_the_policy_checkpoints_and_the_step_is_the_same(
    one_pass_turns: int,
) -> None:
    batch, found = _batch(), []
    settings = StepSettings(micro_batch_turns=7, one_pass_turns=one_pass_turns)
    for policy in (CrampedPolicy(7, may_checkpoint=True), CrampedPolicy(4, may_checkpoint=True)):
        step = GradientStep(policy, settings)
        _, scored = step.score_for_step(batch)
        found.append(step.step(batch, _loss(batch), scored=scored))
    assert policy.checkpointing
    assert found[0] == found[1]


@pytest.mark.parametrize(("room", "may_checkpoint"), [(4, False), (3, True)])
def test_memory_that_does_not_suffice_in_any_way_is_an_error(
    room: int, may_checkpoint: bool
) -> None:
    batch = _batch()
    step = GradientStep(
        CrampedPolicy(room, may_checkpoint=may_checkpoint), StepSettings(micro_batch_turns=7)
    )
    _, scored = step.score_for_step(batch)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        step.step(batch, _loss(batch), scored=scored)


class FullBackward(torch.autograd.Function):
    """Returns what it is given; has no memory to go back through for the first `times`."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, left: list[None]) -> Tensor:
        ctx.left = left
        return given.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        if ctx.left:
            ctx.left.pop()
            raise torch.cuda.OutOfMemoryError("made up")
        return gradients[0], None


class FullPolicy(CrampedPolicy):
    """Runs out of memory `times` times going backward, in the last micro-batch of a batch."""

    def __init__(self, times: int, last: int, *, may_checkpoint: bool = True) -> None:
        super().__init__(4096, may_checkpoint=may_checkpoint)
        self.left: list[None] = [None] * times
        self.last = last  # turns of the last micro-batch

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        scores = super().score(observations, answers)
        left = self.left if len(observations) == self.last else []
        return replace(scores, log_probs=_full_backward(scores.log_probs, left))


def _full_backward(given: Tensor, left: list[None]) -> Tensor:
    found: Tensor = FullBackward.apply(given, left)  # type: ignore[no-untyped-call]
    return found


@pytest.mark.parametrize(
    ("times", "one_pass_turns", "checkpoints"),
    [(1, 512, False), (2, 512, True), (1, 0, True)],
)
def test_where_memory_runs_out_going_backward_the_whole_step_is_computed_again(
    times: int, one_pass_turns: int, checkpoints: bool
) -> None:
    """In two passes instead of one, then with checkpointing."""
    batch = _batch()
    settings = StepSettings(micro_batch_turns=7, one_pass_turns=one_pass_turns)
    last = len(batch.turns) % 7
    assert last
    plain, full = FullPolicy(0, last), FullPolicy(times, last)
    found = []
    for policy in (plain, full):
        step = GradientStep(policy, settings)
        _, scored = step.score_for_step(batch)
        found.append(step.step(batch, _loss(batch), scored=scored))
        assert not policy.left
    assert found[0] == found[1]
    for name, weights in full.weights().items():
        assert torch.equal(weights, plain.weights()[name])
    assert full.checkpointing is checkpoints
    again = step.score_for_step(batch)[1]
    assert (again is not None) is (checkpoints and one_pass_turns > 0)  # what failed is not tried


def test_memory_that_does_not_suffice_going_backward_moves_nothing() -> None:
    batch = _batch()
    policy = FullPolicy(10, len(batch.turns) % 7)
    before = policy.weights()
    step = GradientStep(policy, StepSettings(micro_batch_turns=7))
    with pytest.raises(torch.cuda.OutOfMemoryError):
        step.step(batch, _loss(batch), scored=step.score_for_step(batch)[1])
    assert len(policy.left) == 7  # one pass, two, and two with checkpointing
    assert all(torch.equal(before[name], now) for name, now in policy.weights().items())
