"""`distrl reproduce` tells runs that came to the same from those that did not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config, write_model
from typer.testing import CliRunner

import distrl
from distrl.cli.main import app
from distrl.cli.reproduce import compare
from distrl.config.training_config import TrainingConfig
from distrl.json_lines import LineLog
from distrl.runs.metrics import Metrics
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EvaluationLine, TemplateCount

LOSSES = [0.5, 0.25]


def made_up_run(config: TrainingConfig, folder: Path, losses: list[float]) -> RunDirectory:
    run = RunDirectory.new(folder, "run", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    with Metrics.begin(run) as metrics:
        for number, loss in enumerate(losses, start=1):
            metrics.record("learner", number, {"loss/policy": loss, "seconds/update": id(loss)})
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
    config = tiny_config(tmp_path, tmp_path, "collection.mode=one_process")
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


@pytest.mark.slow
def test_a_run_is_made_again_and_what_has_changed_is_said(tmp_path: Path) -> None:
    model = write_model(tmp_path)
    words = ("collection.mode=one_process", "run.updates=2", "devices.count=1")
    run = distrl.train(tiny_config(tmp_path, model, *words), quiet=True).directory
    same = CliRunner().invoke(app, ["reproduce", str(run)])
    assert (same.exit_code, "the same: every figure of 2 updates is equal" in same.stdout) == (
        0,
        True,
    )

    card = json.loads((run / "card.json").read_text("utf-8"))
    card["packages"]["numpy"] = "0.0.1"
    (run / "card.json").write_text(json.dumps(card), "utf-8")
    changed = tiny_config(tmp_path, model, *words, "learning.learner.batch_trajectories=1")
    RunDirectory(run).write_config(changed)
    other = CliRunner().invoke(app, ["reproduce", str(run)])
    assert other.exit_code == 1, other.stdout
    for said in ("packages.numpy was 0.0.1 and is ", "settings was ", "not the same: "):
        assert said in other.stdout
