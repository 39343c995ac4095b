"""A policy that unlearns is said to, once; bad luck and slow decline are not."""

from __future__ import annotations

import random

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


def test_chance_is_no_fall() -> None:
    for number in range(20):
        assert not said(SuccessWatch(), (5_000, 0.5), seed=f"even {number}")
        assert not said(SuccessWatch(), (5_000, 0.1), seed=f"poor {number}")


def test_neither_are_harder_tasks_nor_a_beginning() -> None:
    assert not said(SuccessWatch(), (300, 0.9), (300, 0.6))
    assert not said(SuccessWatch(), (EPISODES - 1, 1.0))
