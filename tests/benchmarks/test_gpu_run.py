"""The figures of a whole run, on points worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.gpu_run import figures_of, gpu_words, take_over
from benchmarks.results_file import write_figures

from distrl.runs.run_records import Point


def collected(seconds: float, decisions: float, act: float, decide: float) -> Point:
    figures = {
        "decisions": decisions, "trajectories": decisions / 5, "seconds/act": act,
        "seconds/decide": decide, "deciding_seconds": 0.6 * seconds,
    }  # fmt: skip
    return Point("collection", 0, seconds, figures)


def learned(seconds: float, turns: float) -> Point:
    return Point("learner", 0, seconds, {"turns": turns, "seconds/update": 0.5})


def test_rates_and_shares_are_of_the_time_after_the_warm_up() -> None:
    points = [
        collected(5.0, 7.0, 1.0, 1.0),  # while the policy is loaded
        learned(9.0, 1000.0),
        learned(10.0, 1000.0),  # the quarter: four updates
        collected(10.0, 100.0, 10.0, 10.0),
        learned(12.0, 300.0),
        learned(19.0, 500.0),
        collected(20.0, 1100.0, 40.0, 80.0),
        learned(21.0, 999.0),
    ]
    figures = figures_of(points, "gpu_run")
    assert figures["gpu_run_decisions_per_s"] == pytest.approx(100.0)
    assert figures["gpu_run_trained_turns_per_s"] == pytest.approx(80.0)
    assert figures["gpu_run_trajectories_per_s"] == pytest.approx(20.0)
    assert figures["gpu_run_phone_share_act"] == pytest.approx(0.3)
    assert figures["gpu_run_phone_share_decide"] == pytest.approx(0.7)
    assert figures["gpu_run_deciding_share"] == pytest.approx(0.6)
    assert figures["gpu_run_learner_share_update"] == pytest.approx(0.1)
    assert figures["gpu_run_learner_share_wait"] == pytest.approx(0.9)


def test_a_run_that_was_too_short_is_no_measurement() -> None:
    with pytest.raises(SystemExit, match="more --minutes"):
        figures_of([learned(1.0, 5.0), collected(2.0, 5.0, 1.0, 1.0)], "gpu_run")
    with pytest.raises(SystemExit, match="0 updates"):
        figures_of([collected(2.0, 5.0, 1.0, 1.0)], "gpu_run")


def test_figures_of_a_gpu_are_taken_over_if_they_say_how_they_were_made(tmp_path: Path) -> None:
    results, made = tmp_path / "results.json", tmp_path / "made.json"
    write_figures(made, {"gpu_run_decisions_per_s": 1.0, **gpu_words("cpu")}, "make bench-gpu-run")
    with pytest.raises(SystemExit, match=r"made\.json has no gpu; write it with --out"):
        take_over(made, results)
    assert not results.exists()
    write_figures(made, {"gpu_run_decisions_per_s": 1.0, "gpu": "a GPU"}, "make bench-gpu-run")
    take_over(made, results)
    found = json.loads(results.read_text())
    assert (found["gpu"], found["command"]) == ("a GPU", "make bench-gpu-run")
    assert found["date"]
