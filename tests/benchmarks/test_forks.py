"""Forks and their rivals on errands: equal decisions and device time, and right figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from benchmarks.errand_network import ErrandNetwork
from benchmarks.errand_phone import ErrandPhone, ErrandTasks
from benchmarks.forks import (
    ARMS,
    REWARDS,
    ROUND,
    SECONDS,
    Arm,
    Arrived,
    Look,
    Run,
    amounts,
    compared,
    described,
    figures_of,
    rounds_to,
    run,
)
from benchmarks.tried_actions import ActionTrier, Groups, TriedActions

from distrl.devices.device import Forkable
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.learning.algorithms.a_ride import ARideSettings
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.records import Ending

SLOW, QUICK = [0.1] * 6 + [0.7] * 3, [0.1] * 3 + [0.7] * 6


# Figures -----------------------------------------------------------------------------------------


def test_rounds_are_counted_when_success_stays() -> None:
    success = [0.1, 0.7, 0.5, 0.61, 0.65, 0.6, 0.4]
    assert rounds_to(success) == 3
    assert rounds_to(success, target=0.62) is None
    assert rounds_to([0.9, 0.9, 0.9]) == 1
    assert amounts("decisions", [success, [0.1] * 9]) == [3 * ROUND, 8 * ROUND]
    assert described("seconds", [success, [0.1] * 9])["censored"] == 1.0


def test_batches_have_about_as_many_turns_in_every_arm() -> None:
    """Half of a fork is its parent's: of 4 trajectories 1 + 3/2 are left; of a tried action one
    turn is its own, an eighth of an attempt.
    """
    batches = {word: Arm.of("filtered", word).batch for word in ARMS}
    assert batches == {
        "critic": 16, "forks_1": 21, "forks_3": 26, "actions_2": 28, "actions_4": 47,
        "repeated_4": 16, "matched_1": 16, "matched_4": 16,
    }  # fmt: skip
    assert [Arm.of("signed", word).name for word in ARMS[:2]] == ["signed_critic", "signed_forks_1"]


def test_a_gain_is_one_of_pairs() -> None:
    found = compared("decisions", [QUICK, QUICK], [SLOW, SLOW])
    assert found["speedup"] == pytest.approx(2.0)
    assert found["mean_gain"] == pytest.approx(0.2)
    assert found["final_gain"] == 0.0
    found = compared("decisions", [QUICK, SLOW], [SLOW, SLOW])
    assert found["mean_gain"] == pytest.approx(0.1)
    assert found["mean_gain_low"] == pytest.approx(0.1 - 12.706 * 0.1)  # Student's t, 1 degree
    assert found["mean_gain_high"] == pytest.approx(0.1 + 12.706 * 0.1)


def test_the_same_looks_are_read_by_decisions_and_by_device_time() -> None:
    """An arm whose decisions take half the time has played twice as many at equal time."""
    curve = [0.1, 0.3, 0.5, 0.7, 0.9]
    seconds = ROUND * SECONDS
    alone, cheap = (
        Run(tuple(Look(ROUND * n, share * seconds * n, each) for n, each in enumerate(curve)), 0.0)
        for share in (1.0, 0.5)
    )
    for each in (alone, cheap):
        assert each.curve("decisions", 2 * ROUND) == [0.1, 0.3, 0.5]
    assert alone.curve("seconds", 2 * seconds) == [0.1, 0.3, 0.5]
    assert cheap.curve("seconds", 2 * seconds) == [0.1, 0.5, 0.9]
    arms = {Arm("signed"): [alone, alone], Arm("signed", "forks", 1): [cheap, cheap]}
    found = figures_of(arms, 2 * ROUND)
    assert found["signed_forks_1_final_gain"] == 0.0
    assert found["signed_forks_1_time_final_gain"] == pytest.approx(0.4)
    assert found["signed_forks_1_seconds_per_decision"] == pytest.approx(SECONDS / 2)


def test_matching_is_held_against_repeating_as_well() -> None:
    """The critic ends at 0.3, repeating at 0.1 and matching at 0.2: worse than one, not both."""
    ends = {"critic": 0.3, "repeated_2": 0.1, "matched_2": 0.2}
    runs = {
        Arm.of("signed", word): [Run((Look(0, 0, 0.1), Look(ROUND, 0, end)), 0.0)] * 2
        for word, end in ends.items()
    }
    found = figures_of(runs, ROUND)
    assert found["signed_matched_2_final_gain"] == pytest.approx(-0.1)
    assert found["signed_matched_2_over_repeated_final_gain"] == pytest.approx(0.1)
    assert "signed_repeated_2_over_repeated_final_gain" not in found


# Runs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["forks_2", "actions_3", "matched_4"])
def test_a_short_run_of_every_kind_spends_both_budgets(word: str) -> None:
    """All begin with the same weights, and some advantages are not the critic's alone."""
    assert isinstance(ErrandPhone("phone"), Forkable)
    found = run(Arm.of("filtered", word), seed=0, decisions=2 * ROUND)
    assert found.looks[0].success == pytest.approx(0.14, abs=0.02)
    assert found.looks[-1].decisions >= 2 * ROUND
    assert found.looks[-1].seconds >= 2 * ROUND * SECONDS
    assert found.measured > 0.05


# Tried actions -----------------------------------------------------------------------------------


def test_tried_actions_take_one_step_from_one_state_and_count_as_such() -> None:
    arrived, policy = Arrived(), ErrandNetwork(0)
    phones = [ErrandPhone("phone")]
    ActionTrier("a", PolicyBatcher(policy), phones, ErrandTasks("t"), arrived, 3).play()
    whole, *tried = arrived.waiting
    step = tried[0].first_step
    assert len(tried) == 3
    assert {len(each.decisions) - each.first_step for each in tried} == {1}
    assert {each.branch for each in tried} == {replace(tried[0]).branch}
    assert {each.screens[step].address for each in arrived.waiting} == {whole.screens[step].address}
    assert all(each.ending is Ending.STEP_LIMIT or each.ending.terminated for each in tried)
    assert arrived.decisions == len(whole.decisions) + 3
    assert arrived.seconds == pytest.approx(sum(each.device_seconds for each in arrived.waiting))
    assert max(each.device_seconds for each in tried) < whole.device_seconds


def test_an_action_is_worth_its_reward_and_the_next_value_less_the_groups_mean() -> None:
    """By hand: the values of what comes after are ½, so q = r + γ/2, and a success is r alone."""
    policy, groups = ErrandNetwork(0), Groups()
    arrived = Arrived()
    trier = ActionTrier(
        "a", PolicyBatcher(policy), [ErrandPhone("phone")], ErrandTasks("t"), arrived, 3
    )
    trier.play()
    whole, *tried = list(arrived.waiting)[:4]
    step = tried[0].first_step
    won = replace(tried[0], ending=Ending.SUCCESS)
    cut = [replace(each, ending=Ending.STEP_LIMIT) for each in tried[1:]]
    for each in (whole, won, *cut):
        groups.add(each)
    settings = ARideSettings(discount=0.9)
    made = TriedActions(GradientStep(policy), settings, rewards=REWARDS, groups=groups)
    rewards = batch_of([whole, won, *cut], REWARDS).rewards
    columns = [step, 0, 0, 0]
    earned = torch.stack([rewards[row, column] for row, column in enumerate(columns)])
    goes_on = torch.tensor([len(whole.decisions) > step + 1 or whole.ending.truncated, False, 1, 1])
    worth = earned + 0.9 * 0.5 * goes_on
    batch = batch_of([won, whole], REWARDS)
    found = made.update(batch).advantages
    assert found[0, 0].item() == pytest.approx(float(worth[1] - worth.mean()), abs=1e-5)
    assert found[1, step].item() == pytest.approx(float(worth[0] - worth.mean()), abs=1e-5)
