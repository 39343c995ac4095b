"""A policy that unlearns is said to, once; bad luck and slow decline are not."""

from __future__ import annotations

import random

import pytest

from distrl.engine.ingest.success_watch import EPISODES, SuccessWatch


def said(watch: SuccessWatch, *stretches: tuple[int, float], seed: str = "watch") -> list[str]:
    """What is said during stretches of some episodes with a chance of success."""
    rng, found, version = random.Random(seed), [], 0
    for episodes, chance in stretches:
        for _ in range(episodes):
            version += 1
            watch.record(success=rng.random() < chance, version=version)
            if sentence := watch.pop_warning():
                found.append(sentence)
    return found


def test_a_policy_that_unlearns_is_said_to_once() -> None:
    [sentence] = said(SuccessWatch(), (300, 0.93), (500, 0.0))
    assert sentence.startswith("success fell from ")
    assert "the policy unlearns" in sentence
    assert "learning.step.learning_rate" in sentence


def test_one_that_has_recovered_may_fall_again() -> None:
    watch = SuccessWatch()
    assert len(said(watch, (200, 0.9), (200, 0.02), (300, 0.92), (200, 0.02))) == 2


@pytest.mark.seeds(4, 20)
def test_chance_is_no_fall(seed: int) -> None:
    assert not said(SuccessWatch(), (5_000, 0.5), seed=f"even {seed}")
    assert not said(SuccessWatch(), (5_000, 0.1), seed=f"poor {seed}")


def test_neither_are_harder_tasks_nor_a_beginning() -> None:
    assert not said(SuccessWatch(), (300, 0.9), (300, 0.6))
    assert not said(SuccessWatch(), (EPISODES - 1, 1.0))


def mixed(watch: SuccessWatch, *stretches: tuple[int, str, bool]) -> list[str]:
    """What is said during stretches of episodes of one environment, all successes or failures."""
    for episodes, environment, success in stretches:
        for _ in range(episodes):
            watch.record(success=success, version=1, environment=environment)
    return [sentence] if (sentence := watch.pop_warning()) else []


def test_more_episodes_of_a_harder_environment_are_no_fall() -> None:
    watch = SuccessWatch(["phone", "pages"])
    assert not mixed(watch, (100, "phone", True), (300, "pages", False), (20, "phone", True))
    assert not mixed(watch, (300, "a stranger's", False))
    everything = SuccessWatch()  # as it would be, were all episodes of one
    assert mixed(everything, (100, "", True), (300, "", False))


def test_a_policy_that_unlearns_in_all_of_them_is_said_to() -> None:
    watch = SuccessWatch(["phone", "pages"])
    good, bad = ((100, name, True) for name in ("phone", "pages")), (100, "phone", False)
    [sentence] = mixed(watch, *good, bad, (100, "pages", False))
    assert f"of {2 * EPISODES} episodes" in sentence
