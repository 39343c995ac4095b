"""What `distrl train` does: read the settings, begin a run or resume one, and say where it is.

The engine is imported when the settings and the directory are known to be good: what is wrong with
them is said seconds earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from rich.console import Console

from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.run.stop_request import StopRequested
from distrl.errors import DistrlError, UsageError
from distrl.reporting.live_view import rate_words
from distrl.reporting.memory_estimate import show_dry_run
from distrl.reporting.next_commands import evaluation_words, resume_words
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult

STOPPED = 130  # the exit code of a run that somebody stopped, as of a program that Ctrl-C ended


def train(
    console: Console,
    config_file: Path | None,
    overrides: Sequence[str],
    resume: Path | None,
    *,
    dry_run: bool,
) -> int:
    """Train; returns the exit code."""
    if resume is not None and config_file is not None:
        raise UsageError(
            f"--resume {resume} goes on with the settings in that directory; leave out "
            f"{config_file}, and change single settings with --set"
        )
    earlier = None if resume is None else RunDirectory.existing(resume)
    config = load_config(config_file if earlier is None else earlier.config, overrides)
    if dry_run:
        show_dry_run(console, config)
        return 0
    run = new_directory(config) if earlier is None else _resumable(earlier, config)
    console.print(f"{run.path}", highlight=False, markup=False)
    try:
        result = _engine(config, run, console).train(resumed=earlier is not None)
    except StopRequested:
        said = f"stopped; go on with: {resume_words(run, config)}"
        console.print(said, highlight=False, markup=False, soft_wrap=True)
        _show_policy(console, run, config)
        return STOPPED
    except DistrlError:
        if earlier is None and run.discard_unused():
            console.print("nothing had begun, so the directory is gone again", highlight=False)
        raise
    _show(console, run, result)
    _show_policy(console, run, config)
    return 0


class Engine(Protocol):
    """Runs a training run."""

    def train(self, *, resumed: bool) -> RunResult: ...


def _engine(config: TrainingConfig, run: RunDirectory, console: Console) -> Engine:
    if config.engine.kind == "local":
        from distrl.engine.local.local_engine import LocalEngine

        return LocalEngine(config, run, console)
    from distrl.engine.ray.cluster.connection import require_ray

    require_ray()
    from distrl.engine.ray.ray_engine import RayEngine

    return RayEngine(config, run, console)


def new_directory(config: TrainingConfig) -> RunDirectory:
    """A fresh directory with the resolved settings in it."""
    run = RunDirectory.new(Path(config.run.directory), config.run.name, datetime.now().astimezone())
    run.write_config(config)
    return run


def _resumable(run: RunDirectory, config: TrainingConfig) -> RunDirectory:
    """The settings as they are now go into the directory, once it is ours."""
    with run.held():
        run.write_config(config)
    return run


def _show(console: Console, run: RunDirectory, result: RunResult) -> None:
    before, after = rate_words(result.success_before), rate_words(result.success_after)
    console.print(
        f"success on unseen tasks: {before} before, {after} after "
        f"{result.trajectories} trajectories and {result.updates} updates in {result.wall_s:.0f} s",
        highlight=False,
    )
    console.print(run.report, highlight=False, markup=False)


def _show_policy(console: Console, run: RunDirectory, config: TrainingConfig) -> None:
    if run.policy.is_dir():
        said = f"the trained policy: {run.policy}; play with it: {evaluation_words(run, config)}"
        console.print(said, highlight=False, markup=False, soft_wrap=True)
