"""Measures the policy on tasks of `evaluation.split`: before, during and after training.

Evaluations are played in lockstep, on separate simulated devices (if training is on web pages: on
separate pages), and successes are counted by task and template. A run with several environments
plays the same number of tasks in each, one environment after the other. All stages of all runs play
the same tasks, so that two of them can be compared task by task. Evaluations before and during
training run beside it (`EvaluationLane`: a process of its own, or a Ray actor) with the weights of
one version, and training goes on. After training, and in one-process mode, they run in the
learner's process. `EvaluationStore` keeps the results, and recordings of some episodes with the
learner's estimates.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Protocol

from distrl.agent.policy import Policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.environment import play_environment
from distrl.engine.run.stop_request import StopRequest
from distrl.episodes.evaluation import evaluation_tasks, play
from distrl.episodes.outcome import PairedGain, SuccessRate, paired_gain
from distrl.json_lines import LineLog, read_lines
from distrl.learning.algorithms.algorithm import update_report
from distrl.learning.batch import batch_of
from distrl.learning.learner import Learner
from distrl.records import TEST_OF, Task, Trajectory, tasks_split
from distrl.replay.buffer.entries import flaw
from distrl.replay.trajectory_encoding import decode_trajectory
from distrl.reporting.recording_archive import Opinions, RecordingArchive
from distrl.runs.run_records import (
    EnvironmentSuccess,
    EvaluationLine,
    Stage,
    TemplateCount,
    environment_key,
)
from distrl.watched_threads import WatchedThreads
from phonesim.simulated_device import SimulatedDevice

if TYPE_CHECKING:
    from torch import Tensor

DEVICES = 16  # played at once
DEVICES_ON_GPU = 64  # a GPU decides for many nearly as fast as for a few
SEED = 0  # the same test tasks for every run, so that runs can be compared


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """What is to be measured: so many episodes with the weights of one version."""

    stage: Stage
    episodes: int  # in each environment
    updates: int  # that the learner had made by then
    version: int
    seconds: float  # of the run, when it was requested


class RunningEvaluation:
    """An evaluation that is played elsewhere while training goes on.

    `encoded` yields its trajectories as they come, and raises `EvaluationLost` if it breaks off.
    `end` stops whatever plays it, and may be called more than once.
    """

    def __init__(
        self, request: EvaluationRequest, encoded: Iterator[bytes], end: Callable[[], None]
    ) -> None:
        self.request = request
        self.trajectories: list[Trajectory] = []  # so far
        self.cancel = end
        self._encoded = encoded
        self._reader = WatchedThreads("evaluation", self._read, lambda: None)
        self._reader.start()

    def finished(self, seconds: float = 0.0) -> bool:
        """Wait up to `seconds`; return whether it ended. Raise `EvaluationLost` if it broke off."""
        if not self._reader.join(seconds):
            return False
        self.cancel()
        self._reader.raise_failure()
        return True

    def _read(self) -> None:
        for each in self._encoded:
            self.trajectories.append(decode_trajectory(each))


class EvaluationLane(Protocol):
    """Where evaluations are played beside training, one at a time."""

    def start(
        self, request: EvaluationRequest, weights: Mapping[str, Tensor] | None
    ) -> RunningEvaluation:
        """Begin an evaluation; `weights` None: those that the run began with."""
        ...


@dataclass(slots=True)
class Evaluator:
    """Evaluates one policy whenever asked."""

    config: TrainingConfig
    policy: VlmPolicy
    stop: StopRequest

    def play(self, request: EvaluationRequest) -> Iterator[Trajectory]:
        """Yield every trajectory as it ends. The policy must hold the weights to be measured.

        Raise `StopRequested` on a stop request.
        """
        before = self.policy.sampling
        self.policy.seed(f"{SEED}/{request.stage}/{request.updates}")
        self.policy.sampling = dataclasses.replace(before, greedy=self.config.evaluation.greedy)
        try:
            for config in self.config.measured().values():
                here = dataclasses.replace(self, config=config)
                with closing(here._trajectories(request.episodes)) as trajectories:
                    for trajectory in trajectories:
                        yield _played_in(config.environment, trajectory)
                        self.stop.check()
        finally:
            self.policy.sampling = before

    def _trajectories(self, episodes: int) -> Generator[Trajectory]:
        """Play on web pages if training does, else on simulated phones."""

        def policy_for(*_: object) -> Policy:
            return self.policy

        if self.config.devices.kind == "browser":
            split = self.config.evaluation.split
            yield from play_environment(self.config, policy_for, episodes, SEED, split)
            return
        at_once = DEVICES if self.policy.device.type == "cpu" else DEVICES_ON_GPU
        devices = [
            SimulatedDevice(
                f"test-phone-{n}",
                self.config.devices.phone_drift,
                display=self.config.devices.display,
            )
            for n in range(min(at_once, episodes))
        ]
        stops = self.config.collection.stop_on_success
        yield from play(self.tasks(episodes), policy_for, devices, stop_on_success=stops)

    def tasks(self, episodes: int) -> list[Task]:
        """Return test tasks of the trained templates; of whole families if the split has none."""
        settings, split = self.config.tasks, self.config.evaluation.split
        trained = tasks_split(split) in (settings.split, TEST_OF.get(settings.split))
        only = settings.template_names if trained else ()
        found = evaluation_tasks(split, settings.families, only, SEED)
        return list(islice(found, episodes))


@dataclass(slots=True)
class EvaluationStore:
    """Stores evaluations, and `recordings` episodes: half from before training, half from after.

    `keep` writes the evaluation last: once its line is there, the stage is not measured again.
    """

    evaluations: LineLog
    archive: RecordingArchive
    learner: Learner
    recordings: int

    def measured(self, stage: Stage) -> EvaluationLine | None:
        """The last evaluation of that stage; None if there was none."""
        lines = read_lines(self.evaluations.path, EvaluationLine)
        return next((line for line in reversed(lines) if line.stage == stage), None)

    def gain(self) -> PairedGain:
        """Return the gain from before to after training, on the tasks that both played."""
        before, after = self.measured("before"), self.measured("after")
        return paired_gain(before.successes if before else {}, after.successes if after else {})

    def by_environment(self) -> dict[str, EnvironmentSuccess]:
        """Return success before and after training by environment; empty if the run has one."""
        before, after = self.measured("before"), self.measured("after")
        names = [name for line in (before, after) if line for name in line.environments]
        found = {}
        for name in dict.fromkeys(names):
            first, last = (line.in_environment(name) if line else None for line in (before, after))
            found[name] = EnvironmentSuccess(
                before=first.rate if first else SuccessRate(0, 0),
                after=last.rate if last else SuccessRate(0, 0),
                gain=paired_gain(first.successes if first else {}, last.successes if last else {}),
            )
        return found

    def keep(self, line: EvaluationLine, trajectories: Sequence[Trajectory]) -> None:
        """Write the evaluation and some recordings of it."""
        if line.stage != "during":
            for each in _some_of_each(trajectories, self.recordings // 2):
                opinions = self._opinions(each)
                self.archive.add(each, line.stage, updates=line.updates, opinions=opinions)
        self.evaluations.append(line)

    def _opinions(self, trajectory: Trajectory) -> Opinions | None:
        """Return the learner's value, ratio and one-step advantage by step; None: not learnable."""
        if flaw(trajectory) is not None:
            return None
        batch = batch_of([trajectory], self.learner.settings.rewards)
        current = self.learner.score_batch(batch)
        found = update_report(
            batch, current, 0.0 * batch.rewards, {}, {}, discount=self.learner.algorithm.discount
        )
        return Opinions(
            values=found.values[0].tolist(),
            ratios=found.ratios[0].tolist(),
            advantages=found.td_errors[0].tolist(),
        )


def evaluation_line(
    request: EvaluationRequest, split: str, trajectories: Sequence[Trajectory]
) -> EvaluationLine:
    """Count the successes of an evaluation."""
    judged = [each for each in trajectories if each.ending.judged]
    tried = Counter((each.environment, each.task.template) for each in judged)
    done = Counter((each.environment, each.task.template) for each in judged if each.success)
    return EvaluationLine(
        stage=request.stage,
        split=split,
        updates=request.updates,
        weight_version=request.version,
        seconds=request.seconds,
        templates=tuple(
            TemplateCount(template, done[where, template], tried[where, template], where)
            for name in dict.fromkeys(each.environment for each in judged)
            for where, template in sorted(tried)
            if where == name
        ),
        successes={
            environment_key(each.environment, each.task.id): each.success for each in judged
        },
    )


def _played_in(environment: str, trajectory: Trajectory) -> Trajectory:
    """Add the environment to the id: several environments may play the same task."""
    if not environment:
        return trajectory
    name = environment_key(environment, trajectory.id)
    return dataclasses.replace(trajectory, id=name, environment=environment)


def _some_of_each(trajectories: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """Choose `count` trajectories, equally many of each environment."""
    groups: dict[str, list[Trajectory]] = {}
    for each in trajectories:
        groups.setdefault(each.environment, []).append(each)
    chosen = (_some(group, count) for group in groups.values())
    in_turn = [each for row in zip_longest(*chosen) for each in row if each is not None]
    return in_turn[:count]


def _some(trajectories: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """Choose `count`: successes and failures alternating, different templates first."""
    judged = [each for each in trajectories if each.ending.judged]
    one_of_each = {each.task.template: each for each in reversed(judged)}
    order = {id(each): each for each in (*one_of_each.values(), *judged)}.values()
    good = [each for each in order if each.success]
    bad = [each for each in order if not each.success]
    in_turn = [each for pair in zip_longest(good, bad) for each in pair if each is not None]
    return in_turn[:count]
