"""Undemonstrated templates by reward alone: what is trained on, and figures on made-up runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from benchmarks.train_runs import set_words
from benchmarks.undemonstrated import CONFIG, TWO_CORES, figures_of, known, read_result, train

from distrl.config.config_file import config_path
from distrl.config.training_config import load_config
from phonesim.tasks.task_sets import template_names


def test_the_config_trains_all_that_nobody_demonstrated() -> None:
    config = load_config(config_path(CONFIG))
    assert set(config.tasks.template_names) == set(template_names("undemonstrated"))
    assert {template_names("undemonstrated", family)[0] for family in config.tasks.families} < set(
        config.tasks.template_names
    )
    assert config.evaluation.split == "undemonstrated_test"
    assert config.agent.policy.device == "cuda"
    assert config.run.minutes <= 20.0


def test_on_two_cores_it_is_the_same_question() -> None:
    whole = load_config(config_path(CONFIG))
    small = load_config(config_path(CONFIG), set_words(TWO_CORES)[1::2])
    assert small.tasks == whole.tasks
    assert small.learning.a_ride == whole.learning.a_ride
    assert small.evaluation.split == whole.evaluation.split
    assert small.agent.policy.device == "cpu"


def write_run(keep: Path, seed: int, after: float, known_after: float) -> None:
    directory = keep / f"seed-{seed}" / "undemonstrated-1"
    directory.mkdir(parents=True)
    result = {
        "success_before": {"rate": 0.07, "low": 0.05, "high": 0.1},
        "success_after": {"rate": after, "low": after - 0.05, "high": after + 0.05},
        "gain": {"difference": after - 0.07, "low": after - 0.12, "high": after - 0.02},
        "training_s": 1080.0,
        "seed": seed,
    }
    (directory / "result.json").write_text(json.dumps(result))
    write_known(keep / f"known-seed-{seed}.json", known_after)


def write_known(path: Path, success: float) -> None:
    path.write_text(json.dumps({"success": success, "low": success - 0.04, "high": success + 0.04}))


def test_figures_of_runs_that_are_there(tmp_path: Path) -> None:
    given = argparse.Namespace(keep=tmp_path, report=True)
    write_known(tmp_path / "known-starter.json", 0.8)
    write_run(tmp_path, 0, 0.5, 0.79)
    write_run(tmp_path, 1, 0.54, 0.81)
    write_run(tmp_path, 2, 0.58, 0.77)
    runs = [run for seed in range(3) if (run := train(seed, given)) is not None]
    starter = known("starter", "starter", given)
    after = [known(f"seed-{seed}", str(run), given) for seed, run in enumerate(runs)]
    assert starter is not None
    figures = figures_of([read_result(run) for run in runs], starter, after, on_gpu=True)
    assert figures["seeds"] == 3.0
    assert [figures[f"before{end}"] for end in ("", "_low", "_high")] == [0.07, 0.05, 0.1]
    assert figures["known_before_low"] == pytest.approx(0.76)
    assert figures["after"] == pytest.approx(0.54)
    wide = 0.04 / 3**0.5 * 4.303  # Student's t, two degrees of freedom
    assert figures["after_low"] == pytest.approx(0.54 - wide)
    assert figures["gain_high"] == pytest.approx(0.47 + wide)
    assert figures["known_after"] == pytest.approx(0.79)
    assert figures["known_change"] == pytest.approx(-0.01)
    assert figures["gpu_minutes"] == figures["gpu_minutes_low"] == 18.0
    assert figures["seed_2_known_change"] == pytest.approx(-0.03)
    assert figures["seed_2_gain_low"] == pytest.approx(0.46)
    partly = figures_of(
        [read_result(run) for run in runs], starter, [after[0], None, None], on_gpu=False
    )
    assert (partly["seeds"], partly["known_seeds"], partly["gpu_minutes"]) == (3.0, 1.0, 0.0)
    assert partly["known_after"] == pytest.approx(0.79)


def test_a_report_makes_nothing(tmp_path: Path) -> None:
    given = argparse.Namespace(keep=tmp_path, report=True)
    assert train(0, given) is None
    assert known("starter", "starter", given) is None
    assert not list(tmp_path.iterdir())
