"""In turns: all play a round with one version, and nobody begins before the last has ended."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.tiny_runs import tiny_config

from distrl.engine.local.local_engine import LocalEngine
from distrl.json_lines import read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine


@pytest.mark.slow
def test_rounds_have_barriers_between_them(tmp_path: Path, model: Path) -> None:
    words = ("collection.mode=synchronous", "devices.count=3", "run.updates=5")
    config = tiny_config(tmp_path, model, *words, "evaluation.before=0", "evaluation.after=0")
    run = RunDirectory.new(tmp_path / "runs", "sync", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    result = LocalEngine(config, run, Console(quiet=True)).train()
    lines = sorted(read_lines(run.episodes, EpisodeLine), key=lambda line: line.began)
    rounds = [lines[first : first + 3] for first in range(0, len(lines), 3)]
    assert result.updates == 5
    assert len(rounds) >= 3
    for played in rounds:
        assert len({line.device for line in played}) == 3  # each device once
        assert len({line.weight_version for line in played}) == 1
        assert {line.staleness for line in played} == {0}
    for earlier, later in pairwise(rounds):
        assert max(line.ended for line in earlier) <= min(line.began for line in later)
    assert len({played[0].weight_version for played in rounds}) > 1
