"""Every algorithm in every mode: the same learner, and only where its data comes from differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from benchmarks.small_world import old_policy
from tests.learning.small_circle import SmallCircle, a_ride

from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.digirl import Digirl
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.algorithms.grpo import Grpo
from distrl.learning.algorithms.ppo import Ppo
from distrl.learning.algorithms.vtrace import VTraceActorCritic
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner_report import LearnerReport
from distrl.replay.buffer.pacing import Pacing

ALGORITHMS: dict[str, Callable[[GradientStep], Algorithm]] = {
    "a_ride": a_ride,
    "vtrace": VTraceActorCritic,
    "ppo": Ppo,
    "grpo": Grpo,
    "digirl": Digirl,
    "filtered_bc": FilteredBc,
}
UPDATES, OFFLINE_UPDATES, CORPUS = 8, 4, 120


def learned(circle: SmallCircle) -> list[LearnerReport]:
    """Four episodes arrive before each step, whether anybody looks at them or not."""
    reports = [each for each in circle.rounds(0, UPDATES) if isinstance(each, LearnerReport)]
    assert reports
    assert all(torch.isfinite(part).all() for part in circle.policy.weights().values())
    return reports


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("mode", ["online", "offline", "offline_to_online"])
def test_it_learns(name: str, mode: str) -> None:
    offline = {"online": 0, "offline": UPDATES, "offline_to_online": OFFLINE_UPDATES}[mode]
    circle = SmallCircle(
        make=ALGORITHMS[name],
        mode=mode,
        offline_updates=offline if mode == "offline_to_online" else 0,
        pacing=Pacing(samples_per_insert=8.0, minimum_fill=4),
    )
    corpus = circle.world.episodes(old_policy(), CORPUS, "corpus") if offline else []
    circle.learner.preload(corpus)
    before = circle.policy.weights()
    reports = learned(circle)
    after = circle.policy.weights()
    assert len(reports) == UPDATES
    assert not torch.equal(after["values"], before["values"])
    if offline:  # in which there are successes to learn from
        assert not torch.equal(after["logits"], before["logits"])
    inserted = circle.learner.pacing.inserted
    assert inserted == (0 if mode == "offline" else 4 * UPDATES)
    held = [report.learner_status.replay["trajectories"] for report in reports]
    assert held[:offline] == [len(corpus)] * offline  # nothing came in meanwhile
    assert held[-1] == len(corpus) + inserted


def test_groups_learn_where_tasks_are_many() -> None:
    """Of a task in twenty a plain batch holds one attempt, and attempts that stand alone teach
    nothing; drawn together they do.
    """
    shares = {}
    for together in (1, 4):
        circle = SmallCircle(make=Grpo, mode="offline", attempts_together=together)
        episodes = circle.world.episodes(old_policy(), 400, "corpus")
        circle.learner.preload(
            replace(each, task=replace(each.task, id=f"{each.task.id}/{number % 100}"))
            for number, each in enumerate(episodes)
        )
        reports = [circle.learner.step() for _ in range(8)]
        shares[together] = sum(
            report.algorithm["teaching_share"]
            for report in reports
            if isinstance(report, LearnerReport)
        )
    assert shares[4] > 3 * shares[1]
