"""What a checkpoint of a run holds: the learner's state and the engine's, always of one moment.

The engine's: how far the learner had read in the trajectory store, seconds of training, and the
state of each collector (its task source).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from distrl.engine.ingest.trajectory_receiver import ArrivalQueue
from distrl.errors import CorruptCheckpoint
from distrl.learning.learner import Learner
from distrl.records import Trajectory


class TrainingState:
    """Implements what `CheckpointFolder` saves and restores for a training run."""

    def __init__(self, learner: Learner, arrivals: ArrivalQueue) -> None:
        self.learner = learner
        self.arrivals = arrivals
        self.seconds = 0.0  # of training so far
        self.collectors: dict[int, str] = {}  # state (JSON) by number

    @property
    def updates(self) -> int:
        return self.learner.updates

    def state_dict(self) -> dict[str, Any]:
        return {
            "learner": self.learner.state_dict(),
            "engine": {
                "taken": self.arrivals.taken,
                "seconds": self.seconds,
                "collectors": json.dumps(self.collectors),
            },
        }

    def load_state(
        self, state: Mapping[str, Any], find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...]:
        """Restore what was saved; returns the ids of trajectories that `find` does not have."""
        try:
            learner, engine = state["learner"], state["engine"]
            taken = int(engine["taken"])
            seconds = float(engine["seconds"])
            collectors = {int(n): str(s) for n, s in json.loads(engine["collectors"]).items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptCheckpoint(
                f"this is no checkpoint of a training run ({type(error).__name__}: {error}); it is "
                "of something else, or of another version of DistRL"
            ) from error
        lost = self.learner.load_state(learner, find)
        self.arrivals.taken = taken
        self.seconds, self.collectors = seconds, collectors
        return lost
