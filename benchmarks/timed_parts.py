"""Parts of `real_run` that take simulated time, and the channels between collectors and learner.

A table decides and an algorithm learns, both as slowly as the plan says; the channels connect
collectors and learner within one process, in both directions.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.tabular_policy import TabularPolicy
from distrl.learning.algorithms.algorithm import Algorithm, DrawRule, UpdateReport
from distrl.learning.batch import Batch
from distrl.learning.learner import Learner
from distrl.planning.draw_pool import of_lengths
from distrl.planning.plan_settings import EpisodePlan, PlanSettings
from distrl.planning.planned_batcher import batch_seconds
from distrl.records import Action, Decision, Done, Observation, Screen, Tap, Trajectory
from distrl.weights.staleness import staleness
from phonesim.clock import ScaledClock

if TYPE_CHECKING:
    from torch import Tensor

CORNER = 8  # pixels
SHAPE = EpisodePlan()  # shape of the episodes that the timed policy plays


class TimedPolicy:
    """A table policy; each batch takes as long as the plan says."""

    def __init__(self, settings: PlanSettings, speed: float) -> None:
        self.table = new_table()
        self._seconds = batch_seconds(settings.policy)
        self._clock = ScaledClock(speed)
        self._lengths = of_lengths(SHAPE, 0).values

    @property
    def weight_version(self) -> int:
        return self.table.weight_version

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        self.table.load_weights(weights, version)

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        begun = self._clock.now
        decisions = self.table.decide(observations)
        decided = [
            replace(decision, action=self._action(seen))
            for decision, seen in zip(decisions, observations, strict=True)
        ]
        left = begun + self._seconds[len(observations)] - self._clock.now
        if left > 0.0:
            self._clock.sleep(left)
        return decided

    def _action(self, seen: Observation) -> Action:
        """Tap pseudo-random places; end after a number of steps that the instruction determines."""
        step, rng = len(seen.past_actions), random.Random(f"length/{seen.instruction}")
        if step + 1 >= self._lengths[rng.randrange(len(self._lengths))]:
            return Done()
        where = random.Random(f"tap/{seen.instruction}/{step}")
        return Tap(where.random(), 0.1 + 0.8 * where.random())


def new_table() -> TabularPolicy:
    return TabularPolicy(256, 2, {(0,): Tap(0.5, 0.5), (1,): Done()}, tokens_per_answer=1)


class TimedAlgorithm:
    """Implements `Algorithm` by another one; a step takes as long as the plan says.

    The learner's work around the update is included in that time: here, accepting trajectories
    takes time of this process, which on a machine of the learner's own it would not.
    """

    def __init__(self, algorithm: Algorithm, settings: PlanSettings, clock: ScaledClock) -> None:
        self._algorithm = algorithm
        self._seconds = settings.learner.update
        self._share = settings.learner.update_share
        self._clock = clock
        self._rng = random.Random("real_run/update")
        self._begun = clock.now

    def begin_step(self) -> None:
        self._begun = self._clock.now

    @property
    def discount(self) -> float:
        return self._algorithm.discount

    @property
    def draws(self) -> DrawRule:
        return self._algorithm.draws

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport:
        report = self._algorithm.update(batch, policy_moves=policy_moves)
        left = self._begun + self._share * self._seconds.draw(self._rng) - self._clock.now
        if left > 0.0:
            self._clock.sleep(left)
        return report


class Arrivals:
    """The queue from the collectors to the learner. Implements `TrajectorySink` and its arrivals.

    `put` blocks while too many trajectories wait, as the engine's receiver does.
    """

    def __init__(self, clock: ScaledClock, max_waiting: int) -> None:
        self.trajectories: list[Arrival] = []
        self.version = 0  # the learner's weight version
        self._clock = clock
        self._most = max_waiting
        self._waiting: deque[Trajectory] = deque()
        self._changed = threading.Condition()
        self.over = False

    def put(self, trajectory: Trajectory) -> bool:
        with self._changed:
            behind = staleness(self.version, trajectory.weight_version)
            self.trajectories.append(Arrival(self._clock.now, behind, trajectory))
            self._waiting.append(_light(trajectory))
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.over or len(self._waiting) < self._most)
        return True

    def __len__(self) -> int:
        return len(self._waiting)

    def popleft(self) -> Trajectory:
        with self._changed:
            self._changed.notify_all()
            return self._waiting.popleft()

    def wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self.over, seconds)

    def end(self) -> None:
        with self._changed:
            self.over = True
            self._changed.notify_all()


def _light(trajectory: Trajectory) -> Trajectory:
    """Keep a corner of each screen, which is all that the table reads.

    Compressing whole screens for the replay would be work of the learner's machine, not of this
    one.
    """
    corners = tuple(Screen(each.pixels[:CORNER, :CORNER].copy()) for each in trajectory.screens)
    return replace(trajectory, screens=corners)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A trajectory, with the time of its arrival on the devices' clock and its staleness."""

    at: float
    staleness: int
    trajectory: Trajectory


class Newest:
    """The last published weights. Implements `Publisher` and `WeightSource`."""

    def __init__(self) -> None:
        self._newest: tuple[Mapping[str, Tensor], int] | None = None

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._newest = weights, version

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        newest = self._newest
        return newest if newest is not None and newest[1] > version else None


class SharedAdmission:
    """Implements `Admission`: asks the learner, counting all collectors' episodes in flight."""

    def __init__(
        self, number: int, learner: Learner | None, arrivals: Arrivals, in_flight: list[int]
    ) -> None:
        self._number = number
        self._learner = learner
        self._arrivals = arrivals
        self._in_flight = in_flight

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        self._in_flight[self._number] = in_flight
        ahead = sum(self._in_flight) + len(self._arrivals)
        return self._learner is None or self._learner.may_start(weight_version, ahead)
