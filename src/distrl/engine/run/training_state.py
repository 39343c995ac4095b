"""What a run must have back after a restart: the learner's state, and a little of the engine's.

One checkpoint holds both, so that they always fit together: how far the learner had read in the
trajectory store, how long it had trained, and what each collector would have played next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.errors import CorruptCheckpoint
from distrl.learning.learner import Learner
from distrl.records import Trajectory


class TrainingState:
    """Implements what `CheckpointFolder` saves and restores."""

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
        """Become what was saved; returns the ids of trajectories that `find` no longer has."""
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
