"""`distrl collect`: collect trajectories into a directory, or for a learner on another machine."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from distrl.cli.train import ConfigFile, Listen, Overrides, listen_words, new_directory
from distrl.errors import NotInstalled, UsageError

if TYPE_CHECKING:
    from distrl.runs.run_directory import RunDirectory

Policy = Literal["own", "learner"]


def collect(
    config: ConfigFile = None,
    settings: Overrides = None,
    listen: Listen = None,
    join: Annotated[
        str | None, typer.Option(help="The learner to collect for: https://HOST:PORT.")
    ] = None,
    fingerprint: Annotated[
        str, typer.Option(help="With --join: SHA-256 of the learner's certificate.")
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="With --join: a file with the learner's token.")
    ] = None,
    spool: Annotated[
        Path | None,
        typer.Option(help="With --join: a folder for what is undelivered; default: runs/joined."),
    ] = None,
    give_up: Annotated[
        float,
        typer.Option(min=0.0, help="With --join: minutes to try if nobody answers."),
    ] = float("inf"),
    policy: Annotated[
        Policy,
        typer.Option(help="With --join: the policy that decides: one here or the learner's."),
    ] = "own",
    environment: Annotated[
        str,
        typer.Option(help="With --join: the environment to play in, if the run has several."),
    ] = "",
) -> None:
    """Collect trajectories without learning: for offline training, or for a learner elsewhere."""
    if join is not None:
        if token_file is None or not fingerprint:
            raise UsageError(
                "--join needs --fingerprint and --token-file; the learner prints the whole command"
            )
        own = config, settings or [], environment
        _join(own, join, fingerprint, token_file, spool, 60.0 * give_up, policy)
        return
    from distrl.config.training_config import load_config
    from distrl.engine.device_wiring import DRY_RUN_ENDED, is_dry
    from distrl.engine.local.local_engine import LocalEngine

    loaded = load_config(config, [*(settings or []), *listen_words(listen)])
    run = new_directory(loaded)
    typer.echo(run.path)
    count = LocalEngine(loaded, run, Console()).collect()
    if is_dry(loaded):
        typer.echo(DRY_RUN_ENDED)
        return
    typer.echo(f"success: {success_words(run)}")
    typer.echo(
        f"{count} trajectories; learn from them with: distrl train --set "
        f"agent.model={loaded.agent.model} --set learning.learner.mode=offline --set "
        f"learning.corpus={run.path}"
    )


def success_words(run: RunDirectory) -> str:
    """Return the success rate of the judged episodes, and how many were not judged, as text."""
    from distrl.episodes.outcome import SuccessRate
    from distrl.json_lines import read_lines
    from distrl.runs.run_records import EpisodeLine

    lines = list(read_lines(run.episodes, EpisodeLine))
    judged = [each for each in lines if each.judged]
    if not judged:
        return f"none of {len(lines)} episodes was judged"
    rate = SuccessRate(sum(each.success for each in judged), len(judged))
    apart = f"; {len(lines) - len(judged)} more were not judged" if len(lines) > len(judged) else ""
    return f"{str(rate).strip()} of {len(judged)} episodes{apart}"


def _join(
    settings: tuple[Path | None, list[str], str],  # the fields of `OwnSettings`
    url: str,
    fingerprint: str,
    token_file: Path,
    spool: Path | None,
    give_up_seconds: float,
    policy: Policy,
) -> None:
    """Collect for the learner at that address until it says that the run is over."""
    from distrl.config.training_config import load_joined_config
    from distrl.engine.adb_wiring import lease_phones
    from distrl.engine.device_wiring import DRY_RUN_ENDED, is_dry
    from distrl.engine.join.identity import read_token
    from distrl.records import DRY_RUN_MARK
    from distrl.runs.run_directory import check_room

    try:
        from distrl.engine.join.joined_collector import JoinedCollector, OwnSettings, build_joined
        from distrl.engine.join.learner_client import LearnerClient
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"--join needs the package {error.name!r}: pip install 'distrl[join]'"
        ) from error
    from distrl.engine.join.trajectory_spool import TrajectorySpool
    from distrl.engine.local.process_lifetime import log_to_stderr

    # Raise errors in our own settings before joining; only the learner knows its environments.
    own = load_joined_config("", 0, *settings[:2])
    folder = spool or Path(own.run.directory) / "joined"
    count = own.devices.count + own.devices.spares
    mark = f"{DRY_RUN_MARK} · " if is_dry(own) else ""

    def say(sentence: str) -> None:
        typer.echo(f"{mark}{sentence}")

    log_to_stderr()
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs every request
    with (
        LearnerClient(url, read_token(token_file), fingerprint) as client,
        TrajectorySpool(folder, max_waiting=max(8, 2 * count)) as kept,
        ExitStack() as opened,
    ):
        check_room(folder, 1e9 * own.run.free_gigabytes, "--spool")
        lease_phones(own, folder, opened, say)  # held even while the learner is away
        JoinedCollector(
            client,
            kept,
            OwnSettings(*settings),
            count,
            give_up_seconds,
            say,
            partial(build_joined, logs=folder / "logs"),
            learner_decides=policy == "learner",
        ).run()
    if mark:
        typer.echo(DRY_RUN_ENDED)
