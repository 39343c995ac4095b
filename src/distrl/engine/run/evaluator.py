"""Measures the policy on tasks that training never saw: before, during and after training.

It plays in the learner's process, in lockstep, on simulated devices of its own, and counts the
successes by template. The same stage of the same run plays the same tasks.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from itertools import islice

from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.run.stop_request import StopRequest
from distrl.episodes.evaluation import evaluation_tasks, play
from distrl.records import Task, Trajectory
from distrl.runs.run_records import EvaluationLine, Stage, TemplateCount
from phonesim.simulated_device import SimulatedDevice

DEVICES = 16  # played at once
SEED = 0  # the same test tasks for every run, so that runs can be compared


class Evaluator:
    """Evaluates one policy whenever asked."""

    def __init__(self, config: TrainingConfig, policy: VlmPolicy, stop: StopRequest) -> None:
        self._config = config
        self._policy = policy
        self._stop = stop

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
            split=self._config.evaluation.split,
            updates=updates,
            weight_version=version,
            seconds=seconds,
            templates=tuple(TemplateCount(each, done[each], tried[each]) for each in sorted(tried)),
        )
        return line, trajectories

    def _play(self, episodes: int, seed: str, after_each: Callable[[], None]) -> list[Trajectory]:
        before = self._policy.sampling
        self._policy.seed(seed)
        self._policy.sampling = dataclasses.replace(before, greedy=self._config.evaluation.greedy)
        devices = [
            SimulatedDevice(f"test-phone-{n}", self._config.devices.phone_drift)
            for n in range(min(DEVICES, episodes))
        ]
        trajectories = []
        try:
            for trajectory in play(
                self.tasks(episodes),
                lambda task, device, judge: self._policy,
                devices,
                stop_on_success=self._config.collection.stop_on_success,
            ):
                trajectories.append(trajectory)
                after_each()
                self._stop.check()
        finally:
            self._policy.sampling = before
        return trajectories

    def tasks(self, episodes: int) -> list[Task]:
        """Test tasks of the trained templates if the split has them, else of the whole families."""
        settings, split = self._config.tasks, self._config.evaluation.split
        trained = split in ("train", "test") and settings.split in ("train", "test")
        only = settings.template_names if trained else ()
        found = evaluation_tasks(split, settings.families, only, SEED)
        return list(islice(found, episodes))
