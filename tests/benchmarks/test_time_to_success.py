"""The race to success: its world is what it says, its clock is fair, its figures are right."""

from __future__ import annotations

import math

import pytest
import torch
from benchmarks.errand_network import ErrandNetwork
from benchmarks.errand_phone import (
    DEPTH,
    GOALS,
    HELD_OUT,
    TRAINED,
    ErrandJudge,
    ErrandPhone,
    ErrandPolicy,
    goal_of,
    layout,
    right_answer,
    row_of,
    taught_policy,
)
from benchmarks.errand_success import success_rate
from benchmarks.time_to_success import needed, ratio, times
from benchmarks.two_arrangements import STEP_SECONDS, Arm, Course, Look, Outgoing, Race

from distrl.episodes.episode import run_episode
from distrl.records import Task


def known(tasks: tuple[Task, ...]) -> set[int]:
    goals = [goal_of(task.instruction) for task in tasks]
    return {row_of(goal[:depth], False, goal) for goal in goals for depth in range(DEPTH + 1)}


def test_what_held_out_errands_need_is_learned_from_others() -> None:
    assert not {task.instruction for task in HELD_OUT} & {task.instruction for task in TRAINED}
    assert known(HELD_OUT) <= known(TRAINED)
    assert len(HELD_OUT) + len(TRAINED) == len(GOALS)


def better_policy(logit: float) -> ErrandPolicy:
    """What was taught, and so much more of what is right on every page that leads on."""
    policy = taught_policy()
    answers = {
        row_of(goal[:depth], False, goal): right_answer(goal[:depth], False, goal)
        for goal in GOALS
        for depth in range(DEPTH + 1)
    }
    for row, answer in answers.items():
        policy.prefer(row, answer, logit)
    return policy


@pytest.mark.slow
def test_success_is_what_playing_comes_to() -> None:
    policy, phone, episodes = better_policy(1.0), ErrandPhone("phone"), 10_000
    played = [
        run_episode(HELD_OUT[number % len(HELD_OUT)], phone, policy, ErrandJudge(phone)).success
        for number in range(episodes)
    ]
    rate = success_rate(policy)
    deviation = math.sqrt(rate * (1.0 - rate) / episodes)
    # taps that never miss would be four deviations off
    assert abs(sum(played) / episodes - rate) < 3.0 * deviation


def test_who_knows_everything_succeeds_and_who_knows_one_page_wrongly_fails_there() -> None:
    policy = better_policy(30.0)
    for depth in range(1, DEPTH + 1):
        astray = tuple(entry + 1 for entry in (0,) * depth)
        policy.prefer(row_of(astray, False, (0,) * DEPTH), (2, 0), 30.0)
    policy.prefer(row_of((), True, (0,) * DEPTH), (2, 0), 30.0)
    assert success_rate(policy) > 0.99
    first_app = tuple(task for task in HELD_OUT if goal_of(task.instruction)[0] == 0)
    others = tuple(task for task in HELD_OUT if task not in first_app)
    nowhere = next(place for place in range(8) if place not in layout(()))
    policy.prefer(row_of((), False, (0,) * DEPTH), divmod(nowhere, 4), 90.0)
    assert success_rate(policy, first_app) < 0.01
    assert success_rate(policy, others) > 0.99


def test_the_network_begins_as_it_was_taught_and_passes_on_what_it_learns() -> None:
    network, other = ErrandNetwork(1), ErrandNetwork(2)
    assert success_rate(network) == pytest.approx(success_rate(taught_policy()), rel=1e-5)
    with torch.no_grad():
        for parameter in network.policy_parameters():
            parameter.add_(torch.linspace(-1.0, 1.0, parameter.numel()).reshape(parameter.shape))
    assert success_rate(network) != pytest.approx(success_rate(other), rel=1e-3)
    other.load_weights(network.weights(), version=1)
    assert success_rate(other) == success_rate(network)


@pytest.mark.slow
def test_rounds_wait_and_the_other_way_does_not() -> None:
    rounds = Course(Arm("digirl", "sync", "half", 0.01), 0, 2.0, 600.0).run()
    free = Course(Arm("a_ride", "async", "filtered", 0.01), 0, 2.0, 600.0).run()
    assert set(rounds.staleness) == {0}
    assert max(free.staleness) > 0
    assert free.device_seconds == pytest.approx(32 * free.seconds)  # nobody ever waited
    assert rounds.device_seconds < 0.6 * 32 * rounds.seconds
    pace = [len(each.staleness) / each.seconds for each in (free, rounds)]
    assert pace[0] > 1.7 * pace[1]
    again = Course(Arm("a_ride", "async", "filtered", 0.01), 0, 2.0, 600.0).run()
    assert again.looks == free.looks


def test_a_round_takes_its_slowest_phone_and_then_the_update() -> None:
    race = Course(Arm("digirl", "sync", "half", 0.01), 0, 2.0, 500.0).run()
    first = [look.seconds for look in race.looks if look.trajectories == 32]
    assert first[1] - first[0] == pytest.approx(4 * STEP_SECONDS)
    slowest = first[0] - 4 * STEP_SECONDS
    assert 100.0 < slowest < 400.0  # ten steps of some 9 s, and a reset


def test_weights_are_out_when_the_step_is_over() -> None:
    outgoing = Outgoing()
    outgoing.publish({}, 1)
    assert outgoing.newer_than(0) is None
    assert outgoing.send()
    assert outgoing.newer_than(0) == ({}, 1)
    assert not outgoing.send()


def race(*looks: Look) -> Race:
    return Race(list(looks), staleness=[0] * 99)


def test_success_must_stay_and_who_never_arrives_counts_as_the_limit() -> None:
    lucky, later = Look(10.0, 5, 0.7), [Look(30.0 + n, 20, 0.6) for n in range(3)]
    arrived = race(lucky, Look(20.0, 9, 0.5), *later)
    late = race(Look(10.0, 5, 0.1), *later[:2])
    assert times([arrived, late], 0.6, 100.0) == [30.0, 100.0]
    assert needed([arrived, late], 0.6) == [20.0, 99.0]


def test_the_ratio_is_taken_seed_by_seed() -> None:
    # log 2 and log 8: mean log 4, deviation √2·log 2, so ±12.706·√2·log 2 / √2
    middle, low, high = ratio([2.0, 8.0], [1.0, 1.0])
    assert middle == pytest.approx(4.0)
    assert math.log(high / middle) == pytest.approx(12.706 * math.log(2.0))
    assert low * high == pytest.approx(middle**2)
