"""Episodes kept for the report: small pictures, each once, and what was thought of every step."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from PIL import Image

from distrl.episodes.demonstrations import demonstrate
from distrl.json_lines import read_lines
from distrl.records import Trajectory
from distrl.reporting.recording_archive import WIDTH, Opinions, RecordingArchive
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Recording
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.new(tmp_path, "train", datetime(2026, 1, 5))


@pytest.fixture(scope="module")
def played() -> Trajectory:
    return demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("film"))


def test_a_film_has_every_step_and_the_last_screen(run: RunDirectory, played: Trajectory) -> None:
    count = len(played.decisions)
    opinions = Opinions([0.5] * count, [1.25] * count, [-0.5] * count)
    with RecordingArchive.open(run) as archive:
        archive.add(played, "after", updates=7, opinions=opinions)
    [recording] = read_lines(run.recordings, Recording)
    assert len(recording.steps) == count + 1
    assert recording.instruction == played.task.instruction
    assert (recording.stage, recording.updates, recording.ending) == ("after", 7, played.ending)
    first, last = recording.steps[0], recording.steps[-1]
    assert (first.value, first.ratio, first.advantage) == (0.5, 1.25, -0.5)
    assert (last.action, last.value) == ("end", None)
    assert first.probability is None  # a script has none
    with Image.open(run.pictures / first.picture) as picture:
        assert picture.size == (WIDTH, 2 * WIDTH)


def test_a_screen_that_comes_twice_is_kept_once(run: RunDirectory, played: Trajectory) -> None:
    with RecordingArchive.open(run) as archive:
        archive.add(played, "before")
        kept = sorted(path.name for path in run.pictures.iterdir())
        archive.add(played, "after")
    assert sorted(path.name for path in run.pictures.iterdir()) == kept
    assert [recording.stage for recording in read_lines(run.recordings, Recording)] == [
        "before",
        "after",
    ]


def test_the_probability_of_an_answer_is_kept(run: RunDirectory, played: Trajectory) -> None:
    first, *others = played.decisions
    answered = replace(first, token_ids=(5, 6), log_probs=(math.log(0.5), math.log(0.5)))
    drawn = replace(played, decisions=(answered, *others))
    with RecordingArchive.open(run) as archive:
        recording = archive.add(drawn, "after")
    assert recording.steps[0].probability == pytest.approx(0.25)
    assert recording.steps[0].value is None


def test_opinions_are_asked_for_every_decision(run: RunDirectory, played: Trajectory) -> None:
    with RecordingArchive.open(run) as archive, pytest.raises(IndexError):
        archive.add(played, "after", opinions=Opinions([0.5], [1.0], [0.0]))
    assert read_lines(run.recordings, Recording) == []
