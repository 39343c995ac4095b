"""Synchronous and asynchronous training of the same parts in simulated time.

    synchronous     every phone plays one episode; when the last has ended the learner takes all of
                    them and trains; when it has ended, the next round (DigiRL on many machines)
    asynchronous    each phone begins its next episode at once, with the newest weights, if the
                    learner's limit on staleness lets it; the learner takes what is there and trains

Collector, batcher, scheduler, admission, learner, replay, pacing and algorithm are the product's
own, and the learning is real. Only time is simulated: an episode takes what its phone's clock says,
and a step of the learner `STEP_SECONDS`. A phone plays its whole episode with the weights that it
began with, so the episode is computed at its start and delivered at its end; the weights of a step
are published at the step's end. So a run is deterministic, and does not depend on the machine or
its load.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from benchmarks.errand_network import ErrandNetwork
from benchmarks.errand_phone import (
    ErrandJudge,
    ErrandPhone,
    ErrandPolicy,
    ErrandTasks,
)
from benchmarks.errand_success import success_rate
from distrl.episodes.collector import POLL_SECONDS, Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, WeightUpdater
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.digirl import Digirl, DigirlSettings
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import Waiting
from distrl.learning.learner_settings import LearnerSettings
from distrl.planning.event_queue import EventQueue
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.weights.staleness import staleness
from phonesim.latency import LEARNER_UPDATE

AlgorithmName = Literal["a_ride", "digirl"]
Arrangement = Literal["async", "sync"]
Form = Literal["signed", "filtered", "half", "all"]
FORMS: dict[AlgorithmName, tuple[Form, Form]] = {
    "a_ride": ("signed", "filtered"),  # signed advantages, or weight 1 for those above 0
    "digirl": ("half", "all"),  # share of a batch's trajectories that its curriculum lets through
}

DEVICES = 32
BATCH = 16  # trajectories
STEPS_PER_UPDATE = 20  # of the optimiser, in what the paper calls an update
STEP_SECONDS = LEARNER_UPDATE.median / STEPS_PER_UPDATE
SAMPLES_PER_INSERT = STEPS_PER_UPDATE * BATCH / DEVICES  # so a round pays for one update
UPDATES_PER_PUBLISH = 4
CAPACITY = 256
CRITIC_RATE = 0.03  # this and the next two: tried by hand, see `time_to_success`
TRACE = 0.5  # λ of A-RIDE
DECAY = 0.75  # λ of DigiRL
MAX_EVENTS = 10**9


@dataclass(frozen=True, slots=True)
class Arm:
    """An algorithm in an arrangement, with its settings."""

    algorithm: AlgorithmName
    arrangement: Arrangement
    form: Form
    learning_rate: float
    stations: bool = False

    @property
    def name(self) -> str:
        return f"{self.algorithm}_{self.arrangement}"


@dataclass(frozen=True, slots=True)
class Look:
    """One evaluation of the published weights."""

    seconds: float  # of the devices' clock
    trajectories: int  # that had arrived
    success: float  # on held-out errands


@dataclass(slots=True)
class Race:
    """The result of a run."""

    looks: list[Look] = field(default_factory=list)
    updates: int = 0
    staleness: list[int] = field(default_factory=list)  # of each arrival
    device_seconds: float = 0.0  # seconds that phones were at work, all together
    seconds: float = 0.0

    def first(self, target: float, in_a_row: int = 3) -> Look | None:
        """Return the first look of `in_a_row` consecutive looks that reach the target, or None."""
        for start in range(len(self.looks) - in_a_row + 1):
            if all(look.success >= target for look in self.looks[start : start + in_a_row]):
                return self.looks[start]
        return None


class Outgoing:
    """Publishes weights at the end of a step. Implements `Publisher` and `WeightSource`."""

    def __init__(self) -> None:
        self._next: tuple[Mapping[str, Tensor], int] | None = None
        self._newest: tuple[Mapping[str, Tensor], int] | None = None

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._next = weights, version

    def send(self) -> bool:
        """At the end of a step, publish its weights; return whether there were any."""
        fresh, self._next = self._next, None
        self._newest = fresh or self._newest
        return fresh is not None

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        return self._newest if self._newest and self._newest[1] > version else None


class Transit:
    """Implements `TrajectorySink`: discards, since `Course` delivers trajectories at their end."""

    def put(self, trajectory: Trajectory) -> bool:
        return True


class LearnersWord:
    """Implements `Admission`: the learner's own rule, counting all episodes under way."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        course = self._course
        return course.learner.may_start(weight_version, course.in_flight + len(course.arrivals))


class Course:
    """One run of one arm, until its success is reached and stays, or until the limit."""

    def __init__(self, arm: Arm, seed: int, target: float, limit: float) -> None:
        self.arm = arm
        self.race = Race()
        self.arrivals: deque[Trajectory] = deque()
        self._began: dict[str, float] = {}  # start times of the episodes under way
        self._seed = seed
        self._target = target
        self._limit = limit
        self._events = EventQueue()
        self._outgoing = Outgoing()
        self._policy = ErrandNetwork(seed)
        self.learner = self._new_learner()
        self._collectors = [self._new_collector(number) for number in range(DEVICES)]
        self._learning = False

    def run(self) -> Race:
        self._look()
        if self.arm.arrangement == "sync":
            self._rounds()
        else:
            self._side_by_side()
        self.race.updates, self.race.seconds = self.learner.updates, self._events.now
        self.race.device_seconds += sum(self._events.now - at for at in self._began.values())
        return self.race

    @property
    def in_flight(self) -> int:
        return len(self._began)

    @property
    def _over(self) -> bool:
        return self._events.now >= self._limit or self.race.first(self._target) is not None

    # Synchronous --------------------------------------------------------------------------------

    def _rounds(self) -> None:
        while not self._over:
            played = [each for collector in self._collectors for each in collector.collect(1)]
            played.sort(key=lambda each: each.device_seconds)
            self._pass(played[-1].device_seconds)
            for trajectory in played:
                self._arrive(trajectory)
            while not isinstance(self.learner.step(), Waiting) and not self._over:
                self._pass(STEP_SECONDS)
                self._stepped()

    def _pass(self, seconds: float) -> None:
        self._events.run(self._events.now + seconds, MAX_EVENTS)

    # Asynchronous -------------------------------------------------------------------------------

    def _side_by_side(self) -> None:
        for collector in self._collectors:
            self._play(collector)
        while not self._over:
            self._pass(STEP_SECONDS)

    def _play(self, collector: Collector[ErrandPhone]) -> None:
        played = collector.collect(1)
        if not played:
            self._events.after(POLL_SECONDS, self._play, collector)
            return
        self._began[collector.name] = self._events.now
        self._events.after(played[0].device_seconds, self._is_over, collector, played[0])

    def _is_over(self, collector: Collector[ErrandPhone], trajectory: Trajectory) -> None:
        del self._began[collector.name]
        self._arrive(trajectory)
        if not self._learning:
            self._learn()
        self._play(collector)

    def _learn(self) -> None:
        self._learning = not isinstance(self.learner.step(), Waiting)
        if self._learning:
            self._events.after(STEP_SECONDS, self._has_learned)

    def _has_learned(self) -> None:
        self._stepped()
        self._learn()

    # What both have in common -------------------------------------------------------------------

    def _arrive(self, trajectory: Trajectory) -> None:
        self.race.staleness.append(staleness(self.learner.version, trajectory.weight_version))
        self.race.device_seconds += trajectory.device_seconds
        self.arrivals.append(trajectory)

    def _stepped(self) -> None:
        if self._outgoing.send():
            self._look()

    def _look(self) -> None:
        """Record the success of the weights that were just published, which are the learner's."""
        rate = success_rate(self._policy)
        self.race.looks.append(Look(self._events.now, len(self.race.staleness), rate))

    # Its parts ----------------------------------------------------------------------------------

    def _new_learner(self) -> Learner:
        rates = StepSettings(
            learning_rate=self.arm.learning_rate,
            critic_learning_rate=CRITIC_RATE,
            micro_batch_turns=10**6,
            micro_batch_tokens=10**6,
        )
        step = GradientStep(self._policy, rates)
        ours = self.arm.algorithm == "a_ride"  # prioritised draws; DigiRL's are uniform
        waits = self.arm.arrangement == "sync"  # one round at a time; otherwise unbounded
        return Learner(
            self._policy,
            self._new_algorithm(step),
            step,
            ReplayBuffer(ReplaySettings(capacity=CAPACITY, alpha=0.5 if ours else 0.0)),
            Pacing(SAMPLES_PER_INSERT, BATCH, BATCH if waits else math.inf),
            self.arrivals,
            self._outgoing,
            LearnerSettings(
                batch_trajectories=BATCH,
                updates_per_publish=UPDATES_PER_PUBLISH,
                refresh_trajectories=BATCH if ours else 0,
                seed=self._seed,
            ),
        )

    def _new_algorithm(self, step: GradientStep) -> Algorithm:
        match self.arm.form:
            case "signed" | "filtered":
                return ARide(step, ARideSettings(advantage=self.arm.form, retrace_lambda=TRACE))
            case "half" | "all":
                share = 0.5 if self.arm.form == "half" else 1.0
                return Digirl(step, DigirlSettings(decay=DECAY, curriculum_share=share))

    def _new_collector(self, number: int) -> Collector[ErrandPhone]:
        name = f"{self._seed}/{number}"
        policy: ErrandPolicy = ErrandNetwork(1000 * self._seed + number)
        return Collector(
            name,
            PolicyBatcher(policy, updater=WeightUpdater(policy, self._outgoing)),
            DevicePool([ErrandPhone(f"phone-{name}", stations=self.arm.stations)]),
            ErrandTasks(name),
            Transit(),
            ErrandJudge,
            None if self.arm.arrangement == "sync" else LearnersWord(self),
        )
