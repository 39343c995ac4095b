"""The small world plays by the matrices that its solution is computed from."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from benchmarks.small_world import (
    ACTIONS,
    CORNER,
    DEAD_END,
    HOME,
    LEFT,
    PAGE,
    RIGHT,
    SHORTCUT,
    STARTS,
    STATE_NAMES,
    UNREADABLE,
    Floats,
    SmallWorld,
    Solution,
    action_probabilities,
    old_policy,
)

from distrl.records import Done, Ending, Trajectory, Unreadable

SOLUTION = Solution(discount=0.9)


def _states(trajectory: Trajectory) -> list[int]:
    return [int(screen.pixels[0, 0, 0]) for screen in trajectory.screens]


def _random_policy(seed: int) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.ones(len(ACTIONS) + 1), len(STATE_NAMES))


def test_what_happens_is_what_the_matrices_say() -> None:
    tried: Counter[tuple[int, int]] = Counter()
    arrived: Counter[tuple[int, int, int]] = Counter()
    for trajectory in SmallWorld().episodes(old_policy(), 6000, "matrices"):
        states = _states(trajectory)
        for before, after, decision in zip(states, states[1:], trajectory.decisions, strict=False):
            action = decision.action
            column = ACTIONS.index(action) if action in ACTIONS else UNREADABLE
            tried[before, column] += 1
            arrived[before, column, after] += decision.action != Done()
    assert len(tried) == len(STATE_NAMES) * (len(ACTIONS) + 1)  # everything was tried
    for (state, column), times in tried.items():
        for to in range(len(STATE_NAMES)):
            rng = SOLUTION.transitions[state, column, to]
            spread = max(1e-9, np.sqrt(rng * (1 - rng) / times))
            assert abs(arrived[state, column, to] / times - rng) < 4.5 * spread + 1e-9


def test_success_comes_as_often_as_computed() -> None:
    policy = old_policy(strength=2.0)
    episodes = SmallWorld().episodes(policy, 12_000, "rate")
    rate = SOLUTION.success_rate(action_probabilities(policy))
    spread = np.sqrt(rate * (1 - rate) / len(episodes))
    assert abs(np.mean([each.success for each in episodes]) - rate) < 4 * spread


def test_the_value_of_a_policy_is_its_mean_discounted_return() -> None:
    policy = old_policy(strength=2.0)
    values = SOLUTION.values(action_probabilities(policy))
    returns: dict[int, list[float]] = {state: [] for state in STARTS}
    for each in SmallWorld(step_limit=80).episodes(policy, 6000, "values"):  # 0.9⁸⁰ is nothing
        returns[each.task.seed].append(0.9 ** (len(each.decisions) - 1) * each.success)
    for state, found in returns.items():
        assert abs(np.mean(found) - values[state]) < 4 * np.std(found) / np.sqrt(len(found))


def test_the_best_policy_has_the_best_values_and_none_is_better() -> None:
    best = np.eye(len(ACTIONS) + 1)[SOLUTION.best_actions]
    np.testing.assert_allclose(SOLUTION.values(best), SOLUTION.best_values, atol=1e-12)
    bellman = SOLUTION.action_values(SOLUTION.best_values).max(1)
    np.testing.assert_allclose(bellman, SOLUTION.best_values, atol=1e-12)
    for seed in range(20):
        assert (SOLUTION.regret(_random_policy(seed)) > 0.0).all()
    assert SOLUTION.success_rate(best) > 0.95


def test_the_best_way_is_the_shortcut() -> None:
    # by hand: from the corner right (0.9, else again), then done: V = 0.9·γ·1 + 0.1·γ·V
    corner = 0.9 * 0.9 / (1 - 0.1 * 0.9)
    assert SOLUTION.best_values[PAGE] == pytest.approx(1.0)
    assert SOLUTION.best_values[CORNER] == pytest.approx(corner)
    assert SOLUTION.best_values[SHORTCUT] == pytest.approx(corner**2)
    assert SOLUTION.best_values[HOME] == pytest.approx(corner**3)
    names = [ACTIONS[action] for action in SOLUTION.best_actions[[HOME, SHORTCUT, CORNER, PAGE]]]
    assert names == [LEFT, LEFT, RIGHT, Done()]


def test_who_trusts_the_old_values_takes_the_wrong_way() -> None:
    old = SOLUTION.action_values(SOLUTION.values(action_probabilities(old_policy())))[HOME]
    best = SOLUTION.action_values(SOLUTION.best_values)[HOME]
    left, right = ACTIONS.index(LEFT), ACTIONS.index(RIGHT)
    assert old[right] > 1.5 * old[left]
    assert best[left] > best[right] + 0.1
    probabilities = action_probabilities(old_policy())
    assert probabilities[HOME, right] > 0.4
    assert probabilities[SHORTCUT, right] > 0.4


def test_every_kind_of_ending_and_answer_occurs() -> None:
    episodes = SmallWorld().episodes(old_policy(), 400, "kinds")
    assert {each.ending for each in episodes} == {
        Ending.SUCCESS,
        Ending.FAILURE,
        Ending.STEP_LIMIT,
    }
    for each in episodes:
        states = _states(each)
        assert each.verdict is not None
        assert each.verdict.success == each.success
        assert (each.ending is Ending.SUCCESS) == (
            each.decisions[-1].action == Done() and states[-1] == PAGE
        )
        assert (each.ending is Ending.STEP_LIMIT) == (each.decisions[-1].action != Done())
        for step, decision in enumerate(each.decisions):
            if isinstance(decision.action, Unreadable):
                assert states[step] == states[step + 1]
    assert any(DEAD_END in _states(each) for each in episodes)
    assert len({len(each.decisions) for each in episodes}) > 5


def test_the_same_seed_plays_the_same_episodes() -> None:
    def played(seed: int) -> list[tuple[object, ...]]:
        episodes = SmallWorld().episodes(old_policy(seed), 40, seed)
        return [(each.id, each.decisions, _states(each), each.ending) for each in episodes]

    assert played(1) == played(1)
    assert played(1) != played(2)


def test_tasks_start_where_they_say() -> None:
    world = SmallWorld()
    assert {task.seed for task in world.tasks} == set(STARTS)
    for each in world.episodes(old_policy(), 50, "starts"):
        assert _states(each)[0] == each.task.seed
        assert STATE_NAMES[each.task.seed] in each.task.instruction
