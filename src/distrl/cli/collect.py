"""What `distrl collect` does: a run directory full of trajectories, to look at or to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from distrl.cli.train import new_directory
from distrl.config.training_config import load_config
from distrl.engine.local.local_engine import LocalEngine


def collect(console: Console, config_file: Path | None, overrides: Sequence[str]) -> int:
    """Collect; returns the exit code."""
    config = load_config(config_file, overrides)
    run = new_directory(config)
    console.print(f"{run.path}", highlight=False, markup=False)
    count = LocalEngine(config, run, console).collect()
    console.print(
        f"{count} trajectories; learn from them with: distrl train --set "
        f"learning.learner.mode=offline --set learning.corpus={run.path}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    return 0
