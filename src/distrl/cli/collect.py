"""`distrl collect`: a run directory full of trajectories, to look at or to learn from offline."""

from __future__ import annotations

import typer
from rich.console import Console

from distrl.cli.train import ConfigFile, Overrides, new_directory


def collect(config: ConfigFile = None, settings: Overrides = None) -> None:
    """Collect trajectories without learning: a corpus to train on offline."""
    from distrl.config.training_config import load_config
    from distrl.engine.device_wiring import DRY_RUN_ENDED, is_dry
    from distrl.engine.local.local_engine import LocalEngine

    loaded = load_config(config, settings or [])
    run = new_directory(loaded)
    typer.echo(run.path)
    count = LocalEngine(loaded, run, Console()).collect()
    if is_dry(loaded):
        typer.echo(DRY_RUN_ENDED)
        return
    typer.echo(
        f"{count} trajectories; learn from them with: distrl train --set "
        f"agent.model={loaded.agent.model} --set learning.learner.mode=offline --set "
        f"learning.corpus={run.path}"
    )
