"""Measures the policy on tasks that training never saw: before, during and after training.

It plays in the learner's process, in lockstep, on simulated devices of its own, and counts the
successes by template. The same stage of the same run plays the same tasks. `EvaluationStore` keeps
the result, and recordings of some episodes with the learner's estimates.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.run.stop_request import StopRequest
from distrl.episodes.evaluation import evaluation_tasks, play
from distrl.episodes.outcome import SuccessRate
from distrl.json_lines import LineLog, read_lines
from distrl.learning.algorithms.algorithm import update_report
from distrl.learning.batch import batch_of
from distrl.learning.learner import Learner
from distrl.records import Task, Trajectory
from distrl.replay.buffer.entries import flaw
from distrl.reporting.recording_archive import Opinions, RecordingArchive
from distrl.runs.run_records import EvaluationLine, Stage, TemplateCount
from phonesim.simulated_device import SimulatedDevice

DEVICES = 16  # played at once
SEED = 0  # the same test tasks for every run, so that runs can be compared


@dataclass(slots=True)
class Evaluator:
    """Evaluates one policy whenever asked."""

    config: TrainingConfig
    policy: VlmPolicy
    stop: StopRequest

    def run(
        self,
        stage: Stage,
        episodes: int,
        *,
        updates: int,
        version: int,
        seconds: float,
        after_each: Callable[[], None] = lambda: None,
    ) -> tuple[EvaluationLine, list[Trajectory]]:
        """The successes, and every trajectory; `after_each` is called after each of them.

        Raises `StopRequested` on a stop request.
        """
        seed = f"{SEED}/{stage}/{updates}"
        trajectories = self._play(episodes, seed, after_each)
        judged = [each for each in trajectories if each.ending.judged]
        tried = Counter(each.task.template for each in judged)
        done = Counter(each.task.template for each in judged if each.success)
        line = EvaluationLine(
            stage=stage,
            split=self.config.evaluation.split,
            updates=updates,
            weight_version=version,
            seconds=seconds,
            templates=tuple(TemplateCount(each, done[each], tried[each]) for each in sorted(tried)),
        )
        return line, trajectories

    def _play(self, episodes: int, seed: str, after_each: Callable[[], None]) -> list[Trajectory]:
        before = self.policy.sampling
        self.policy.seed(seed)
        self.policy.sampling = dataclasses.replace(before, greedy=self.config.evaluation.greedy)
        devices = [
            SimulatedDevice(f"test-phone-{n}", self.config.devices.phone_drift)
            for n in range(min(DEVICES, episodes))
        ]
        trajectories = []
        try:
            for trajectory in play(
                self.tasks(episodes),
                lambda task, device, judge: self.policy,
                devices,
                stop_on_success=self.config.collection.stop_on_success,
            ):
                trajectories.append(trajectory)
                after_each()
                self.stop.check()
        finally:
            self.policy.sampling = before
        return trajectories

    def tasks(self, episodes: int) -> list[Task]:
        """Test tasks of the trained templates if the split has them, else of the whole families."""
        settings, split = self.config.tasks, self.config.evaluation.split
        trained = split in ("train", "test") and settings.split in ("train", "test")
        only = settings.template_names if trained else ()
        found = evaluation_tasks(split, settings.families, only, SEED)
        return list(islice(found, episodes))


@dataclass(slots=True)
class EvaluationStore:
    """Keeps evaluations and `recordings` of episodes, half from before, half from after.

    `keep` writes the evaluation last: once its line is there, the stage is not measured again.
    """

    evaluations: LineLog
    archive: RecordingArchive
    learner: Learner
    recordings: int

    def measured(self, stage: Stage) -> SuccessRate | None:
        """The result of the last evaluation of that stage; None if there was none."""
        lines = read_lines(self.evaluations.path, EvaluationLine)
        return next((line.rate for line in reversed(lines) if line.stage == stage), None)

    def keep(self, line: EvaluationLine, trajectories: Sequence[Trajectory]) -> None:
        if line.stage != "during":
            for each in _some(trajectories, self.recordings // 2):
                opinions = self._opinions(each)
                self.archive.add(each, line.stage, updates=line.updates, opinions=opinions)
        self.evaluations.append(line)

    def _opinions(self, trajectory: Trajectory) -> Opinions | None:
        """The learner's value, ratio and one-step advantage for each step; None: not learnable."""
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


def _some(trajectories: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """`count` of them: successes and failures alternating, different templates first."""
    judged = [each for each in trajectories if each.ending.judged]
    one_of_each = {each.task.template: each for each in reversed(judged)}
    order = {id(each): each for each in (*one_of_each.values(), *judged)}.values()
    good = [each for each in order if each.success]
    bad = [each for each in order if not each.success]
    in_turn = [each for pair in zip_longest(good, bad) for each in pair if each is not None]
    return in_turn[:count]
