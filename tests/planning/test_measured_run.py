"""A plan read off a run directory has the numbers that the run was made with."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from distrl.config.training_config import load_config
from distrl.errors import UsageError
from distrl.json_lines import LineLog
from distrl.planning.measured_run import measured_run
from distrl.planning.simulation import simulate
from distrl.records import Ending
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point

RESET, ACT, STEPS, UPDATE, DRAIN = 3.0, 2.0, 5, 7.0, 0.25
EPISODE = RESET + STEPS * (ACT + 0.5)


def deciding_seconds(size: float) -> float:
    return 0.4 + 0.1 * size


def made_up_run(folder: Path, looks: int = 10, *, learner: bool = True) -> RunDirectory:
    """Four phones; every look of 100 s has ten episodes and 25 batches, of sizes that vary."""
    config = load_config(None, ["devices.count=4", "learning.learner.batch_trajectories=8"])
    run = RunDirectory.new(folder, "made_up", datetime(2026, 1, 5))
    run.write_config(config)
    run.trajectories.mkdir()
    (run.trajectories / "segment").write_bytes(bytes(looks * 10 * (STEPS + 1) * 20_000))
    totals = dict.fromkeys(("trajectories", "decisions", "batches", "deciding_seconds"), 0.0)
    seconds = dict.fromkeys(("reset", "act", "decide", "deliver", "judge", "own"), 0.0)
    with LineLog.open(run.metrics) as metrics, LineLog.open(run.episodes) as episodes:
        for look in range(looks + 1):
            figures = {**totals, **{f"seconds/{name}": each for name, each in seconds.items()}}
            metrics.append(Point("collection", look, 100.0 * look, dict(figures)))
            if learner:
                update = {"seconds/update": UPDATE, "seconds/drain": DRAIN * 10}
                stored = {"arrivals/stored": 10.0 * (look + 1)}
                metrics.append(Point("learner", look, 100.0 * look, update | stored))
            if look == looks:
                break
            size = 1.0 + look % 3
            totals["trajectories"] += 10
            totals["decisions"] += 10 * STEPS
            totals["batches"] += 10 * STEPS / size
            seconds["reset"] += 10 * RESET
            seconds["act"] += 10 * STEPS * ACT
            seconds["own"] += 10 * 0.01
            totals["deciding_seconds"] += 10 * STEPS / size * deciding_seconds(size)
            for number in range(10):
                episodes.append(_line(look, number))
    return run


def _line(look: int, number: int) -> EpisodeLine:
    ending = Ending.DEVICE_LOST if number == 0 else Ending.SUCCESS
    began = 100.0 * look + number
    return EpisodeLine(
        f"{look}/{number}", "t/train/0", "t", ending, STEPS, 0, 0, "phone-0", began, began + EPISODE
    )


def test_latencies_are_what_was_measured(tmp_path: Path) -> None:
    settings = measured_run(made_up_run(tmp_path).path).settings
    assert settings.phones.count == 4
    assert settings.phones.reset.mean == pytest.approx(RESET)
    assert settings.phones.step.mean == pytest.approx(ACT, rel=0.01)
    assert settings.phones.episode_log_sd == pytest.approx(0.0, abs=1e-6)
    assert settings.episodes.measured_steps == (STEPS,) * 100
    assert settings.episodes.broken == pytest.approx(0.1)
    assert settings.policy.batch_seconds[0] == pytest.approx(deciding_seconds(1))
    assert settings.policy.batch_seconds[1] == pytest.approx(deciding_seconds(64))
    assert settings.learner.gpus == 1
    assert settings.learner.update.mean == pytest.approx(UPDATE)
    assert settings.learner.insert_seconds == pytest.approx(DRAIN)
    assert settings.learner.batch_trajectories == 8
    assert settings.network.screen_kilobytes == pytest.approx(20.0)


def test_without_updates_nobody_learns_and_the_plan_goes_by_phones_alone(tmp_path: Path) -> None:
    """Alone on a phone: 3 + 5·(2 + 0.5) s. With three others it may wait for a batch or two."""
    settings = measured_run(made_up_run(tmp_path, learner=False).path).settings
    assert settings.learner.gpus == 0
    found = simulate(settings)
    assert EPISODE + 0.01 <= found.episode_seconds <= EPISODE + STEPS * deciding_seconds(3)
    assert found.trajectories_per_minute == pytest.approx(240 / found.episode_seconds, rel=0.01)


def test_too_little_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="let it run for ten minutes"):
        measured_run(made_up_run(tmp_path, looks=1).path)
