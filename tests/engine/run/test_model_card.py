"""The card of a trained policy says onto what it goes, and how it was measured, if it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import yaml
from tests.engine.tiny_runs import tiny_config

from distrl.engine.run.model_card import model_card, write_model_card
from distrl.engine.run.run_card import note_card
from distrl.episodes.outcome import PairedGain, SuccessRate
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult

RESULT = RunResult(
    success_before=SuccessRate(19, 100),
    success_after=SuccessRate(50, 100),
    trajectories=307,
    updates=171,
    wall_s=391.0,
    training_s=270.0,
    weights_moved=True,
    gain=PairedGain(100, 36, 5),
    phone_time={},
    learner_time={},
    phones_waiting_share=0.0,
    staleness_mean=1.0,
    effective_sample_share=1.0,
    samples_per_insert=10.0,
    seed=0,
)
HUB = "Qwen/Qwen2.5-VL-3B-Instruct"


def run_with_policy(folder: Path) -> RunDirectory:
    run = RunDirectory(folder / "handsets-1")
    run.policy.mkdir(parents=True)
    (run.policy / "policy.json").write_text(json.dumps({"kind": "adapters"}))
    return run


def test_a_measured_policy(tmp_path: Path) -> None:
    run = run_with_policy(tmp_path)
    words = (f"agent.model={HUB}", "agent.policy.lora.rank=8")
    config = tiny_config(tmp_path, tmp_path, *words)
    run.write_config(config)
    note_card(config, run)
    write_model_card(run, config, RESULT)
    card = (run.policy / "README.md").read_text("utf-8")
    front = yaml.safe_load(card.split("---")[1])
    assert (front["library_name"], front["base_model"]) == ("peft", HUB)
    assert "LoRA adapters (rank 8)" in card
    assert "| after | 50% [40%, 60%] | 100 |" in card
    assert "+31 points" in card
    assert "seed 0" in card
    assert "split `test`, which training never saw" in card


def test_tasks_of_the_split_that_was_trained_on_are_not_called_unseen(tmp_path: Path) -> None:
    run = run_with_policy(tmp_path)
    config = tiny_config(tmp_path, tmp_path, "evaluation.split=train")
    run.write_config(config)
    note_card(config, run)
    card = model_card(run, config, RESULT)
    assert "split `train`, which training played too" in card
    assert "never saw" not in card


def test_one_that_nobody_measured_says_so(tmp_path: Path) -> None:
    run = run_with_policy(tmp_path)
    config = tiny_config(tmp_path, tmp_path)
    run.write_config(config)
    note_card(config, run)
    unmeasured = replace(RESULT, success_after=SuccessRate(0, 0))
    card = model_card(run, config, unmeasured)
    assert "It was not measured" in card
    assert "distrl evaluate" in card
    assert "base_model" not in card  # a folder of this machine is no name of the hub


def test_nothing_is_written_where_no_policy_was_kept(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.policy.mkdir(parents=True)
    write_model_card(run, tiny_config(tmp_path, tmp_path), RESULT)
    assert list(run.policy.iterdir()) == []
