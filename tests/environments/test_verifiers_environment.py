"""The phone in verifiers: its own command evaluates a stand-in model, tool server and all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.environments.alarm_model import TASK, serve_alarm_model

pytest.importorskip("verifiers.v1", reason="verifiers is not installed: make test-trainers")
ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def verifiers_command(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """One of verifiers' commands, with the code of this checkout."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "STAND_IN_KEY": "none",
    }
    return subprocess.run(
        [BIN / name, "distrl-phone", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_rows_are_tasks_with_their_first_screen() -> None:
    from distrl.environments.verifiers_environment import PhoneTasksetConfig
    from distrl_phone import PhoneTaskset

    rows = list(PhoneTaskset(PhoneTasksetConfig(split="test", tasks=3)))
    assert [row.data.idx for row in rows] == [0, 1, 2]
    assert len({row.key for row in rows}) == 3
    assert all("/test/" in row.key and "\n[0] " in row.data.prompt for row in rows)


def test_a_rollout_is_played_judged_and_rewarded(tmp_path: Path) -> None:
    with serve_alarm_model() as address:
        done = verifiers_command(
            "vf-eval",
            *("--select.include.ids", json.dumps([TASK])),
            *("--env.agent.runtime.type", "subprocess", "--model", "stand-in"),
            *("--client.base-url", address, "--client.api-key-var", "STAND_IN_KEY"),
            *("--no-push", "--no-rich", "-o", str(tmp_path)),
        )
    lines = [
        line for file in tmp_path.rglob("traces.jsonl") for line in file.read_text().split("\n")
    ]
    assert lines, (done.stdout + done.stderr)[-3000:]
    trace = json.loads(lines[0])["traces"][0]
    earned, steps = trace["rewards"]["success"], trace["metrics"]["steps"]
    assert (earned["score"], steps, trace["stop_condition"]) == (1.0, 3.0, "over"), earned


def test_the_scripted_solution_is_what_validates(tmp_path: Path) -> None:
    done = verifiers_command(
        "vf-validate",
        *("--select.limit", "2", "--runtime.type", "subprocess", "--no-rich"),
        *("-o", str(tmp_path)),
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
