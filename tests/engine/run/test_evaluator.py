"""Evaluation: the same stage plays the same tasks, and leaves the policy as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.tiny_runs import mixed_config, tiny_config
from tests.learning.small_circle import SmallCircle

from distrl.engine.run.evaluator import (
    EvaluationRequest,
    EvaluationStore,
    Evaluator,
    evaluation_line,
)
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.engine.wiring import build_policy
from distrl.episodes.outcome import PairedGain
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
    assert again.measured("before") == line("before")
    assert again.measured("during") == line("during", 3)  # the last of them
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


def test_the_same_stage_gives_the_same_line(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    policy = build_policy(config)
    evaluator, before = Evaluator(config, policy, StopRequest()), policy.sampling

    def evaluate() -> tuple[EvaluationLine, list[str]]:
        request = EvaluationRequest("before", 1, updates=0, version=7, seconds=1.5)
        found = list(evaluator.play(request))
        answers = [decision.text for each in found for decision in each.decisions]
        return evaluation_line(request, "test", found), answers

    first = evaluate()
    policy.seed("something else")
    assert evaluate() == first
    assert policy.sampling == before


def test_the_line_counts_by_template(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    evaluator = Evaluator(config, build_policy(config), StopRequest())
    request = EvaluationRequest("after", 1, updates=3, version=7, seconds=1.5)
    found = list(evaluator.play(request))
    line = evaluation_line(request, "test", found)
    assert (line.stage, line.split, line.updates, line.weight_version) == ("after", "test", 3, 7)
    assert line.rate.episodes == sum(each.ending.judged for each in found)
    assert line.rate.successes == sum(each.success for each in found)
    assert {each.template for each in line.templates} <= set(config.tasks.template_names)
    assert line.successes == {each.task.id: each.success for each in found if each.ending.judged}


def test_before_and_after_are_compared_task_by_task(tmp_path: Path) -> None:
    run, circle = RunDirectory(tmp_path), SmallCircle()
    kept = store(run, circle)
    assert kept.gain() == PairedGain(0, 0, 0)
    kept.keep(replace(line("before"), successes={"a": False, "b": True, "c": False}), [])
    kept.keep(replace(line("after"), successes={"a": True, "b": True, "d": True}), [])
    assert kept.gain() == PairedGain(tasks=2, gained=1, lost=0)


def test_every_environment_is_measured_on_as_many_tasks(tmp_path: Path, model: Path) -> None:
    config = mixed_config(tmp_path, model)
    evaluator = Evaluator(config, build_policy(config), StopRequest())
    request = EvaluationRequest("after", 2, updates=3, version=7, seconds=1.5)
    found = list(evaluator.play(request))
    assert [each.environment for each in found] == ["small", "small", "tall", "tall"]
    assert len({each.id for each in found}) == 4
    assert {(s.width, s.height) for each in found[2:] for s in each.screens} == {(400, 800)}
    line = evaluation_line(request, "test", found)
    assert [each.environment for each in line.templates] == ["small", "tall"]
    assert line.in_environment("tall").successes == {
        f"tall/{each.task.id}": each.success for each in found[2:]
    }


def test_environments_are_compared_each_on_its_own(tmp_path: Path) -> None:
    kept = store(RunDirectory(tmp_path), SmallCircle())
    assert kept.by_environment() == {}

    def measured(stage: Stage, phone: bool, page: bool) -> EvaluationLine:
        counts = (
            TemplateCount("a", int(phone), 1, "phone"),
            TemplateCount("a", int(page), 1, "pages"),
        )
        both = {"phone/a/test/0": phone, "pages/a/test/0": page}  # the same task in both
        return replace(line(stage), templates=counts, successes=both)

    kept.keep(measured("before", phone=False, page=True), [])
    kept.keep(measured("after", phone=True, page=True), [])
    found = kept.by_environment()
    assert list(found) == ["phone", "pages"]
    assert (found["phone"].before.rate, found["phone"].after.rate) == (0.0, 1.0)
    assert found["phone"].gain == PairedGain(tasks=1, gained=1, lost=0)
    assert found["pages"].gain == PairedGain(tasks=1, gained=0, lost=0)
    assert kept.gain() == PairedGain(tasks=2, gained=1, lost=0)


def test_a_stop_request_ends_it(tmp_path: Path, model: Path) -> None:
    config, stop = tiny_config(tmp_path, model, "evaluation.greedy=true"), StopRequest()
    policy = build_policy(config)
    before, stop.asked = policy.sampling, True
    with pytest.raises(StopRequested):
        list(Evaluator(config, policy, stop).play(EvaluationRequest("before", 1, 0, 0, 0.0)))
    assert policy.sampling == before


def test_tasks_are_of_the_trained_templates_where_the_split_has_them(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    tasks = Evaluator(config, None, StopRequest()).tasks(6)  # type: ignore[arg-type]
    assert {task.template for task in tasks} == set(config.tasks.template_names)
    assert {task.split for task in tasks} == {"test"}
    said_otherwise = tiny_config(tmp_path, tmp_path, "evaluation.split=paraphrased")
    reworded = Evaluator(said_otherwise, None, StopRequest()).tasks(6)  # type: ignore[arg-type]
    assert {task.template for task in reworded} == set(config.tasks.template_names)
    held_out = tiny_config(tmp_path, tmp_path, "evaluation.split=held_out_apps")
    others = Evaluator(held_out, None, StopRequest()).tasks(6)  # type: ignore[arg-type]
    assert not {task.template for task in others} & set(config.tasks.template_names)
