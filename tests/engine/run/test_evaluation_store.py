"""Evaluations on disk: the line is written last, and recordings show both kinds of ending."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.learning.small_circle import SmallCircle

from distrl.engine.run.evaluation_store import EvaluationStore
from distrl.episodes.outcome import SuccessRate
from distrl.json_lines import LineLog, read_lines
from distrl.records import Ending, Verdict
from distrl.reporting.recording_archive import RecordingArchive
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EvaluationLine, Recording, Stage, TemplateCount


def line(stage: Stage, successes: int = 1) -> EvaluationLine:
    return EvaluationLine(stage, "test", 5, 2, 30.0, (TemplateCount("made.up", successes, 4),))


def store(run: RunDirectory, circle: SmallCircle, recordings: int = 4) -> EvaluationStore:
    evaluations, archive = LineLog.open(run.evaluations), RecordingArchive.open(run)
    return EvaluationStore(evaluations, archive, circle.learner, recordings)


def test_a_stage_is_measured_once_its_line_is_there(tmp_path: Path) -> None:
    run, circle = RunDirectory(tmp_path), SmallCircle()
    kept = store(run, circle)
    assert kept.measured("before") is None
    kept.keep(line("before"), [])
    kept.keep(line("during", 2), [])
    kept.keep(line("during", 3), [])
    again = store(run, circle)
    assert again.measured("before") == SuccessRate(1, 4)
    assert again.measured("during") == SuccessRate(3, 4)  # the last of them
    assert again.measured("after") is None


def test_half_of_the_recordings_are_of_each_stage_and_show_success_and_failure(
    tmp_path: Path,
) -> None:
    run, circle = RunDirectory(tmp_path), SmallCircle()
    bad = [each for each in circle.collect("evaluation", 20) if not each.success][:6]
    good = [
        replace(each, id=f"good/{each.id}", ending=Ending.SUCCESS, verdict=Verdict(True, "", "me"))
        for each in bad
    ]
    made = [*bad, *good]
    kept = store(run, circle)
    for stage in ("before", "during", "after"):
        kept.keep(line(stage), made)
    found = read_lines(run.recordings, Recording)
    assert [each.stage for each in found] == ["before", "before", "after", "after"]
    endings = {each.id: each.success for each in made}
    assert [endings[each.id] for each in found] == [True, False, True, False]


def test_recordings_have_the_estimates_of_the_learner(tmp_path: Path) -> None:
    run, circle = RunDirectory(tmp_path), SmallCircle()
    store(run, circle, 2).keep(line("after"), circle.collect("evaluation", 4))
    [recording] = read_lines(run.recordings, Recording)
    *acted, _last = recording.steps
    assert acted
    assert all(step.value is not None and 0.0 <= step.value <= 1.0 for step in acted)
    assert all(step.ratio is not None and abs(step.ratio - 1.0) < 1e-4 for step in acted)
