"""What is drawn, how often, and what new priorities change about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.replay.made_up_replays import filled
from tests.replay.made_up_trajectories import screen, trajectory

from distrl.errors import InvalidSetting, UsageError
from distrl.replay.buffer.replay_buffer import RECENT, ReplayBuffer, ReplaySettings


def draw_counts(replay: ReplayBuffer, draws: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    counts = Counter(
        draw.trajectory.id for _ in range(draws // 500) for draw in replay.sample(500, rng)
    )
    return np.array([counts[str(number)] for number in range(len(replay))])


def chi_square(counts: np.ndarray, shares: np.ndarray) -> float:
    expected = counts.sum() * shares / shares.sum()
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("alpha", [0.5, 1.0, 0.0])
@pytest.mark.parametrize("stratified", [True, False])
def test_draws_follow_priority_to_the_alpha(alpha: float, stratified: bool) -> None:
    """χ² over 10⁵ draws; with 39 degrees of freedom it passes 72.1 once in a thousand times."""
    replay = filled(40, capacity=64, alpha=alpha, stratified=stratified)
    priorities = np.random.default_rng(1).uniform(0.05, 20.0, 40)
    replay.update_priorities(np.arange(40), priorities)
    counts = draw_counts(replay, 100_000, seed=2)
    assert chi_square(counts, priorities**alpha) < 72.1
    wrong = priorities ** (alpha + 0.1)
    assert chi_square(counts, wrong) > 72.1  # the test can tell the difference


def test_refreshed_priorities_change_the_draws() -> None:
    replay = filled(10, capacity=16)
    before = draw_counts(replay, 10_000, seed=1)
    assert chi_square(before, np.ones(10)) < 27.9
    replay.update_priorities([3, 7], [10_000.0, 0.0])
    after = draw_counts(replay, 10_000, seed=1)
    assert after[3] > 9_000
    assert after[7] == 0 or after[7] < 5
    replay.update_priorities([3, 7], [1.0, 1.0])
    assert chi_square(draw_counts(replay, 10_000, seed=1), np.ones(10)) < 27.9


def test_a_draw_says_how_likely_it_was() -> None:
    replay = filled(4, capacity=8, alpha=1.0, stratified=False)
    replay.update_priorities(np.arange(4), [1.0, 2.0, 3.0, 4.0])
    drawn: Counter[int] = Counter()
    rng = np.random.default_rng(0)
    for _ in range(5):
        draws = replay.sample(8, rng, beta=1.0)
        drawn.update(draw.slot_id for draw in draws)
        for draw in draws:
            assert draw.trajectory.id == str(draw.slot_id)
            assert draw.priority == draw.slot_id + 1.0
            assert draw.probability == pytest.approx(draw.priority / 10.0)
            assert draw.times_drawn == drawn[draw.slot_id]
        least = min(draw.priority for draw in draws)
        for draw in draws:  # the rarest of the batch weighs 1
            assert draw.weight == pytest.approx(least / draw.priority)
    assert {e.slot_id: e.times_drawn for e in replay.next_slice(4)} == drawn
    assert replay.gauges()["drawn"] == 40.0


def test_the_importance_weight_has_its_exponent() -> None:
    replay = filled(2, alpha=1.0)
    replay.update_priorities([0, 1], [1.0, 16.0])
    weights = {
        beta: {d.slot_id: d.weight for d in replay.sample(64, np.random.default_rng(0), beta=beta)}
        for beta in (0.0, 0.5, 1.0)
    }
    assert weights[0.0] == {0: 1.0, 1: 1.0}
    assert weights[0.5] == pytest.approx({0: 1.0, 1: 0.25})
    assert weights[1.0] == pytest.approx({0: 1.0, 1: 1 / 16})


def test_the_weighted_mean_over_draws_is_the_plain_mean_over_what_is_in() -> None:
    """What importance weights are for; without the batch's normalisation: 1 / (N · P)."""
    replay = filled(20, capacity=32)
    values = np.linspace(-1.0, 3.0, 20)
    replay.update_priorities(np.arange(20), np.linspace(0.1, 5.0, 20))
    rng = np.random.default_rng(5)
    draws = [draw for _ in range(100) for draw in replay.sample(500, rng)]
    corrected = np.mean([values[d.slot_id] / (20 * d.probability) for d in draws])
    assert corrected == pytest.approx(values.mean(), abs=0.02)
    assert np.mean([values[d.slot_id] for d in draws]) > values.mean() + 0.2


def test_draws_from_a_ring_that_went_round_name_the_right_slots() -> None:
    replay = filled(25, capacity=10)
    for draw in replay.sample(200, np.random.default_rng(0)):
        assert draw.trajectory.id == str(draw.slot_id)
        assert 15 <= draw.slot_id < 25


def of_tasks(attempts: dict[str, int], **settings: Any) -> ReplayBuffer:
    """A replay with so many attempts at each task, their tasks mixed."""
    replay = ReplayBuffer(ReplaySettings(**settings))
    for number in range(max(attempts.values())):
        for task, most in attempts.items():
            if number < most:
                made = trajectory(f"{task}/{number}")
                replay.insert(replace(made, task=replace(made.task, id=task)))
    return replay


def test_attempts_at_one_task_are_drawn_together() -> None:
    replay = of_tasks({"a": 6, "b": 6, "c": 2, "d": 1}, capacity=16)
    rng = np.random.default_rng(0)
    sizes = Counter[int]()
    for _ in range(200):
        draws = replay.sample(4, rng, together=4)
        assert len(draws) == 4
        group = [draw for draw in draws if draw.trajectory.task.id == draws[0].trajectory.task.id]
        many = {"a": 4, "b": 4, "c": 2, "d": 1}[group[0].trajectory.task.id]
        assert len({draw.slot_id for draw in group}) >= many  # others, not the same again
        sizes[many] += 1
    assert set(sizes) == {1, 2, 4}


def test_a_group_is_drawn_by_the_priority_of_one_and_the_others_come_evenly() -> None:
    replay = of_tasks({"a": 3, "b": 3}, capacity=8, alpha=1.0)
    slots = {e.trajectory.id: e.slot_id for e in replay.next_slice(6)}
    replay.update_priorities(list(slots.values()), [1e-6] * 6)
    replay.update_priorities([slots["b/1"]], [1e6])
    rng = np.random.default_rng(0)
    draws = [draw for _ in range(300) for draw in replay.sample(2, rng, together=2)]
    counts = Counter(draw.trajectory.id for draw in draws)
    assert counts["b/1"] == 300
    assert counts["b/0"] + counts["b/2"] == 300
    assert 110 < counts["b/0"] < 190


def test_attempts_that_left_are_not_brought_along() -> None:
    replay = of_tasks({"a": 20, "b": 20}, capacity=5)  # of which 2 of a and 3 of b are in
    rng = np.random.default_rng(0)
    for _ in range(50):
        draws = replay.sample(8, rng, together=8)
        task = draws[0].trajectory.task.id
        group = draws[: {"a": 2, "b": 3}[task]]
        assert len({draw.slot_id for draw in group}) == len(group)
        assert {draw.trajectory.task.id for draw in group} == {task}
        assert len(draws) == 8


def test_the_weighted_mean_over_groups_is_the_plain_mean_too() -> None:
    """Companions are drawn by the priority of the one they came with: 1 / (N · P) knows that.

    With m = 2 an attempt comes by its own share, or one time in n − 1 by that of another.
    """
    replay = of_tasks({"a": 5, "b": 3, "c": 2}, capacity=16, alpha=1.0, stratified=False)
    replay.update_priorities(np.arange(10), np.linspace(0.2, 6.0, 10))
    values = np.linspace(-1.0, 3.0, 10)
    rng = np.random.default_rng(3)
    draws = [draw for _ in range(1_000) for draw in replay.sample(20, rng, beta=1.0, together=2)]
    corrected = np.mean([values[d.slot_id] / (10 * d.probability) for d in draws])
    assert corrected == pytest.approx(values.mean(), abs=0.04)
    counts = Counter(draw.slot_id for draw in draws)
    for draw in draws[:20]:
        assert counts[draw.slot_id] / len(draws) == pytest.approx(draw.probability, rel=0.12)


def test_draws_counted_later_are_given_back_with_their_counts() -> None:
    replay = filled(4, capacity=4)
    draws = replay.sample(64, np.random.default_rng(0), counted=False)
    assert {draw.times_drawn for draw in draws} == {0}
    times = Counter(draw.slot_id for draw in draws)
    assert [draw.times_drawn for draw in replay.count_draws(draws)] == [
        times[draw.slot_id] for draw in draws
    ]
    replay.insert(filled(5, capacity=5).next_slice(5)[-1].trajectory)  # the oldest leaves
    gone = [draw for draw in draws if draw.slot_id == 0]
    assert {draw.times_drawn for draw in replay.count_draws(gone)} == {1}


def test_groups_without_beta_look_at_no_other_trajectory() -> None:
    replay = of_tasks({"a": 5, "b": 3}, capacity=16)
    draws = replay.sample(8, np.random.default_rng(0), together=2)
    assert {draw.weight for draw in draws} == {1.0}
    assert all(np.isnan(draw.probability) for draw in draws)


def test_uniform_draws_ignore_priorities_and_need_no_weights() -> None:
    replay = filled(25, capacity=10)  # the ring went round
    replay.update_priorities(np.arange(15, 25), np.linspace(0.1, 50.0, 10))
    rng = np.random.default_rng(4)
    draws = [d for _ in range(20) for d in replay.sample(500, rng, beta=1.0, uniform=True)]
    counts = Counter(draw.slot_id for draw in draws)
    assert chi_square(np.array([counts[slot] for slot in range(15, 25)]), np.ones(10)) < 27.9
    assert {(draw.probability, draw.weight) for draw in draws} == {(0.1, 1.0)}


def test_a_newcomer_gets_the_highest_priority_measured_lately_not_the_highest_ever() -> None:
    replay = filled(3, capacity=1_000)
    replay.update_priorities([0], [90.0])
    replay.insert(trajectory("early"))
    assert replay.state_dict()["priorities"][-1] == 90.0
    for _ in range(RECENT // 2):  # the critic has learned: nothing surprises it so much any more
        replay.update_priorities([1, 2], [2.0, 5.0])
    replay.insert(trajectory("late"))
    assert replay.state_dict()["priorities"][-1] == 5.0


def test_a_drawn_trajectory_outlives_its_slot() -> None:
    replay = filled(1, capacity=1)
    [draw] = replay.sample(1, np.random.default_rng(0))
    replay.insert(trajectory("next", screens=(2, 3)))
    assert np.array_equal(draw.trajectory.screens[0].pixels, screen(0).pixels)


def test_updates_of_slots_that_are_gone_are_ignored_and_counted() -> None:
    replay = filled(6, capacity=4)  # slots 0 and 1 are gone; 4 and 5 took their places
    assert replay.update_priorities([0, 1, 3, 99, -1], [50.0, 50.0, 7.0, 50.0, 50.0]) == 4
    assert [e.priority for e in replay.next_slice(4)] == [1.0, 7.0, 1.0, 1.0]
    assert replay.gauges()["stale_updates"] == 4.0
    assert replay.gauges()["updated"] == 1.0
    assert replay.update_priorities([0], [1.0]) == 1


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -0.1])
def test_wrong_priorities_are_refused_and_change_nothing(wrong: float) -> None:
    replay = filled(3)
    before = replay.state_dict()
    with pytest.raises(ValueError, match="priorities lie between"):
        replay.update_priorities([0, 1], [5.0, wrong])
    with pytest.raises(ValueError, match="give \\[n\\] each"):
        replay.update_priorities([0, 1], [5.0])
    np.testing.assert_equal(replay.state_dict(), before)


def test_even_the_dullest_trajectory_can_be_drawn() -> None:
    replay = filled(2, smallest_priority=0.01)
    replay.update_priorities([0, 1], [0.0, 0.0])
    assert {d.slot_id for d in replay.sample(20, np.random.default_rng(0))} == {0, 1}


def test_the_rotating_slice_visits_everybody_in_turn() -> None:
    replay = filled(5, capacity=8)

    def visited(n: int) -> list[int]:
        return [entry.slot_id for entry in replay.next_slice(n)]

    assert [visited(2) for _ in range(4)] == [[0, 1], [2, 3], [4, 0], [1, 2]]
    assert visited(99) == [3, 4, 0, 1, 2]
    for number in range(5, 12):  # slots 0 to 3 leave
        replay.insert(trajectory(str(number)))
    assert visited(3) == [4, 5, 6]  # where it stood is gone: on with the oldest
    assert ReplayBuffer().next_slice(3) == []


def test_draws_that_make_no_sense_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="empty replay"):
        ReplayBuffer().sample(4, rng)
    for n, beta in ((0, 0.0), (4, -0.1), (4, 1.1)):
        with pytest.raises(UsageError, match="draw 1 or more"):
            filled(1).sample(n, rng, beta=beta)
    with pytest.raises(UsageError, match="0 together"):
        filled(1).sample(4, rng, together=0)


@pytest.mark.parametrize(
    "wrong",
    [{"capacity": 0}, {"byte_limit": 0}, {"alpha": -0.1}, {"alpha": 1.5}, {"smallest_priority": 0}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(wrong))):
        ReplaySettings(**wrong)
