"""Run directories: one for each run, one process for each, refused before anything is spent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from distrl.config.training_config import load_config
from distrl.episodes.outcome import PairedGain, SuccessRate
from distrl.errors import DirectoryInUse, StorageError, StorageFull, UsageError
from distrl.runs.run_directory import RunDirectory, write_whole
from distrl.runs.run_records import EnvironmentSuccess, RunResult

NOW = datetime(2026, 1, 5, 8, 15)
RESULT = RunResult(
    success_before=SuccessRate(9, 100),
    success_after=SuccessRate(41, 100),
    trajectories=1432,
    updates=388,
    wall_s=471.5,
    training_s=400.0,
    weights_moved=True,
    gain=PairedGain(tasks=100, gained=35, lost=3),
    phone_time={"playing": 0.6, "deciding": 0.3, "admission": 0.1},
    learner_time={"updating": 1.0},
    phones_waiting_share=0.1,
    staleness_mean=2.4,
    effective_sample_share=0.8,
    samples_per_insert=9.0,
    seed=3,
)


def test_every_run_gets_a_directory_of_its_own(tmp_path: Path) -> None:
    first = RunDirectory.new(tmp_path / "runs", "train", NOW)
    second = RunDirectory.new(tmp_path / "runs", "train", NOW)
    assert first.path.name == "train-2026-01-05-081500"
    assert second.path.name == "train-2026-01-05-081500-2"
    assert first.path.stat().st_mode & 0o777 == 0o700  # others on the machine see no screens


def test_what_was_resolved_lies_in_it_and_is_read_again(tmp_path: Path) -> None:
    config = load_config(None, ["devices.count=3", "run.seed=7"])
    run = RunDirectory.new(tmp_path, "train", NOW)
    with pytest.raises(UsageError, match=r"is no run directory: it has no config\.toml"):
        RunDirectory.existing(run.path)
    run.write_config(config)
    assert load_config(RunDirectory.existing(run.path).config) == config


def test_the_result_has_rates_with_their_intervals(tmp_path: Path) -> None:
    run = RunDirectory.new(tmp_path, "train", NOW)
    run.write_result(RESULT)
    result = json.loads(run.result.read_text())
    assert result["success_before"]["rate"] == 0.09
    assert result["success_after"]["low"] == pytest.approx(0.3187, abs=1e-3)
    assert result["success_after"]["high"] == pytest.approx(0.5080, abs=1e-3)
    figures = {key: result[key] for key in ("trajectories", "wall_s", "training_s")}
    assert figures == {"trajectories": 1432, "wall_s": 471.5, "training_s": 400.0}
    assert result["gain"]["difference"] == 0.32
    assert 0.2 < result["gain"]["low"] < 0.32 < result["gain"]["high"] < 0.45
    assert result["phone_time"]["playing"] == 0.6
    assert result["staleness_mean"] == 2.4


def test_the_result_tells_environments_apart(tmp_path: Path) -> None:
    run = RunDirectory.new(tmp_path, "train", NOW)
    gain = PairedGain(tasks=40, gained=12, lost=2)
    each = EnvironmentSuccess(SuccessRate(4, 40), SuccessRate(14, 40), gain)
    run.write_result(replace(RESULT, success_by_environment={"phone": each}))
    found = json.loads(run.result.read_text())["success_by_environment"]["phone"]
    assert (found["before"]["rate"], found["after"]["successes"]) == (0.1, 14)
    assert found["gain"]["difference"] == 0.25
    assert found["gain"]["significant"]
    run.write_result(RESULT)
    assert "success_by_environment" not in json.loads(run.result.read_text())


def test_a_result_without_episodes_is_still_json(tmp_path: Path) -> None:
    run = RunDirectory.new(tmp_path, "train", NOW)
    none = SuccessRate(0, 0)
    run.write_result(
        replace(RESULT, success_before=none, success_after=none, gain=PairedGain(0, 0, 0))
    )
    assert json.loads(run.result.read_text())["success_before"]["rate"] is None


def test_a_directory_in_use_is_refused_until_its_process_has_gone(tmp_path: Path) -> None:
    run = RunDirectory.new(tmp_path, "train", NOW)
    code = (
        "import sys, time; from pathlib import Path\n"
        "from distrl.runs.run_directory import RunDirectory\n"
        "with RunDirectory(Path(sys.argv[1])).held():\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(run.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(DirectoryInUse, match=f"process {other.pid} "), run.held():
            pytest.fail("it is held elsewhere")
    finally:
        other.kill()
        other.wait()
    assert other.stdout.read() == ""
    other.stdout.close()
    with run.held():
        pass


def test_too_little_room_is_refused_and_leaves_it_free(tmp_path: Path) -> None:
    run = RunDirectory.new(tmp_path, "train", NOW)
    with (
        pytest.raises(StorageFull, match=r"free at .*run\.free_gigabytes wants 1000000000\.0"),
        run.held(free_bytes=1e18),
    ):
        pytest.fail("there is no such disk")
    with run.held(free_bytes=1.0):
        pass


def test_a_place_where_no_directory_can_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"making a run directory in .*file"):
        RunDirectory.new(tmp_path / "file", "train", NOW)
    with (
        pytest.raises(StorageError, match="writing to the run directory"),
        RunDirectory(tmp_path / "gone").held(),
    ):
        pytest.fail("it is not there")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_directory_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="Permission denied"):
        RunDirectory.new(tmp_path / "runs", "train", NOW)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_whole(path, "old")
    path.with_name(".result.json.draft").mkdir()  # so that the draft cannot be written
    with pytest.raises(StorageError, match=r"writing .*result\.json"):
        write_whole(path, "new")
    assert path.read_text() == "old"


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path, long = tmp_path / "file", "x" * 2_000_000
    write_whole(path, long)
    code = (
        "import sys; from pathlib import Path\n"
        "from distrl.runs.run_directory import write_whole\n"
        "for _ in range(60): write_whole(Path(sys.argv[1]), 'x' * 2_000_000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as writer:
        while writer.poll() is None:
            assert len(path.read_text()) == len(long)
    assert writer.returncode == 0
