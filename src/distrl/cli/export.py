"""`distrl export`: write a run's trajectories to files for other tools, or a copy of its page.

The run may still be going on: the files have the trajectories stored by the time they are read.
Trajectories are streamed, each written as soon as it is read, so memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import distrl
from distrl.errors import DistrlError, UsageError
from distrl.records import Trajectory

if TYPE_CHECKING:
    from distrl.replay.store.trajectory_reader import TrajectoryReader


def export(
    run: Annotated[Path, typer.Argument(help="The directory of a run.")],
    parquet: Annotated[
        Path | None, typer.Option(help="The Parquet file to write, a row per screen.")
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(help="A folder for a dataset of the Hugging Face hub.")
    ] = None,
    push: Annotated[
        str | None, typer.Option(help="With --dataset: upload it as OWNER/NAME, private.")
    ] = None,
    atif: Annotated[
        Path | None, typer.Option(help="A folder for ATIF files, one per trajectory.")
    ] = None,
    sessions: Annotated[
        Path | None, typer.Option(help="A folder for session traces of the hub (JSONL).")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(help="A folder for a static copy of the page of `distrl view`.")
    ] = None,
    episodes: Annotated[
        int, typer.Option(min=1, help="With --bundle: number of episodes, the newest first.")
    ] = 100,
) -> None:
    """Write a run's trajectories as a dataset, Parquet, ATIF or session traces, or its page."""
    if not any((parquet, dataset, atif, sessions, bundle)):
        raise UsageError(
            "nothing to export: give --parquet FILE, --dataset DIR, --atif DIR, --sessions DIR, "
            "--bundle DIR, or several"
        )
    if push is not None and dataset is None:
        raise UsageError(f"--push {push} uploads what --dataset DIR writes: give both")
    if parquet is not None:
        _export_parquet(run, parquet)
    if dataset is not None:
        _export_dataset(run, dataset, push)
    if atif is not None:
        _export_traces(run, atif, "atif")
    if sessions is not None:
        _export_traces(run, sessions, "sessions")
    if bundle is not None:
        from distrl.view.bundle import write_bundle
        from distrl.view.resources import Resources
        from distrl.view.run_catalogue import RunCatalogue

        count = write_bundle(Resources(RunCatalogue.at(run)), bundle, episodes)
        typer.echo(f"{count} episodes: {bundle}; look at it: python -m http.server -d {bundle}")


@dataclass(slots=True)
class StoredTrajectories:
    """Iterates over a run's stored trajectories, each once; prints damaged ones at the end."""

    reader: TrajectoryReader
    seen: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, run: Path) -> StoredTrajectories:
        from distrl.replay.store.trajectory_reader import TrajectoryReader
        from distrl.runs.run_directory import RunDirectory

        reader = TrajectoryReader(RunDirectory.existing(run).trajectories)
        if not any(True for _ in reader.read()):
            raise UsageError(
                f"{run} has no stored trajectories to export; collect some with `distrl collect`"
            )
        return cls(reader)

    def __iter__(self) -> Iterator[Trajectory]:
        for stored in self.reader.read():
            if stored.trajectory.id not in self.seen:  # a correction repeats it
                self.seen.add(stored.trajectory.id)
                yield stored.trajectory
        for damage in self.reader.damages:
            typer.echo(f"left out, {damage}")


def _export_parquet(run: Path, parquet: Path) -> None:
    from distrl.replay.store.parquet import export_parquet

    stored = StoredTrajectories.of(run)
    rows = export_parquet(stored, parquet)
    typer.echo(
        f"{len(stored.seen)} trajectories in {rows} rows: {parquet}; to look at them: "
        f'datasets.load_dataset("parquet", data_files="{parquet}")'
    )


def _export_dataset(run: Path, folder: Path, push_to: str | None) -> None:
    from distrl.replay.store.dataset_directory import DatasetFacts, push, write_dataset

    model, devices = _model_and_devices(run)
    facts = DatasetFacts(run.resolve().name, distrl.__version__, model, devices)
    count = write_dataset(StoredTrajectories.of(run), folder, facts)
    typer.echo(f'{count} trajectories: {folder}; to load them: datasets.load_dataset("{folder}")')
    if push_to is not None:
        typer.echo(push(folder, push_to))


def _export_traces(run: Path, folder: Path, form: str) -> None:
    from distrl.replay.store.agent_traces import TracedAgent, export_atif, export_sessions

    agent = TracedAgent(_model_and_devices(run)[0], distrl.__version__)
    write = export_atif if form == "atif" else export_sessions
    typer.echo(f"{write(StoredTrajectories.of(run), folder, agent)} trajectories: {folder}")


def _model_and_devices(run: Path) -> tuple[str, str]:
    """Return model and devices by the run's settings; "unknown" if they cannot be read."""
    from distrl.config.training_config import load_config
    from distrl.runs.run_directory import RunDirectory

    try:
        config = load_config(RunDirectory.existing(run).config)
    except DistrlError:
        return "unknown", "unknown"
    return config.agent.model, config.device_words
