"""The loop of a run on a small world: limits, checkpoints, stops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_runs import tiny_config
from tests.learning.small_circle import SmallCircle

from distrl.engine.ingest.delivery import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluator import EvaluationStore, Evaluator
from distrl.engine.run.resume import TrainingState
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.engine.run.training_run import TrainingRun
from distrl.json_lines import LineLog
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner import Learner
from distrl.reporting.recording_archive import RecordingArchive
from distrl.runs.metrics import Metrics, read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_status import RunStatus


class Said:
    """A view that remembers the phases and sentences it was given."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.sentences: list[str] = []

    def show(self, status: RunStatus) -> None:
        if self.phases[-1:] != [status.phase]:
            self.phases.append(status.phase)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def __enter__(self) -> Said:
        return self

    def __exit__(self, *_: object) -> None: ...


class Playing(Collection):
    """Collects in the small world whenever the learner waits."""

    def __init__(self, circle: SmallCircle, stop: StopRequest, stop_at: int | None) -> None:
        self._circle = circle
        self._stop = stop
        self._stop_at = stop_at
        self.events: list[str] = []
        self._rounds = 0

    def start(self) -> None:
        self.events.append("start")

    def pace(self, learner: Learner) -> None:
        if learner.updates == self._stop_at:
            self._stop.asked = True

    def wait(self, seconds: float) -> bool:
        self._rounds += 1
        self._circle.collect(self._rounds)
        return True

    def stop(self, finish_within: float) -> None:
        self.events.append(f"stop within {finish_within:g}")

    def states(self) -> dict[int, str]:
        return {0: "{}"}


class SmallRun:
    """A run of the small circle with real parts around it."""

    def __init__(self, folder: Path, *settings: str, stop_at: int | None = None) -> None:
        off = ("evaluation.before=0", "evaluation.after=0")
        config = tiny_config(folder, folder, *off, *settings)
        self.directory, self.circle, self.view = RunDirectory(folder), SmallCircle(), Said()
        self.now, stop, self._opened = 0.0, StopRequest(), ExitStack()
        self.playing = Playing(self.circle, stop, stop_at)
        enter = self._opened.enter_context
        metrics = enter(Metrics.begin(self.directory, clock=self._tick))
        log = EpisodeLog(enter(LineLog.open(self.directory.episodes)), lambda: metrics.seconds)
        archive = enter(RecordingArchive.open(self.directory))
        evaluations = enter(LineLog.open(self.directory.evaluations))
        policy: Any = self.circle.policy  # the run only hands it on
        self.checkpoints = CheckpointFolder(self.directory.checkpoints)
        self.training = TrainingRun(
            config,
            policy,
            TrainingState(self.circle.learner, ArrivalQueue()),
            self.checkpoints,
            self.playing,
            log,
            RunMonitor("small", 2, metrics, self.view, log, self.playing, self._tick),
            EvaluationStore(evaluations, archive, self.circle.learner, 0),
            Evaluator(config, policy, stop),
            stop,
            clock=self._tick,
        )

    def _tick(self) -> float:
        """A second passes with every look at the clock."""
        self.now += 1.0
        return self.now

    def close(self) -> None:
        self._opened.close()


@pytest.fixture
def opened() -> Iterator[list[SmallRun]]:
    runs: list[SmallRun] = []
    yield runs
    for each in runs:
        each.close()


def test_it_trains_to_its_limit_and_leaves_a_checkpoint(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    small = SmallRun(tmp_path, "run.updates=4", "run.minutes=1000")
    opened.append(small)
    result = small.training.run()
    assert result.updates == 4
    assert small.playing.events == ["start", "stop within 5"]
    assert small.view.phases == ["training"]
    restored = TrainingState(SmallCircle().learner, ArrivalQueue())
    small.checkpoints.restore(restored, small.circle.kept.get)
    assert (restored.updates, restored.collectors) == (4, {0: "{}"})
    assert restored.seconds > 0.0
    learned = [p for p in read_points(small.directory.metrics) if p.series == "learner"]
    assert [point.updates for point in learned] == [1, 2, 3, 4]


def test_it_ends_by_the_clock_as_well(tmp_path: Path, opened: list[SmallRun]) -> None:
    small = SmallRun(tmp_path, "run.minutes=1")  # sixty looks at its clock
    opened.append(small)
    assert 0 < small.training.run().updates < 60


def test_a_stop_request_saves_and_ends_the_collectors_at_once(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    small = SmallRun(tmp_path, "run.updates=50", "run.minutes=1000", stop_at=2)
    opened.append(small)
    with pytest.raises(StopRequested):
        small.training.run()
    assert small.playing.events == ["start", "stop within 0"]
    restored = TrainingState(SmallCircle().learner, ArrivalQueue())
    small.checkpoints.restore(restored, small.circle.kept.get)
    assert restored.updates == 2


def test_a_checkpoint_that_cannot_be_written_costs_itself(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    small = SmallRun(tmp_path, "run.updates=2", "run.minutes=1000")
    opened.append(small)
    small.directory.checkpoints.rmdir() if small.directory.checkpoints.exists() else None
    small.directory.checkpoints.write_text("in the way")
    assert small.training.run().updates == 2
    assert any("no checkpoint could be written" in said for said in small.view.sentences)
    assert small.training.episode_log.faults["checkpoint_failed"] >= 1
