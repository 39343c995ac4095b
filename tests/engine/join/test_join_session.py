"""When a collector that does not hear its learner may start an episode."""

from __future__ import annotations

from distrl.engine.ingest.messages import Pace
from distrl.engine.join.join_session import (
    FINISH_SECONDS,
    LOST_SECONDS,
    QUIET_SECONDS,
    LinkedAdmission,
)
from distrl.engine.join.learner_client import ANSWER_SECONDS


def test_no_episode_starts_while_the_learner_is_silent() -> None:
    now = 0.0
    admission = LinkedAdmission(lambda: now)
    assert not admission.may_start(0, 0)  # it was told no pace yet
    admission.pace = Pace(version=3, rooms=(2,))
    assert admission.may_start(3, 1)
    assert not admission.may_start(3, 9)
    now = QUIET_SECONDS - 0.1
    assert admission.may_start(3, 1)
    now = QUIET_SECONDS
    assert not admission.may_start(3, 1)
    admission.hear()
    assert admission.may_start(3, 1)


def test_phones_are_left_alone_within_a_minute() -> None:
    """The silence is noticed one heartbeat late, and a heartbeat waits for its answer."""
    assert LOST_SECONDS + ANSWER_SECONDS + FINISH_SECONDS < 60.0
