"""From two evaluations on one task set to one table, by the commands alone."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.errors import OtherSettings
from distrl.reporting.leaderboard import read_result

RUNNER = CliRunner()


def evaluate(agent: str, folder: Path, *more: str) -> Path:
    result = folder / f"{agent}.json"
    given = ["evaluate", agent, "--result", str(result), "--phones", "2", *more]
    done = RUNNER.invoke(app, given)
    assert done.exit_code == 0, done.output
    return result


def test_a_task_set_may_come_through_a_pipe(tmp_path: Path) -> None:
    file, pipe = tmp_path / "two.json", tmp_path / "pipe"
    done = evaluate("done", tmp_path, "--task-set", str(file), "--episodes", "2")
    os.mkfifo(pipe)
    sender = Thread(target=pipe.write_bytes, args=(file.read_bytes(),), daemon=True)
    sender.start()  # it waits for a reader
    idle = evaluate("idle", tmp_path, "--task-set", str(pipe))
    sender.join()
    assert read_result(idle).tasks == read_result(done).tasks


def test_two_agents_on_one_task_set(tmp_path: Path) -> None:
    tasks = str(tmp_path / "six.json")
    done = evaluate("done", tmp_path, "--task-set", tasks, "--episodes", "6")
    scripted = evaluate("scripted", tmp_path, "--task-set", tasks)  # the six of the file
    table = RUNNER.invoke(app, ["leaderboard", str(done), str(scripted), "--markdown"])
    assert table.exit_code == 0, table.output
    first, second = (line for line in table.output.splitlines() if line[:3] in ("| 1", "| 2"))
    assert first.startswith("| 1 | scripted (sampled at 1) | 100.0% |")
    assert second.startswith("| 2 | done (sampled at 1) | 0.0% |")
    assert table.output.startswith("6 tasks, seed 0")
    other = evaluate("idle", tmp_path, "--episodes", "2")
    refused = RUNNER.invoke(app, ["leaderboard", str(scripted), str(other)])
    assert isinstance(refused.exception, OtherSettings)
