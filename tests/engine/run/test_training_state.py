"""A checkpoint of a run: the learner's state and the engine's, restored together."""

from __future__ import annotations

import pytest
from tests.learning.small_circle import SmallCircle

from distrl.engine.ingest.trajectory_receiver import ArrivalQueue
from distrl.engine.run.training_state import TrainingState
from distrl.errors import CorruptCheckpoint


def trained() -> tuple[SmallCircle, TrainingState]:
    circle = SmallCircle()
    circle.rounds(0, 8)
    state = TrainingState(circle.learner, ArrivalQueue())
    state.seconds, state.collectors = 12.5, {0: '{"next": 3}', 4: "{}"}
    return circle, state


def test_what_was_saved_is_restored() -> None:
    circle, state = trained()
    assert state.updates > 0
    fresh = TrainingState(SmallCircle().learner, ArrivalQueue())
    lost = fresh.load_state(state.state_dict(), circle.kept.get)
    assert lost == ()
    assert (fresh.updates, fresh.seconds) == (state.updates, 12.5)
    assert fresh.collectors == {0: '{"next": 3}', 4: "{}"}
    assert fresh.arrivals.taken == state.arrivals.taken


def test_trajectories_that_are_gone_are_named() -> None:
    _, state = trained()
    fresh = TrainingState(SmallCircle().learner, ArrivalQueue())
    assert fresh.load_state(state.state_dict(), lambda name: None)


@pytest.mark.parametrize("missing", ["learner", "engine"])
def test_a_state_of_something_else_is_refused(missing: str) -> None:
    circle, state = trained()
    saved = state.state_dict()
    del saved[missing]
    with pytest.raises(CorruptCheckpoint, match="no checkpoint of a training run"):
        state.load_state(saved, circle.kept.get)


def test_a_damaged_state_of_the_engine_is_refused() -> None:
    circle, state = trained()
    saved = state.state_dict()
    saved["engine"]["collectors"] = "not JSON"
    with pytest.raises(CorruptCheckpoint, match="another version of DistRL"):
        state.load_state(saved, circle.kept.get)
