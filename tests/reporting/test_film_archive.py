"""Episodes kept for the report: small pictures, each once, and what was thought of every step."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from PIL import Image

from distrl.devices.simulated.simulated_device import SimulatedDevice
from distrl.episodes.demonstrations import demonstrate
from distrl.records import Trajectory
from distrl.reporting.film_archive import WIDTH, FilmArchive, Opinions
from distrl.reporting.json_lines import read_lines
from distrl.reporting.run_directory import RunDirectory
from distrl.reporting.run_records import Film
from distrl.tasks.task_sets import load_task


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.new(tmp_path, "train", datetime(2026, 1, 5))


@pytest.fixture(scope="module")
def played() -> Trajectory:
    return demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("film"))


def test_a_film_has_every_step_and_the_last_screen(run: RunDirectory, played: Trajectory) -> None:
    count = len(played.decisions)
    opinions = Opinions([0.5] * count, [1.25] * count, [-0.5] * count)
    with FilmArchive.open(run) as archive:
        archive.add(played, "after", updates=7, opinions=opinions)
    [film] = read_lines(run.films, Film)
    assert len(film.steps) == count + 1
    assert film.instruction == played.task.instruction
    assert (film.stage, film.updates, film.ending) == ("after", 7, played.ending)
    first, last = film.steps[0], film.steps[-1]
    assert (first.value, first.ratio, first.advantage) == (0.5, 1.25, -0.5)
    assert (last.action, last.value) == ("end", None)
    with Image.open(run.pictures / first.picture) as picture:
        assert picture.size == (WIDTH, 2 * WIDTH)


def test_a_screen_that_comes_twice_is_kept_once(run: RunDirectory, played: Trajectory) -> None:
    with FilmArchive.open(run) as archive:
        archive.add(played, "before")
        kept = sorted(path.name for path in run.pictures.iterdir())
        archive.add(played, "after")
    assert sorted(path.name for path in run.pictures.iterdir()) == kept
    assert [film.stage for film in read_lines(run.films, Film)] == ["before", "after"]


def test_opinions_are_asked_for_every_decision(run: RunDirectory, played: Trajectory) -> None:
    with FilmArchive.open(run) as archive, pytest.raises(IndexError):
        archive.add(played, "after", opinions=Opinions([0.5], [1.0], [0.0]))
    assert read_lines(run.films, Film) == []
