"""Evaluations on disk, and recordings of some of their episodes with the learner's estimates.

`keep` writes the evaluation last: once its line is there, the stage is not measured again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from distrl.episodes.outcome import SuccessRate
from distrl.json_lines import LineLog, read_lines
from distrl.learning.algorithms.algorithm import update_report
from distrl.learning.batch import batch_of
from distrl.learning.learner import Learner
from distrl.records import Trajectory
from distrl.replay.buffer.entries import flaw
from distrl.reporting.recording_archive import Opinions, RecordingArchive
from distrl.runs.run_records import EvaluationLine, Stage


class EvaluationStore:
    """Keeps evaluations and `recordings` of episodes, half from before, half from after."""

    def __init__(
        self,
        evaluations: LineLog,
        archive: RecordingArchive,
        learner: Learner,
        recordings: int,
    ) -> None:
        self._evaluations = evaluations
        self._archive = archive
        self._learner = learner
        self._recordings = recordings

    def measured(self, stage: Stage) -> SuccessRate | None:
        """The result of the last evaluation of that stage; None if there was none."""
        lines = read_lines(self._evaluations.path, EvaluationLine)
        return next((line.rate for line in reversed(lines) if line.stage == stage), None)

    def keep(self, line: EvaluationLine, trajectories: Sequence[Trajectory]) -> None:
        if line.stage != "during":
            for each in _some(trajectories, self._recordings // 2):
                opinions = self._opinions(each)
                self._archive.add(each, line.stage, updates=line.updates, opinions=opinions)
        self._evaluations.append(line)

    def _opinions(self, trajectory: Trajectory) -> Opinions | None:
        """The learner's value, ratio and one-step advantage for each step; None: not learnable."""
        if flaw(trajectory) is not None:
            return None
        batch = batch_of([trajectory], self._learner.settings.rewards)
        current = self._learner.score_batch(batch)
        found = update_report(
            batch, current, 0.0 * batch.rewards, {}, {}, discount=self._learner.algorithm.discount
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
