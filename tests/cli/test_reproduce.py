"""`distrl reproduce` tells runs that came to the same from those that did not."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.engine.run.test_model_card import RESULT
from tests.engine.test_vlm_judged_runs import when
from tests.engine.tiny_runs import tiny_config, write_model
from typer.testing import CliRunner

import distrl
from distrl.cli.main import app
from distrl.cli.reproduce import check_comparable, compare
from distrl.config.training_config import TrainingConfig
from distrl.engine.run.run_card import note_card
from distrl.errors import CorruptLog, UsageError
from distrl.json_lines import LineLog
from distrl.runs.metrics import Metrics, read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EvaluationLine, TemplateCount

LOSSES = [0.5, 0.25]


def made_up_run(config: TrainingConfig, folder: Path, losses: list[float]) -> RunDirectory:
    run = RunDirectory.new(folder, "run", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    with Metrics.begin(run) as metrics:
        for number, loss in enumerate(losses, start=1):
            metrics.record("learner", number, {"loss/policy": loss, "seconds/update": id(loss)})
    run.write_result(replace(RESULT, updates=len(losses), trajectories=2 * len(losses)))
    return run


@pytest.mark.parametrize(
    ("losses", "same", "said"),
    [
        (LOSSES, True, "the same: every figure of 2 updates is equal"),
        ([0.5, 0.26], False, r"update 2 differs in loss/policy (0.25 and 0.26)"),
        ([0.5], False, "2 and 1 updates"),
    ],
)
def test_a_run_in_one_process_repeats_bit_by_bit(
    tmp_path: Path, losses: list[float], same: bool, said: str
) -> None:
    limit = f"run.updates={len(losses)}"
    config = tiny_config(tmp_path, tmp_path, "collection.mode=one_process", limit)
    first = made_up_run(config, tmp_path / "a", LOSSES)
    found, words = compare(first, made_up_run(config, tmp_path / "b", losses))
    assert found is same
    assert said in words


def evaluated(run: RunDirectory, successes: list[bool]) -> RunDirectory:
    by_task = {f"clock.a/test/{n}": each for n, each in enumerate(successes)}
    counts = (TemplateCount("clock.a", sum(successes), len(successes)),)
    with LineLog.open(run.evaluations) as log:
        log.append(EvaluationLine("after", "test", 2, 2, 1.0, counts, by_task))
    return run


def test_others_are_compared_by_their_success(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    first = evaluated(made_up_run(config, tmp_path / "a", LOSSES), [True] * 20 + [False] * 20)
    near = evaluated(made_up_run(config, tmp_path / "b", LOSSES), [True] * 21 + [False] * 19)
    worse = evaluated(made_up_run(config, tmp_path / "c", LOSSES), [False] * 40)
    assert compare(first, near)[0]
    found, words = compare(first, worse)
    assert not found
    assert "50.0 % then, 0.0 % now" in words


def test_what_the_watch_had_time_for_is_not_compared_and_a_missing_figure_is_named(
    tmp_path: Path,
) -> None:
    config = tiny_config(tmp_path, tmp_path, "collection.mode=one_process", "run.updates=2")
    first, second, other = (made_up_run(config, tmp_path / name, LOSSES) for name in "abc")
    for run, name in ((second, "watch/logprob_gap"), (other, "entropy")):
        run.metrics.unlink()
        with Metrics.begin(run) as metrics:
            for number, loss in enumerate(LOSSES, start=1):
                metrics.record("learner", number, {"loss/policy": loss, name: 0.1})
    assert compare(first, second)[0]
    assert "update 1 differs in entropy (None and 0.1)" in compare(first, other)[1]


@pytest.mark.parametrize(
    "settings",
    [
        ["collection.mode=one_process"],
        ["collection.mode=one_process", "run.updates=3", "run.trajectories=5"],
        ["run.updates=2"],
    ],
    ids=["by time", "by time before its limits", "several processes"],
)
def test_figures_that_do_not_repeat_are_not_compared(tmp_path: Path, settings: list[str]) -> None:
    config = tiny_config(tmp_path, tmp_path, *settings)
    first = evaluated(made_up_run(config, tmp_path / "a", LOSSES), [True, False])
    second = evaluated(made_up_run(config, tmp_path / "b", [0.5, 0.3]), [True, False])
    assert "success after training on the same 2 tasks" in compare(first, second)[1]


def test_a_run_that_ended_by_trajectories_repeats(tmp_path: Path) -> None:
    limits = ("collection.mode=one_process", "run.updates=9", "run.trajectories=4")
    config = tiny_config(tmp_path, tmp_path, *limits)
    first = made_up_run(config, tmp_path / "a", LOSSES)
    check_comparable(first)
    assert "every figure" in compare(first, made_up_run(config, tmp_path / "b", LOSSES))[1]


def test_a_run_with_nothing_to_compare_is_refused_before_it_is_run_again(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "collection.mode=one_process")
    unmeasured = made_up_run(config, tmp_path / "a", LOSSES)
    with pytest.raises(UsageError, match="not measured after training"):
        refused(unmeasured)
    measured = evaluated(made_up_run(config, tmp_path / "b", LOSSES), [True])
    with pytest.raises(UsageError, match="not measured after training"):
        refused(measured, "--against", str(unmeasured.path))
    unmeasured.result.unlink()
    with pytest.raises(UsageError, match=r"has no result\.json.* collected without learning"):
        refused(unmeasured)
    measured.result.write_bytes(
        measured.result.read_bytes().replace(b'"updates": 2', b'"updates": 3')
    )
    with pytest.raises(CorruptLog, match=r"result.json is not as the run wrote it"):
        refused(measured)
    assert not (tmp_path / "runs").exists()  # nothing was begun


def refused(run: RunDirectory, *words: str) -> None:
    result = CliRunner().invoke(app, ["reproduce", str(run.path), *words])
    assert result.exception is not None, result.output
    raise result.exception


@pytest.mark.slow
def test_a_second_run_that_is_stopped_says_how_to_go_on(tmp_path: Path) -> None:
    words = ("collection.mode=one_process", "run.updates=20", "devices.count=1")
    off = ("evaluation.before=0", "evaluation.after=0")
    config = tiny_config(tmp_path, write_model(tmp_path), *words, *off)
    first = made_up_run(config, tmp_path / "a", [0.5] * 20)
    note_card(config, first)

    def has_learned() -> bool:
        return any(read_points(each / "metrics.jsonl") for each in tmp_path.glob("runs/*"))

    with when(has_learned, lambda: signal.raise_signal(signal.SIGINT)):
        stopped = CliRunner().invoke(app, ["reproduce", str(first.path)])
    [second] = tmp_path.glob("runs/*")
    assert stopped.exit_code == 130, stopped.output
    said = " ".join(stopped.output.split())
    assert f"stopped; go on with: distrl train --resume {second}" in said
    assert f"distrl reproduce {first.path} --against {second}" in said


@pytest.mark.slow
def test_a_run_is_made_again_and_what_has_changed_is_said(tmp_path: Path) -> None:
    model = write_model(tmp_path)
    words = ("collection.mode=one_process", "run.updates=2", "devices.count=1")
    run = distrl.train(tiny_config(tmp_path, model, *words), quiet=True).directory
    same = CliRunner().invoke(app, ["reproduce", str(run)])
    assert same.exit_code == 0, same.stdout
    assert "the same: every figure of 2 updates is equal" in same.stdout

    card = json.loads((run / "card.json").read_text("utf-8"))
    card["packages"]["numpy"] = "0.0.1"
    (run / "card.json").write_text(json.dumps(card), "utf-8")
    changed = tiny_config(tmp_path, model, *words, "learning.learner.batch_trajectories=1")
    RunDirectory(run).write_config(changed)
    other = CliRunner().invoke(app, ["reproduce", str(run)])
    assert other.exit_code == 1, other.stdout
    for said in ("packages.numpy was 0.0.1 and is ", "settings was ", "not the same: "):
        assert said in other.stdout
