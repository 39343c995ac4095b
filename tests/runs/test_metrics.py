"""Figures of a run: in the file, in TensorBoard, elsewhere on request; one series over a resume."""

from __future__ import annotations

import math
import sys
from datetime import datetime
from pathlib import Path

import pytest

from distrl.errors import NotInstalled
from distrl.runs.metrics import Metrics, TensorBoardSink, read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.new(tmp_path, "train", datetime(2026, 1, 5))


class Time:
    """Seconds that pass when they are told to."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_figures_are_taken_down_with_the_runs_own_time(run: RunDirectory) -> None:
    time = Time()
    with Metrics.begin(run, clock=time) as metrics:
        time.now += 2.5
        metrics.record("learner", 1, {"loss/policy": 0.5})
        time.now += 1.0
        metrics.record("collection", 1, {"queue": 3})
    assert read_points(run.metrics) == [
        Point("learner", 1, 2.5, {"loss/policy": 0.5}),
        Point("collection", 1, 3.5, {"queue": 3.0}),
    ]


def test_a_resumed_run_goes_on_without_a_jump(run: RunDirectory) -> None:
    """Killed after update 4, resumed from the checkpoint at update 2, an hour later."""
    time = Time()
    metrics = Metrics.begin(run, clock=time)
    for update in range(1, 5):
        time.now += 1.0
        metrics.record("learner", update, {"loss": float(update)})
    time.now += 3600.0
    with Metrics.resume(run, updates=2, clock=time) as resumed:
        for update in range(3, 6):
            time.now += 1.0
            resumed.record("learner", update, {"loss": 10.0 + update})
    points = read_points(run.metrics)
    assert [point.updates for point in points] == [1, 2, 3, 4, 5]
    assert [point.seconds for point in points] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert [point.figures["loss"] for point in points] == [1.0, 2.0, 13.0, 14.0, 15.0]


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_at_zero(
    run: RunDirectory,
) -> None:
    time = Time()
    metrics = Metrics.begin(run, clock=time)
    time.now += 9.0
    metrics.record("learner", 1, {})
    with Metrics.resume(run, updates=0, clock=time) as resumed:
        assert resumed.seconds == 0.0
    assert read_points(run.metrics) == []


def scalars(run: RunDirectory) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(run.tensorboard))
    read.Reload()
    return {
        tag: [(event.step, event.value) for event in read.Scalars(tag)]
        for tag in read.Tags()["scalars"]
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of TensorBoard's reader
def test_tensorboard_reads_the_same_figures(run: RunDirectory) -> None:
    with Metrics.begin(run, [TensorBoardSink.open(run.tensorboard)]) as metrics:
        metrics.record("learner", 1, {"loss/policy": 0.5, "entropy": math.nan})
        metrics.record("learner", 2, {"loss/policy": 0.25})
        metrics.record("collection", 2, {"queue": 3.0})
    found = scalars(run)
    assert found["learner/loss/policy"] == [(1, 0.5), (2, 0.25)]
    assert found["collection/queue"] == [(2, 3.0)]
    assert math.isnan(found["learner/entropy"][0][1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_forgets_what_a_resume_has_undone(run: RunDirectory) -> None:
    first = TensorBoardSink.open(run.tensorboard)
    for update in (1, 2, 3):
        first.add(Point("learner", update, 0.0, {"loss": 1.0}))
    first.close()
    second = TensorBoardSink.open(run.tensorboard, resumed_at=1)  # within the same second
    second.add(Point("learner", 2, 0.0, {"loss": 5.0}))
    second.close()
    assert scalars(run)["learner/loss"] == [(1, 1.0), (2, 5.0)]


def test_a_missing_package_is_said_with_what_to_do(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(NotInstalled, match=r"TensorBoard.*pip install 'distrl\[learn\]'"):
        TensorBoardSink.open(run.tensorboard)
