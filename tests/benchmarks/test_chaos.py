"""What `make chaos` counts and waits by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.acknowledgements import Acknowledgements
from benchmarks.run_processes import CpuPatience, by_log, cpu_seconds

from distrl.runs.run_directory import RunDirectory


def told(log: Path, *numbers: int) -> None:
    with log.open("a") as file:
        file.writelines(f"INFO acknowledged {log.stem}/{number}\n" for number in numbers)


def test_who_has_delivered_is_at_work_until_it_is_replaced_or_killed(tmp_path: Path) -> None:
    seen = Acknowledgements(tmp_path)
    assert seen.look() == 0
    told(tmp_path / "collector-0.9.log", 1, 2)
    told(tmp_path / "collector-1.1.log")
    assert seen.at_work() == {"collector-0.9"}
    told(tmp_path / "collector-1.1.log", 1)
    assert seen.at_work() == {"collector-0.9", "collector-1.1"}
    told(tmp_path / "collector-0.10.log")
    seen.forget(["collector-1.1"])
    assert seen.at_work() == set()
    told(tmp_path / "collector-0.9.log", 3)  # its last words, found after its successor
    (tmp_path / "policy-0.1.log").write_text("acknowledged nothing\n")
    assert seen.look() == 3
    assert sorted(seen.all_ids()) == [
        "collector-0.9/1", "collector-0.9/2", "collector-0.9/3", "collector-1.1/1",
    ]  # fmt: skip


def test_a_wait_ends_by_what_the_run_has_used_not_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.run_processes.LOOK_SECONDS", 0.0)
    (tmp_path / "logs").mkdir()
    work = (
        "import time; input(); until = time.process_time() + 0.2\n"
        "while time.process_time() < until: pass\n"
        "print(flush=True); input()"
    )  # by its own CPU time: how much a loop takes depends on the machine
    with (tmp_path / "logs" / "collector-0.1.log").open("w") as errors:
        run = subprocess.Popen(
            [sys.executable, "-c", work], stderr=errors,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    try:
        assert by_log(RunDirectory(tmp_path), "collector") == {run.pid: "collector-0.1"}
        wait = CpuPatience(lambda: [run.pid], 0.05, longest=600.0)
        assert not wait.is_over()
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write("\n")
        run.stdin.flush()
        run.stdout.readline()
        assert wait.is_over()
        assert CpuPatience(lambda: [run.pid], 60.0, longest=-1.0).is_over()
    finally:
        run.communicate("\n")
    assert cpu_seconds(run.pid) == 0.0
    assert wait.used > 0.05  # also of a process that has ended
