"""The simulated learner: drain, admit, sample, update, publish, with the real pacing and limits.

`Pacing`, `StalenessLimit` and `versions_to_come` are those of the real learner; only the work is
replaced by its duration. Trajectories beyond `max_waiting` are acknowledged late, which holds
collectors back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from distrl.planning.draw_pool import of_seconds
from distrl.planning.event_queue import EventQueue, Level
from distrl.planning.plan_settings import LearnerPlan
from distrl.replay.buffer.pacing import PacingSettings
from distrl.weights.staleness import staleness, versions_to_come

BROKEN = -1  # the weight version of a trajectory that cannot be learned from


class PlannedLearner:
    """Inserts trajectories and publishes versions; without GPUs it only inserts."""

    def __init__(
        self,
        plan: LearnerPlan,
        pacing: PacingSettings,
        events: EventQueue,
        publish: Callable[[int], None],
        changed: Callable[[], None],  # called when more episodes may start
        seed: int,
    ) -> None:
        self.version = 0
        self.updates = 0
        self.stale = 0  # arrived too late to be learned from
        self.staleness: list[int] = []  # of all that arrived, in order
        self.learned_staleness: list[float] = []  # the mean of each batch that was drawn
        self.pacing = pacing.new(plan.batch_trajectories)
        self.busy = Level(events)
        self.waiting = Level(events)  # trajectories
        self._plan = plan
        self._events = events
        self._publish = publish
        self._changed = changed
        self._update = of_seconds(plan.update, "update", seed)
        self._rng = np.random.default_rng([seed, 17])
        self._arrivals: deque[int] = deque()  # weight versions
        self._held: deque[tuple[Callable[[int], None], int]] = deque()
        self._replay = np.zeros(plan.capacity, dtype=np.int64)
        self._stored = 0

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        """Answer as `Learner.may_start`, behind all that is in flight or waits here."""
        if not self._plan.gpus:
            return True
        due, per_insert = self.pacing.expected_draws()
        to_come = versions_to_come(
            in_flight + len(self._arrivals),
            draws_due=due,
            draws_per_insert=per_insert,
            draws_per_version=self._plan.draws_per_version,
            draws_since_version=self._updates_since_version * self._plan.batch_trajectories,
        )
        return self._plan.staleness.may_start(self.version, weight_version, to_come)

    def arrive(self, weight_version: int, acknowledge: Callable[[int], None], phone: int) -> None:
        if weight_version != BROKEN:
            self.staleness.append(staleness(self.version, weight_version))
        if not self._plan.gpus:
            acknowledge(phone)
            return
        self._arrivals.append(weight_version)
        self.waiting.add(1)
        self._held.append((acknowledge, phone))
        self._release()
        if not self.busy.value:
            self._step()

    def _release(self) -> None:
        while self._held and len(self._arrivals) < self._plan.max_waiting:
            acknowledge, phone = self._held.popleft()
            acknowledge(phone)

    def _step(self) -> None:
        taken = self._drain()
        if taken:
            self._changed()
        if self.pacing.may_sample(self._plan.batch_trajectories):
            self._sample()
            seconds = self._plan.update_share * self._update.draw()
            self.busy.add(1)
            self._events.after(seconds + taken * self._plan.insert_seconds, self._updated)
        self._release()

    def _drain(self) -> int:
        taken = 0
        while self._arrivals and self.pacing.may_insert():
            self._admit(self._arrivals.popleft())
            self.waiting.add(-1)
            taken += 1
        return taken

    def _admit(self, weight_version: int) -> None:
        if weight_version == BROKEN:
            return
        if not self._plan.staleness.admits(self.version, weight_version):
            self.stale += 1
            return
        self._replay[self._stored % self._plan.capacity] = weight_version
        self._stored += 1
        self.pacing.on_insert()

    def _sample(self) -> None:
        self.pacing.on_sample(self._plan.batch_trajectories)
        held = min(self._stored, self._plan.capacity)
        drawn = self._replay[self._rng.integers(held, size=self._plan.batch_trajectories)]
        self.learned_staleness.append(float(np.maximum(0, self.version - drawn).mean()))

    def _updated(self) -> None:
        self.busy.add(-1)
        self.updates += 1
        if self.updates > self._plan.warm_up_updates and not self._updates_since_version:
            self.version += 1
            self._publish(self.version)
        self._changed()
        self._step()

    @property
    def _updates_since_version(self) -> int:
        moved = self.updates - self._plan.warm_up_updates
        return min(moved, 0) or moved % self._plan.updates_per_publish
