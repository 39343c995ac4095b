"""The paper's table: arms that load, and figures on runs worked by hand."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from benchmarks.paper import ARMS, Job, Played, figures_of, played, result_of, settings_of

from distrl.config.training_config import load_config

GIVEN = argparse.Namespace(
    seconds=6000.0, speed=20.0, device="cpu", collectors=4, set=["run.updates=3"]
)


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_is_a_valid_run(arm: str, tmp_path: Path) -> None:
    settings = settings_of(Job("shopping", arm, 7), tmp_path, GIVEN)
    config = load_config(None, [f"{name}={value}" for name, value in settings.items()])
    assert (config.run.seed, config.run.updates, config.run.minutes) == (7, 3, 5.0)
    assert config.tasks.families == ("shopping",)
    assert config.collection.mode == ("synchronous" if "rounds" in arm else "asynchronous")


def run(after: float, per_minute: float, *curve: tuple[float, float]) -> Played:
    return Played(0.4, after, curve, per_minute, 6.0, 2.0, 0.9)


def test_figures_are_of_pairs_of_one_seed() -> None:
    runs = {
        Job("general", "distrl", 0): run(0.75, 6.0, (1000.0, 0.55), (2000.0, 0.7), (6000.0, 0.75)),
        Job("general", "distrl", 1): run(0.72, 6.0, (1000.0, 0.61), (6000.0, 0.72)),
        Job("general", "digirl_32_rounds", 0): run(0.6, 2.5, (3000.0, 0.5), (6000.0, 0.6)),
        Job("general", "digirl_32_rounds", 1): run(0.6, 2.5, (3000.0, 0.5), (6000.0, 0.6)),
        Job("general", "digirl_32_rounds", 2): run(0.9, 2.5, (6000.0, 0.9)),  # has no partner
    }
    figures = figures_of(runs)
    assert figures["collection_ratio"] == pytest.approx(2.4)
    assert figures["level_general"] == pytest.approx(0.6)
    assert figures["time_ratio_general"] == pytest.approx((3.0 * 6.0) ** 0.5)
    assert figures["relative_gain_general"] == pytest.approx((1.25 * 1.2) ** 0.5 - 1.0)
    assert figures["relative_gain_general_low"] < 0.225 < figures["relative_gain_general_high"]
    assert figures["not_reached_general"] == 0.0
    assert figures["general_digirl_32_rounds_seeds"] == 3.0


def test_a_run_without_a_result_is_none(tmp_path: Path) -> None:
    (tmp_path / "paper-1").mkdir()
    assert result_of(tmp_path) is None
    assert played(tmp_path, 20.0) is None
