"""The quick start's figures are those of its runs, by seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.learning_seeds import figures


def run(folder: Path, seed: int, before: float, after: float) -> Path:
    folder.mkdir()
    gain = {"difference": after - before, "low": after - before - 0.1, "high": after - before + 0.1}
    result = {
        "success_before": {"rate": before, "low": before - 0.05, "high": before + 0.05},
        "success_after": {"rate": after, "low": after - 0.05, "high": after + 0.05},
        "gain": gain,
        "training_s": 270.0,
        "trajectories": 447,
        "updates": 253,
        "wall_s": 390.0,
        "phone_time": {"playing": 0.7, "deciding": 0.2, "admission": 0.06, "delivery": 0.04},
        "phones_waiting_share": 0.1,
        "learner_time": {"updating": 0.9} if seed else {"updating": 0.75, "waiting": 0.25},
        "samples_per_insert": 2.98,
    }
    (folder / "result.json").write_text(json.dumps(result))
    (folder / "config.toml").write_text(f"[run]\nseed = {seed}\n")
    return folder


def test_seeds_stand_apart_and_the_worst_low_end_counts(tmp_path: Path) -> None:
    found = dict(figures([run(tmp_path / "a", 0, 0.2, 0.5), run(tmp_path / "b", 3, 0.2, 0.6)]))
    assert (found["seed_0_after"], found["seed_0_after_low"]) == (0.5, 0.45)
    assert found["seed_3_gain"] == pytest.approx(0.4)
    assert (found["before"], found["after"]) == pytest.approx((0.2, 0.55))
    assert found["gain"] == pytest.approx(0.35)
    assert found["gain_high"] == pytest.approx(0.35 + 12.706 * 0.05, abs=1e-3)  # of two seeds
    assert found["gain_lowest"] == pytest.approx(0.2)
    assert (found["seed_3_trajectories"], found["seed_3_updates"]) == (447, 253)


def test_each_seed_says_who_waited_and_how_often_a_trajectory_was_drawn(tmp_path: Path) -> None:
    found = dict(figures([run(tmp_path / "a", 0, 0.2, 0.5), run(tmp_path / "b", 3, 0.2, 0.6)]))
    assert (found["seed_0_phones_waiting_share"], found["seed_0_samples_per_insert"]) == (0.1, 2.98)
    assert found["seed_0_learner_waiting_share"] == 0.25
    assert found["seed_3_learner_waiting_share"] == 0.0  # a stage without a share took no time
