"""`distrl rescore` says which trajectories it could not read."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from tests.chat.chat_protocol import Reply, serving
from tests.engine.test_vlm_judged_runs import by_the_question
from tests.replay.made_up_trajectories import trajectory

from distrl.cli.rescore import rescore_run
from distrl.config.sections import JudgeSettings
from distrl.config.training_config import TrainingConfig
from distrl.replay.store.trajectory_database import NAME
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory


def test_what_cannot_be_read_is_left_out_and_said(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.write_config(TrainingConfig())
    with TrajectoryStore(run.trajectories) as store:
        store.append_all([trajectory("c/1"), trajectory("c/2", (2, 3))])
    path = run.trajectories / NAME
    data = bytearray(path.read_bytes())
    data[data.index(encode_trajectory(trajectory("c/2", (2, 3)))[:40]) + 30] ^= 1
    path.write_bytes(data)
    said = io.StringIO()
    with serving(Reply(by_the_question)) as (url, _):
        settings = JudgeSettings("vlm", url, "judge")
        counts = rescore_run(Console(file=said, width=300), run.path, settings, only_unjudged=False)
    assert counts.looked_at == 1
    assert "left out, trajectory number 2: its checksum does not match" in said.getvalue()
