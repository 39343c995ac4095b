"""Forks in replay, batches and advantages: nothing twice, and measured, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.small_world import CORNER, HOME, PAGE, REWARDS, SHORTCUT, new_policy
from tests.learning.algorithms.algorithm_checks import BACK, DONE, LEFT, RIGHT, attempt

from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.vtrace import VTraceActorCritic, VTraceSettings
from distrl.learning.batch import Batch, batch_of
from distrl.learning.batch_builder import BatchBuilder
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.advantages import Continuation, fork_advantage
from distrl.records import Branch, Ending, Trajectory
from distrl.replay.buffer.entries import Outcome
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings

GAMMA = 0.9
START = [(HOME, LEFT), (SHORTCUT, LEFT)]
PARENT = replace(
    attempt([*START, (CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS), id="p"
)  # from step 1: 0, 0, 1
LOST = attempt([START[0], (SHORTCUT, RIGHT), (SHORTCUT, DONE)], Ending.FAILURE)  # 0, 0
QUICK = attempt([START[0], (SHORTCUT, BACK), (PAGE, DONE)], Ending.SUCCESS)  # 0, 1
FORKS = [
    replace(each, id=f"p/fork/{number}", branch=Branch("p", 1))
    for number, each in enumerate((LOST, QUICK), start=1)
]


def replay_of(*trajectories: Trajectory, capacity: int = 8) -> ReplayBuffer:
    replay = ReplayBuffer(ReplaySettings(capacity=capacity))
    for each in trajectories:
        assert replay.insert(each).outcome is Outcome.STORED
    return replay


def drawn(replay: ReplayBuffer) -> tuple[Batch, dict[str, int]]:
    """A batch with each trajectory of the replay once, and their rows."""
    draws = {d.slot_id: d for d in replay.sample(200, np.random.default_rng(0))}
    batch = BatchBuilder(REWARDS, 8).ready(list(draws.values())).batch
    return batch, {each.id: row for row, each in enumerate(batch.trajectories)}


def test_what_a_fork_shares_with_its_parent_is_not_in_the_batch_again() -> None:
    batch = batch_of([PARENT, *FORKS], REWARDS)
    assert batch.mask.sum(1).tolist() == [4, 2, 2]
    assert [(t.row, t.column, len(t.observation.past_actions)) for t in batch.turns] == [
        (0, 0, 0), (0, 1, 1), (0, 2, 2), (0, 3, 3), (1, 0, 1), (1, 1, 2), (2, 0, 1), (2, 1, 2)
    ]  # fmt: skip
    assert batch.rewards.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert batch.turns[4].token_ids == LOST.decisions[1].token_ids
    assert batch.token_mask[1].any(-1).tolist() == [True, True, False, False]


def test_a_return_less_the_mean_of_the_others_by_hand() -> None:
    # Returns with γ = 0.9: 0.81 for the parent, 0 for the lost one, 0.9 for the quick one.
    came = {"p": Continuation(3, True), "lost": Continuation(2, False)}
    came["quick"] = Continuation(2, True)
    for own, wanted in (("p", 0.81 - 0.45), ("lost", 0.0 - 0.855), ("quick", 0.9 - 0.405)):
        others = [each for name, each in came.items() if name != own]
        assert fork_advantage(came[own], others, GAMMA) == pytest.approx(wanted)


def test_where_all_have_failed_nothing_was_measured_however_long_it_took() -> None:
    failed = [Continuation(steps, False) for steps in (1, 4, 9)]
    assert fork_advantage(failed[0], failed[1:], GAMMA) == 0.0


@pytest.mark.parametrize("lambda_", [0.0, 1.0])
@pytest.mark.parametrize("algorithm", ["a_ride", "vtrace"])
def test_the_advantage_at_the_fork_is_measured_whatever_the_critic_says(
    algorithm: str, lambda_: float
) -> None:
    """On-policy. Elsewhere it is held against the critic's ½, at λ = 1 the return itself."""
    policy = new_policy()
    with torch.no_grad():
        policy.value_table.zero_()
    step = GradientStep(policy)
    made = (
        ARide(step, ARideSettings(discount=GAMMA, retrace_lambda=lambda_))
        if algorithm == "a_ride"
        else VTraceActorCritic(step, VTraceSettings(discount=GAMMA, vtrace_lambda=lambda_))
    )
    batch, rows = drawn(replay_of(PARENT, *FORKS))
    found = made.update(batch).advantages
    assert found[rows["p"], 1].item() == pytest.approx(0.81 - 0.45, abs=1e-5)
    assert found[rows["p/fork/1"], :2].tolist() == pytest.approx([0.0 - 0.855, -0.5], abs=1e-5)
    assert found[rows["p/fork/2"], :2].tolist() == pytest.approx([0.9 - 0.405, 0.5], abs=1e-5)
    elsewhere = [0.729 - 0.5, 0.9 - 0.5, 1.0 - 0.5] if lambda_ == 1.0 else None
    if elsewhere is not None:
        assert found[rows["p"], [0, 2, 3]].tolist() == pytest.approx(elsewhere, abs=1e-5)


def test_old_data_weighs_a_measured_advantage_by_its_ratio() -> None:
    policy = new_policy()
    policy.prefer(SHORTCUT, RIGHT, -2.0)  # what the lost fork answered has become rare
    batch, rows = drawn(replay_of(PARENT, *FORKS))
    current = GradientStep(policy).score_batch(batch)
    made = VTraceActorCritic(GradientStep(policy), VTraceSettings(discount=GAMMA))
    row = rows["p/fork/1"]
    log_ratio = float((current.log_probs - batch.behaviour_log_probs)[row, 0].sum())
    found = made.plan(batch, current).advantages[row, 0].item()
    assert found == pytest.approx(-0.855 * np.exp(log_ratio), rel=1e-4)
    assert np.exp(log_ratio) < 0.5


def test_whoever_is_drawn_the_others_are_known_as_long_as_they_are_in() -> None:
    batch, rows = drawn(replay_of(PARENT, *FORKS))
    known = {(c.row, c.column): len(c.others) for c in batch.continuations}
    assert known == {(rows["p"], 1): 2, (rows["p/fork/1"], 0): 2, (rows["p/fork/2"], 0): 2}
    fresh = [replace(QUICK, id=f"other-{number}") for number in range(2)]
    batch, rows = drawn(replay_of(PARENT, *FORKS, *fresh, capacity=4))  # the parent has left
    known = {(c.row, c.column): len(c.others) for c in batch.continuations}
    assert known == {(rows["p/fork/1"], 0): 1, (rows["p/fork/2"], 0): 1}
    batch, rows = drawn(replay_of(PARENT, *FORKS, *fresh, replace(LOST, id="x"), capacity=4))
    assert batch.continuations == ()  # one fork is left, and nobody beside it


def test_a_fork_without_a_step_of_its_own_teaches_nothing() -> None:
    empty = replace(LOST, id="e", branch=Branch("p", len(LOST.decisions)))
    assert ReplayBuffer().insert(empty).outcome is Outcome.EMPTY
    with pytest.raises(ValueError, match="branched off at step 9, where it has none"):
        replace(LOST, branch=Branch("p", 9))


def test_the_version_of_a_fork_is_that_of_its_own_first_step() -> None:
    versions = (3, 7, 8)
    decisions = tuple(
        replace(each, weight_version=version)
        for each, version in zip(LOST.decisions, versions, strict=True)
    )
    assert replace(FORKS[0], decisions=decisions).weight_version == 7
    assert replace(LOST, decisions=decisions).weight_version == 3
