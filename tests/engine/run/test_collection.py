"""What collectors are told about the pace is what the learner itself would say."""

from __future__ import annotations

import pytest
from tests.learning.small_circle import SmallCircle

from distrl.engine.run.collection import MAX_IN_FLIGHT, pace_of
from distrl.replay.buffer.pacing import Pacing
from distrl.weights.staleness import StalenessLimit


@pytest.mark.parametrize("at_start", [0, 3, 8])
def test_the_pace_says_what_the_learner_says(at_start: int) -> None:
    circle = SmallCircle(
        pacing=Pacing(samples_per_insert=4.0, minimum_fill=8),
        batch_trajectories=4,
        updates_per_publish=2,
        staleness=StalenessLimit(at_start=at_start, at_arrival=None if at_start == 0 else 32),
    )
    answers = set()
    for number in range(12):
        circle.collect(number)
        circle.learner.step()
        learner, pace = circle.learner, pace_of(circle.learner)
        for version in range(learner.version - 10, learner.version + 2):
            for in_flight in range(90):
                said = learner.may_start(version, in_flight)
                assert pace.may_start(version, in_flight) == said, (number, version, in_flight)
                answers.add(said)
    assert answers == {True, False}


def test_without_a_limit_everybody_may_start_but_not_while_the_corpus_is_learned() -> None:
    free = StalenessLimit(at_start=None, at_arrival=None)
    online = SmallCircle(staleness=free)
    assert pace_of(online.learner).may_start(-100, MAX_IN_FLIGHT)
    offline = SmallCircle(staleness=free, mode="offline")
    assert not pace_of(offline.learner).may_start(0, 0)
    assert not pace_of(SmallCircle(mode="offline").learner).may_start(0, 0)
