"""Evaluation: the same stage plays the same tasks, and leaves the policy as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config

from distrl.engine.run.evaluator import Evaluator
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.engine.wiring import build_policy
from distrl.runs.run_records import EvaluationLine


def test_the_same_stage_gives_the_same_line(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    policy, calls = build_policy(config), list[int]()
    evaluator, before = Evaluator(config, policy, StopRequest()), policy.sampling

    def evaluate() -> tuple[EvaluationLine, list[str]]:
        line, found = evaluator.run(
            "before", 1, updates=0, version=7, seconds=1.5, after_each=lambda: calls.append(1)
        )
        answers = [decision.text for each in found for decision in each.decisions]
        return line, answers

    first = evaluate()
    policy.seed("something else")
    assert evaluate() == first
    assert calls == [1, 1]
    assert policy.sampling == before


def test_the_line_counts_by_template(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    evaluator = Evaluator(config, build_policy(config), StopRequest())
    line, found = evaluator.run("after", 1, updates=3, version=7, seconds=1.5)
    assert (line.stage, line.split, line.updates, line.weight_version) == ("after", "test", 3, 7)
    assert line.rate.episodes == sum(each.ending.judged for each in found)
    assert line.rate.successes == sum(each.success for each in found)
    assert {each.template for each in line.templates} <= set(config.tasks.template_names)


def test_a_stop_request_ends_it(tmp_path: Path, model: Path) -> None:
    config, stop = tiny_config(tmp_path, model, "evaluation.greedy=true"), StopRequest()
    policy = build_policy(config)
    before, stop.asked = policy.sampling, True
    with pytest.raises(StopRequested):
        Evaluator(config, policy, stop).run("before", 1, updates=0, version=0, seconds=0.0)
    assert policy.sampling == before


def test_tasks_are_of_the_trained_templates_where_the_split_has_them(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    tasks = Evaluator(config, None, StopRequest()).tasks(6)  # type: ignore[arg-type]
    assert {task.template for task in tasks} == set(config.tasks.template_names)
    assert {task.split for task in tasks} == {"test"}
    held_out = tiny_config(tmp_path, tmp_path, "evaluation.split=held_out_apps")
    others = Evaluator(held_out, None, StopRequest()).tasks(6)  # type: ignore[arg-type]
    assert not {task.template for task in others} & set(config.tasks.template_names)
