"""Batches made ready during the step before: drawn by priority, counted when trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tests.learning.small_circle import SmallCircle, a_ride

from distrl.learning.algorithms.algorithm import UpdateReport
from distrl.learning.batch import Batch
from distrl.learning.batch_prefetcher import BatchPrefetcher
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner_report import LearnerReport, Waiting
from distrl.records import Observation
from distrl.replay.buffer.pacing import Pacing

UNMOVED = {"learning_rate": 1e-12, "critic_learning_rate": 1e-12}
MOST = 50.0  # chi-square with 19 degrees of freedom is above it once in 8,000 times


class Recorded:
    """A-RIDE that keeps the ids of what it was trained on."""

    def __init__(self, step: GradientStep) -> None:
        self._algorithm = a_ride(step)
        self.discount = self._algorithm.discount
        self.draws = self._algorithm.draws
        self.trained: list[list[str]] = []

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport:
        self.trained.append([each.id for each in batch.trajectories])
        return self._algorithm.update(batch, policy_moves=policy_moves)


def trained_by(circle: SmallCircle) -> list[list[str]]:
    algorithm: Any = circle.learner.algorithm
    trained: list[list[str]] = algorithm.trained
    return trained


def circle_of(prefetcher: BatchPrefetcher, **settings: Any) -> SmallCircle:
    make: Any = Recorded
    return SmallCircle(make=make, prefetcher=prefetcher, **settings)


def test_trajectories_are_trained_on_as_often_as_their_priorities_say() -> None:
    circle = circle_of(
        BatchPrefetcher(), batch_trajectories=64, refresh_trajectories=20, mode="offline", **UNMOVED
    )
    ids = [each.id for each in circle.collect("all", 20)]
    circle.learner.preload(circle.kept.values())
    for _ in range(62):
        circle.learner.step()
    saved = circle.learner.replay.state_dict()
    shares = np.asarray(saved["priorities"]) ** circle.learner.replay.settings.alpha
    shares /= shares.sum()
    late = trained_by(circle)[2:]  # those before were drawn when nothing was known
    counts = Counter(each for batch in late for each in batch)
    counted = np.array([counts[each] for each in ids])
    expected = shares * counted.sum()
    assert ((counted - expected) ** 2 / expected).sum() < MOST
    uniform = counted.mean()
    assert ((counted - uniform) ** 2 / uniform).sum() > 2 * MOST  # priorities do matter here


def test_priorities_come_one_step_late_and_no_later() -> None:
    prefetcher = BatchPrefetcher()
    circle = circle_of(prefetcher, batch_trajectories=8, refresh_trajectories=20)
    circle.collect("all", 20)
    circle.learner.step()
    first = prefetcher.take()  # drawn before the update
    assert first is not None
    assert {draw.priority for draw in first.draws} == {1.0}  # newcomers'
    circle.learner.step()
    second = prefetcher.take()
    assert second is not None
    assert 1.0 not in {draw.priority for draw in second.draws}


def test_what_was_made_ready_is_trained_on_next_and_counts_only_then() -> None:
    prefetcher = BatchPrefetcher()
    circle = circle_of(
        prefetcher, pacing=Pacing(samples_per_insert=1.0, minimum_fill=8, tolerance=8.5)
    )
    learner, size = circle.learner, circle.learner.settings.batch_trajectories
    circle.collect("all", 24)
    assert isinstance(learner.step(), LearnerReport)
    saved = learner.state_dict()
    assert learner.pacing.sampled == size
    assert int(np.sum(saved["replay"]["times_drawn"])) == size
    assert isinstance(learner.step(), Waiting)  # a batch that is ready pays for nothing
    ready = prefetcher._next
    assert ready is not None
    wanted = [draw.trajectory.id for draw in ready.result().draws]
    circle.collect("more", 24)
    assert isinstance(learner.step(), LearnerReport)
    assert trained_by(circle)[-1] == wanted
    assert learner.pacing.sampled == 2 * size
    assert int(np.sum(learner.state_dict()["replay"]["times_drawn"])) == 2 * size


def test_a_resumed_learner_draws_from_what_it_has_and_not_what_it_had_ready() -> None:
    before, after = circle_of(BatchPrefetcher()), circle_of(BatchPrefetcher())
    before.collect("all", 24)
    before.learner.step()
    after.collect("others", 24)
    after.learner.step()
    after.learner.load_state(before.learner.state_dict(), before.kept.get)
    after.learner.step()
    assert set(trained_by(after)[-1]) <= set(before.kept)


def test_the_policy_prepares_all_that_a_step_will_look_at() -> None:
    prepared: list[int] = []

    def prepare(observations: Sequence[Observation]) -> None:
        prepared.append(len(observations))

    prefetcher = BatchPrefetcher(prepare)
    circle = circle_of(prefetcher)
    circle.collect("all", 24)
    circle.learner.step()
    ready = prefetcher.take()
    assert ready is not None
    cut_off = int(ready.batch.bootstrap.sum())
    assert prepared == [len(ready.batch.turns) + cut_off]


def test_what_fails_in_the_thread_is_raised_by_the_step() -> None:
    def fail(observations: Sequence[Observation]) -> None:
        raise ZeroDivisionError(f"for {len(observations)}")

    circle = circle_of(BatchPrefetcher(fail))
    circle.collect("all", 24)
    circle.learner.step()
    with pytest.raises(ZeroDivisionError):
        circle.learner.step()


def test_a_batch_that_there_is_no_memory_to_prepare_is_trained_on_as_it_is() -> None:
    seen: list[int] = []

    def fail(observations: Sequence[Observation]) -> None:
        seen.append(prefetcher.preparations)
        raise torch.cuda.OutOfMemoryError(f"for {len(observations)}")

    prefetcher = BatchPrefetcher(fail)
    circle = circle_of(prefetcher)
    circle.collect("all", 24)
    circle.learner.step()
    assert isinstance(circle.learner.step(), LearnerReport)
    prefetcher.take()
    assert (seen, prefetcher.preparations) == ([1, 3], 4)  # odd while it prepares
