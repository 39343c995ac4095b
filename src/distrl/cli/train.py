"""`distrl train`: read the settings, start or resume a run, and print its directory and result.

Modules are imported when they are needed: `distrl --help` answers at once, and errors in the
settings or the directory are reported before the engine is loaded, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from distrl.errors import DistrlError, UsageError

if TYPE_CHECKING:
    from distrl.config.training_config import TrainingConfig
    from distrl.runs.run_directory import RunDirectory
    from distrl.runs.run_records import RunResult

STOPPED = 130  # exit code of a stopped run: 128 + SIGINT, as for any program ended by Ctrl-C

ConfigFile = Annotated[
    Path | None,
    typer.Argument(
        help="A TOML file with settings, or a name of `distrl configs`, such as quick_start; the "
        "defaults if left out."
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A setting to change, such as replay.capacity=500; may be repeated."
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(help="HOST:PORT for collectors that join; the same as --set engine.join.listen=…"),
]


def train(
    config: ConfigFile = None,
    settings: Overrides = None,
    resume: Annotated[
        Path | None, typer.Option(help="The directory of an earlier run to continue.")
    ] = None,
    accept_losses: Annotated[
        bool,
        typer.Option(
            "--accept-losses", help="With --resume: go on although stored data are lost or damaged."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the settings and the memory needed, then exit.")
    ] = False,
    engine: Annotated[
        str | None, typer.Option(help="The engine: local or ray; the same as --set engine.kind=…")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="The Ray cluster: HOST:PORT, auto, or local for a private one."),
    ] = None,
    listen: Listen = None,
    view: Annotated[
        bool, typer.Option("--view", help="Serve the page of `distrl view` while it trains.")
    ] = False,
) -> None:
    """Train an agent: collectors play, a learner learns, and a report shows the result."""
    overrides = list(settings or [])
    overrides += [f"engine.kind={engine}"] if engine is not None else []
    overrides += [f'engine.address="{address}"'] if address is not None else []
    overrides += listen_words(listen)
    raise typer.Exit(
        run_command(
            Console(),
            config,
            overrides,
            resume,
            dry_run=dry_run,
            accept_losses=accept_losses,
            view=view,
        )
    )


def listen_words(listen: str | None) -> list[str]:
    return [] if listen is None else [f'engine.join.listen="{listen}"']


def run_command(
    console: Console,
    config_file: Path | None,
    overrides: Sequence[str],
    resume: Path | None,
    *,
    dry_run: bool,
    accept_losses: bool = False,
    view: bool = False,
) -> int:
    """Train and return the exit code."""
    with console.status("loading"):  # torch and what is built on it take some seconds
        from distrl.config.training_config import load_config, load_run_config
        from distrl.reporting.memory_estimate import show_dry_run
        from distrl.runs.run_directory import RunDirectory

    if resume is not None and config_file is not None:
        raise UsageError(
            f"--resume {resume} goes on with the settings in that directory; leave out "
            f"{config_file}, and change single settings with --set"
        )
    earlier = None if resume is None else RunDirectory.existing(resume)
    with nullcontext() if earlier is None or dry_run else earlier.resuming():
        if earlier is None:
            config = load_config(config_file, overrides)
        else:
            config = load_run_config(earlier.config, overrides)
        if dry_run:
            show_dry_run(console, config)
            return 0
        run = _opened(console, config, earlier, view=view)
        return train_in(console, config, run, earlier, accept_losses=accept_losses)


def train_in(
    console: Console,
    config: TrainingConfig,
    run: RunDirectory,
    earlier: RunDirectory | None,
    *,
    accept_losses: bool,
) -> int:
    """Train in an opened directory, print how it ended, and return the exit code."""
    from distrl.engine.run.stop_request import StopRequested
    from distrl.runs.run_directory import resume_words

    try:
        result = train_run(
            config, run, console, resumed=earlier is not None, accept_losses=accept_losses
        )
    except StopRequested:
        said = f"stopped; go on with: {resume_words(run, config)}"
        console.print(said, highlight=False, markup=False, soft_wrap=True)
        _show_policy(console, run, config)
        return STOPPED
    except KeyboardInterrupt:
        said = f"stopped at once; go on from the last checkpoint with: {resume_words(run, config)}"
        console.print(said, highlight=False, markup=False, soft_wrap=True)
        return STOPPED
    except DistrlError:
        if earlier is None and run.discard_unused():
            console.print("nothing had begun, so the directory is gone again", highlight=False)
        raise
    from distrl.engine.device_wiring import DRY_RUN_ENDED, is_dry

    if is_dry(config):
        console.print(DRY_RUN_ENDED, highlight=False, soft_wrap=True)
        return 0
    show_result(console, run, config, result)
    _show_policy(console, run, config)
    return 0


def _opened(
    console: Console, config: TrainingConfig, earlier: RunDirectory | None, *, view: bool
) -> RunDirectory:
    """Return the run's directory with its settings written; with `view`, start serving its page."""
    run = earlier or new_directory(config)
    if earlier is not None:
        with run.held():  # raises if another process writes to it
            run.write_config(config)
    console.print(f"{run.path}", highlight=False, markup=False)
    if view:
        from distrl.cli.view import show_along

        show_along(run.path)
    return run


def train_run(
    config: TrainingConfig,
    run: RunDirectory,
    console: Console,
    *,
    resumed: bool,
    accept_losses: bool,
) -> RunResult:
    if config.engine.kind == "local":
        from distrl.engine.local.local_engine import LocalEngine

        return LocalEngine(config, run, console).train(resumed=resumed, accept_losses=accept_losses)
    from distrl.engine.ray.cluster.connection import require_ray

    require_ray()
    from distrl.engine.ray.ray_engine import RayEngine

    return RayEngine(config, run, console).train(resumed=resumed, accept_losses=accept_losses)


def new_directory(config: TrainingConfig) -> RunDirectory:
    """Create a run directory with the resolved settings in it."""
    from distrl.runs.run_directory import RunDirectory

    run = RunDirectory.new(Path(config.run.directory), config.run.name, datetime.now().astimezone())
    run.write_config(config)
    return run


def show_result(
    console: Console, run: RunDirectory, config: TrainingConfig, result: RunResult
) -> None:
    from distrl.reporting.live_view import duration, gain_words, rate_words, time_words

    before, after = rate_words(result.success_before), rate_words(result.success_after)
    measured = result.success_before.episodes or result.success_after.episodes
    tasks = "unseen tasks" if config.measures_unseen else "tasks of a split that was trained on"
    success = f"success on {tasks}: {before} before, {after} after "
    console.print(
        f"{success if measured else ''}{result.trajectories} trajectories and "
        f"{result.updates} updates in "
        f"{duration(result.training_s)} of training ({duration(result.wall_s)} with evaluations)",
        highlight=False,
    )
    if result.success_before.episodes and result.success_after.episodes:
        words = gain_words(result.gain, weights_moved=result.weights_moved)
        console.print(f"gain: {words}", highlight=False, markup=False)
    for name, each in result.success_by_environment.items():
        words = gain_words(each.gain, weights_moved=result.weights_moved)
        console.print(
            f"  {name}: {rate_words(each.before)} before, {rate_words(each.after)} after; {words}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    if result.phone_time:
        console.print(f"phones' time: {time_words(result.phone_time, most=10)}", highlight=False)
    if result.learner_time:
        console.print(
            f"learner's time: {time_words(result.learner_time, most=10)}", highlight=False
        )
    if result.lost_trajectories or result.damaged_files:
        files = ", ".join(result.damaged_files) or "none"
        console.print(
            f"lost on the way: {result.lost_trajectories} trajectories; damaged files: {files}",
            highlight=False,
        )
    console.print(run.report, highlight=False, markup=False)


def _show_policy(console: Console, run: RunDirectory, config: TrainingConfig) -> None:
    from distrl.runs.run_directory import evaluation_words

    if run.policy.is_dir():
        said = f"the trained policy: {run.policy}; play with it: {evaluation_words(run, config)}"
        console.print(said, highlight=False, markup=False, soft_wrap=True)
