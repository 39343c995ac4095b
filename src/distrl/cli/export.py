"""What `distrl export` does: a run's trajectories as one file for other tools, or its page.

The run may be going on: the file has what was stored when the export came to it. A trajectory is
written as soon as it is read, so memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from distrl.errors import UsageError
from distrl.records import Trajectory


def export(
    run: Annotated[Path, typer.Argument(help="The directory of a run.")],
    parquet: Annotated[
        Path | None, typer.Option(help="The Parquet file to write, a row per screen.")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(help="A folder for a static copy of the page of `distrl view`.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes in the bundle, the newest.")] = 100,
) -> None:
    """Write a run's trajectories to a Parquet file, or its page to a folder to publish."""
    if parquet is None and bundle is None:
        raise UsageError("nothing to export: give --parquet FILE, --bundle DIR, or both")
    if parquet is not None:
        _export_parquet(run, parquet)
    if bundle is not None:
        from distrl.view.bundle import write_bundle
        from distrl.view.resources import Resources
        from distrl.view.run_catalogue import RunCatalogue

        count = write_bundle(Resources(RunCatalogue.at(run)), bundle, episodes)
        typer.echo(f"{count} episodes: {bundle}; look at it: python -m http.server -d {bundle}")


def _export_parquet(run: Path, parquet: Path) -> None:
    from distrl.replay.store.parquet import export_parquet
    from distrl.replay.store.trajectory_reader import TrajectoryReader
    from distrl.runs.run_directory import RunDirectory

    directory = RunDirectory.existing(run)
    reader = TrajectoryReader(directory.trajectories)
    counted: set[str] = set()

    def trajectories() -> Iterator[Trajectory]:
        for stored in reader.read():
            if stored.trajectory.id not in counted:  # corrected while it was read: not again
                counted.add(stored.trajectory.id)
                yield stored.trajectory

    if not any(True for _ in reader.read()):
        raise UsageError(
            f"{run} has no stored trajectories to export; collect some with `distrl collect`"
        )
    rows = export_parquet(trajectories(), parquet)
    for damage in reader.damages:
        typer.echo(f"left out, {damage}")
    typer.echo(
        f"{len(counted)} trajectories in {rows} rows: {parquet}; to look at them: "
        f'datasets.load_dataset("parquet", data_files="{parquet}")'
    )
