"""The loop of a run on a small world: limits, checkpoints, stops."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.engine.tiny_runs import tiny_config
from tests.learning.small_circle import SmallCircle
from torch import Tensor

from distrl.engine.ingest.delivery import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluator import (
    EvaluationLane,
    EvaluationRequest,
    EvaluationStore,
    Evaluator,
    RunningEvaluation,
)
from distrl.engine.run.resume import TrainingState
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.engine.run.training_run import TrainingRun
from distrl.errors import EvaluationLost
from distrl.json_lines import LineLog, read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner import Learner
from distrl.records import Ending
from distrl.reporting.recording_archive import RecordingArchive
from distrl.runs.metrics import Metrics, read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EvaluationLine
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
        self.after_stop = "{}"  # the state that comes with the last heartbeat
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
        stopped = any(event.startswith("stop") for event in self.events)
        return {0: self.after_stop if stopped else "{}"}


class SmallRun:
    """A run of the small circle with real parts around it."""

    def __init__(
        self,
        folder: Path,
        *settings: str,
        stop_at: int | None = None,
        lane: EvaluationLane | None = None,
    ) -> None:
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
            lane=lane,
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
    small = SmallRun(tmp_path, "run.minutes=10")  # six hundred looks at its clock
    opened.append(small)
    assert 0 < small.training.run().updates < 600


def test_an_update_is_abandoned_when_the_time_is_up(tmp_path: Path, opened: list[SmallRun]) -> None:
    small = SmallRun(tmp_path, "run.minutes=0.15")  # nine looks at its clock
    opened.append(small)
    small.circle.collect("all", 20)
    before = small.circle.policy.weights()
    assert small.training.run().updates == 0
    after = small.circle.policy.weights()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert small.circle.learner.pacing.sampled == 0


class Aside(RunningEvaluation):
    """An evaluation of which the test says when it ends, and how."""

    def __init__(self, request: EvaluationRequest) -> None:
        super().__init__(request, iter(()), self._cancel)
        self.ends_after = 3  # looks
        self.lost = False
        self.cancelled = 0

    def finished(self, seconds: float = 0.0) -> bool:
        self.ends_after -= 1
        if self.ends_after < 0 and self.lost:
            raise EvaluationLost("its process has gone")
        return self.ends_after < 0

    def _cancel(self) -> None:
        self.cancelled += 1


class Lane:
    """Implements `EvaluationLane` by evaluations that `prepare` may change."""

    def __init__(self, prepare: Callable[[Aside], None] = lambda aside: None) -> None:
        self.started: list[tuple[Aside, bool]] = []  # and whether weights came with it
        self._prepare = prepare

    def start(self, request: EvaluationRequest, weights: Mapping[str, Tensor] | None) -> Aside:
        aside = Aside(request)
        self._prepare(aside)
        self.started.append((aside, weights is not None))
        return aside


BEFORE = ("evaluation.before=4", "run.minutes=1000")


def test_training_goes_on_while_the_first_weights_are_evaluated(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    def prepare(aside: Aside) -> None:
        aside.ends_after = 8  # later than training
        aside.trajectories = circle.collect("evaluation", 4)

    lane = Lane(prepare)
    small = SmallRun(tmp_path, *BEFORE, "run.updates=4", lane=lane)
    circle = small.circle
    opened.append(small)
    result = small.training.run()
    assert result.updates == 4
    [(aside, has_weights)] = lane.started
    assert (aside.request.version, aside.request.updates, has_weights) == (0, 0, False)
    assert (result.success_before.episodes, aside.cancelled) == (4, 1)
    learned = [p for p in read_points(small.directory.metrics) if p.series == "learner"]
    [line] = read_lines(small.directory.evaluations, EvaluationLine)
    assert line.seconds < learned[0].seconds  # asked for before the first update
    assert "evaluating before training" not in small.view.phases


def test_evaluations_during_training_have_the_weights_of_their_version(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    lane = Lane()
    small = SmallRun(
        tmp_path, "evaluation.every_minutes=0.1", "run.updates=12", "run.minutes=1000", lane=lane
    )
    opened.append(small)
    small.training.run()
    assert len(lane.started) > 1
    for aside, has_weights in lane.started:
        assert (aside.request.stage, has_weights) == ("during", True)
    assert lane.started[-1][0].request.updates > lane.started[0][0].request.updates
    lines = read_lines(small.directory.evaluations, EvaluationLine)
    assert [line.updates for line in lines] == [each.request.updates for each, _ in lane.started]


def test_episodes_of_an_evaluation_without_a_verdict_are_said_and_counted(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    """Success of 2 of 4 tasks would look like that of all of them."""

    def prepare(aside: Aside) -> None:
        whole = small.circle.collect("evaluation", 4)
        broken = [replace(each, ending=Ending.DEVICE_LOST, verdict=None) for each in whole[:2]]
        aside.trajectories = [*broken, *whole[2:]]

    small = SmallRun(tmp_path, *BEFORE, "run.updates=3", lane=Lane(prepare))
    opened.append(small)
    small.training.run()
    [line] = read_lines(small.directory.evaluations, EvaluationLine)
    assert line.rate.episodes == 2
    [said] = [each for each in small.view.sentences if "no verdict" in each]
    assert said == (
        "evaluation before training: 2 of 4 episodes have no verdict (device lost 2); success is "
        "that of the others"
    )
    assert small.training.episode_log.faults["evaluation_unjudged"] == 2


def test_a_lost_evaluation_is_said_and_costs_no_training(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    small = SmallRun(
        tmp_path, *BEFORE, "run.updates=4", lane=Lane(lambda aside: setattr(aside, "lost", True))
    )
    opened.append(small)
    result = small.training.run()
    assert (result.updates, result.success_before.episodes) == (4, 0)
    assert small.training.episode_log.faults["evaluation_lost"] == 1
    assert any("its process has gone" in said for said in small.view.sentences)


def test_a_full_disk_at_an_evaluation_costs_no_training(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    def no_room(aside: Aside) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    small = SmallRun(tmp_path, *BEFORE, "run.updates=4", lane=Lane(no_room))
    opened.append(small)
    assert small.training.run().updates == 4
    assert any("No space left on device" in said for said in small.view.sentences)


def test_an_evaluation_that_cannot_be_kept_costs_no_training(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    def play(aside: Aside) -> None:
        aside.trajectories = small.circle.collect("evaluation", 4)
        small.directory.pictures.write_text("in the way")  # of the folder of its screens

    small = SmallRun(tmp_path, *BEFORE, "run.updates=4", lane=Lane(play))
    opened.append(small)
    small.training.evaluations = replace(small.training.evaluations, recordings=2)
    assert small.training.run().updates == 4
    assert small.training.episode_log.faults["evaluation_lost"] == 1


def test_a_stop_request_ends_the_evaluation_as_well(tmp_path: Path, opened: list[SmallRun]) -> None:
    lane = Lane(lambda aside: setattr(aside, "ends_after", 1000))
    small = SmallRun(tmp_path, *BEFORE, "run.updates=50", stop_at=2, lane=lane)
    opened.append(small)
    with pytest.raises(StopRequested):
        small.training.run()
    assert lane.started[0][0].cancelled == 1


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


def test_tasks_that_collectors_give_up_as_they_stop_are_in_the_checkpoint(
    tmp_path: Path, opened: list[SmallRun]
) -> None:
    small = SmallRun(tmp_path, "run.updates=50", "run.minutes=1000", stop_at=2)
    small.playing.after_stop = '{"waiting": ["task 7"]}'
    opened.append(small)
    with pytest.raises(StopRequested):
        small.training.run()
    restored = TrainingState(SmallCircle().learner, ArrivalQueue())
    small.checkpoints.restore(restored, small.circle.kept.get)
    assert (restored.updates, restored.collectors) == (2, {0: small.playing.after_stop})


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
