"""Batches: every step is in them, where it belongs, with what it earned."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from benchmarks.small_world import REWARDS
from tests.learning.actor_critic_checks import old_episodes

from distrl.errors import UsageError
from distrl.learning.batch import batch_of, batch_of_draws
from distrl.learning.targets.rewards import RewardSettings, step_rewards
from distrl.records import Ending, Trajectory, Unreadable
from distrl.replay.buffer.entries import Draw, Entry

FREE = RewardSettings(success=2.0, step_cost=0.0, repetition_penalty=0.0, invalid_penalty=0.25)


def _one_of_each() -> list[Trajectory]:
    """A success, a failure and one that was cut off, of different lengths."""
    episodes = old_episodes(80)
    kinds = (Ending.SUCCESS, Ending.FAILURE, Ending.STEP_LIMIT)
    chosen = [next(each for each in episodes if each.ending is kind) for kind in kinds]
    assert len({len(each.decisions) for each in chosen}) == 3
    return chosen


def test_every_step_of_every_trajectory_is_there_the_rewarded_last_one_too() -> None:
    episodes = old_episodes(60)
    batch = batch_of(episodes, REWARDS)
    assert [(turn.row, turn.column) for turn in batch.turns] == [
        (row, column) for row, each in enumerate(episodes) for column in range(len(each.decisions))
    ]
    assert batch.mask.sum(1).tolist() == [len(each.decisions) for each in episodes]
    successes = [row for row, each in enumerate(episodes) if each.success]
    assert successes
    for row in successes:
        last = len(episodes[row].decisions) - 1
        assert float(batch.rewards[row, last]) == 1.0 == float(batch.rewards[row].sum())
        [turn] = [turn for turn in batch.turns if (turn.row, turn.column) == (row, last)]
        assert turn.observation.screen is episodes[row].screens[last]
        assert turn.token_ids == episodes[row].decisions[last].token_ids


def test_columns_hold_what_the_records_say() -> None:
    chosen = _one_of_each()
    batch = batch_of(chosen, FREE, weights=[0.5, 1.0, 0.25])
    assert batch.bootstrap.tolist() == [False, False, True]
    assert batch.outcomes.tolist() == [1.0, 0.0, 0.0]
    assert batch.weights.tolist() == [0.5, 1.0, 0.25]
    assert batch.shape == (3, max(len(each.decisions) for each in chosen), 2)
    for row, each in enumerate(chosen):
        for column, decision in enumerate(each.decisions):
            unread = isinstance(decision.action, Unreadable)
            last = each.success and column == len(each.decisions) - 1
            assert float(batch.invalid[row, column]) == unread
            assert float(batch.rewards[row, column]) == 2.0 * last - 0.25 * unread
            tokens = batch.token_mask[row, column]
            assert int(tokens.sum()) == len(decision.token_ids)
            log_probs = batch.behaviour_log_probs[row, column][tokens]
            torch.testing.assert_close(log_probs, torch.tensor(decision.log_probs))
        assert not batch.token_mask[row, len(each.decisions) :].any()


def test_observations_are_those_that_were_decided_on() -> None:
    [trajectory] = [each for each in _one_of_each() if each.ending is Ending.STEP_LIMIT]
    batch = batch_of([trajectory], REWARDS)
    for step, turn in enumerate(batch.turns):
        assert turn.observation.screen is trajectory.screens[step]
        assert turn.observation.instruction == trajectory.task.instruction
        assert turn.observation.past_actions == tuple(
            decision.action for decision in trajectory.decisions[:step]
        )
        assert turn.observation.past_screens == trajectory.screens[:step]
    [final] = batch.finals
    assert final.past_screens == trajectory.screens[:-1]
    assert final.screen is trajectory.screens[-1]
    assert len(final.past_actions) == len(trajectory.decisions)


def test_scatter_and_gather_undo_each_other_and_let_gradients_through() -> None:
    batch = batch_of(_one_of_each(), REWARDS)
    said = torch.arange(1.0, len(batch.turns) + 1).unsqueeze(1).repeat(1, 3).requires_grad_()
    spread = batch.scatter(said)
    for place, turn in enumerate(batch.turns):
        assert spread[turn.row, turn.column].tolist() == [place + 1.0] * 3
    assert float(spread[~batch.mask].detach().abs().sum()) == 0.0
    torch.testing.assert_close(batch.gather(spread), said)
    torch.autograd.backward((spread**2).sum())
    torch.testing.assert_close(said.grad, 2 * said.detach())


def test_draws_bring_their_weights() -> None:
    draws = [
        Draw(slot, each, priority=1.0, times_drawn=1, probability=0.1, weight=weight)
        for slot, (each, weight) in enumerate(zip(_one_of_each(), (0.2, 1.0, 0.7), strict=True))
    ]
    earned = [step_rewards(draw.trajectory, FREE).total for draw in draws]
    batch = batch_of_draws(draws, earned)
    torch.testing.assert_close(batch.weights, torch.tensor([0.2, 1.0, 0.7]))
    assert batch.trajectories == tuple(draw.trajectory for draw in draws)
    assert torch.equal(batch.rewards, batch_of(batch.trajectories, FREE).rewards)
    entries = [Entry(slot, draw.trajectory, 1.0, 0) for slot, draw in enumerate(draws)]
    assert batch_of_draws(entries, earned).weights.tolist() == [1.0, 1.0, 1.0]


def test_versions_are_those_of_who_began() -> None:
    [first, second, third] = _one_of_each()
    newer = [dataclasses.replace(decision, weight_version=4) for decision in second.decisions]
    moved = dataclasses.replace(second, decisions=tuple(newer))
    assert batch_of([first, moved, third], REWARDS).weight_versions.tolist() == [0, 4, 0]


def test_agents_without_tokens_have_none() -> None:
    [first, *_] = _one_of_each()
    silent = [
        dataclasses.replace(decision, token_ids=(), log_probs=()) for decision in first.decisions
    ]
    batch = batch_of([dataclasses.replace(first, decisions=tuple(silent))], REWARDS)
    assert batch.shape == (1, len(silent), 1)
    assert not batch.token_mask.any()
    assert len(batch.turns) == len(silent)


def test_what_cannot_be_trained_on_is_refused() -> None:
    [first, *_] = _one_of_each()
    with pytest.raises(UsageError, match="at least one"):
        batch_of([])
    with pytest.raises(UsageError, match="has no reward"):
        batch_of([first, dataclasses.replace(first, ending=Ending.DEVICE_LOST)])
    with pytest.raises(UsageError, match="has no reward"):
        batch_of([dataclasses.replace(first, verdict=None)])
    with pytest.raises(UsageError, match="no steps"):
        batch_of([dataclasses.replace(first, decisions=(), screens=first.screens[:1])])
    with pytest.raises(ValueError, match="2 weights and 1 rows"):
        batch_of([first], weights=[1.0, 1.0])
    short = dataclasses.replace(first.decisions[0], log_probs=())
    with pytest.raises(UsageError, match="one for each"):
        batch_of([dataclasses.replace(first, decisions=(short, *first.decisions[1:]))])
