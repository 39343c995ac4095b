"""Record what a run had at its last checkpoint in `progress.json`, and find what it lost since.

The sizes of the logs are recorded after an fsync: logs are append-only, so one with fewer bytes of
whole lines has lost some. A resume also compares the name of the checkpoint and the position of the
trajectory store (`engine.run.losses`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from distrl.config import toml_writer
from distrl.errors import storage_error
from distrl.json_lines import decode_line, encode_line, end_of_last_line
from distrl.runs.checked_json import is_as_written
from distrl.runs.run_directory import RunDirectory, write_whole
from distrl.runs.run_records import Loss
from distrl.toml_file import loads_toml, read_bounded

MEMBERS = "join/members.json"
UNLIKE_WRITTEN = "is not as it was written: its checksum does not match"


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run had at its last checkpoint."""

    checkpoint: str  # its name; empty: there was none
    position: int  # of the newest trajectory or correction in the store
    files: dict[str, int]  # bytes of files that are only ever appended to, by name
    copy: bool = False  # it was noted in a copy of the run, on a second machine
    card: bool = False  # there was a `card.json`
    phones: bool = False  # there was a `phones.json`


def note_progress(run: RunDirectory, checkpoint: Path | None, position: int) -> None:
    """Flush the logs to the disk, then write `progress.json` with what the run has now."""
    try:
        files = _log_sizes(run, os.fsync)
    except OSError as error:
        raise storage_error(error, f"writing the logs of {run.path} to the disk") from error
    name = checkpoint.name if checkpoint else ""
    progress = RunProgress(
        name, position, files, card=run.card.exists(), phones=run.phones.exists()
    )
    write_whole(run.progress, encode_line(progress).decode())


def config_losses(run: RunDirectory) -> list[Loss]:
    """Return a loss if `config.toml` is gone, unreadable, or does not match its checksum."""
    if not run.config.is_file():
        return [Loss("file", run.config.name, "is gone")]
    try:
        content = read_bounded(run.config)
        loads_toml(content)
    except (OSError, ValueError) as error:
        return [Loss("file", run.config.name, f"cannot be read: {error}")]
    if toml_writer.is_as_written(content):
        return []
    return [Loss("file", run.config.name, UNLIKE_WRITTEN)]


def summary_losses(run: RunDirectory, progress: RunProgress) -> Iterator[Loss]:
    """Yield a loss if result or card are damaged, or the card is gone; a resume rewrites both."""
    for path in (run.result, run.card):
        if path.exists() and not is_as_written(path.read_bytes()):
            yield Loss("file", path.name, UNLIKE_WRITTEN)
    if progress.card and not run.card.exists():
        yield Loss("file", run.card.name, "is gone")


def phone_losses(run: RunDirectory, progress: RunProgress) -> list[Loss]:
    """Return a loss if `phones.json` is damaged or gone: other phones are another experiment."""
    if run.phones.exists():
        whole = is_as_written(run.phones.read_bytes())
        return [] if whole else [Loss("file", run.phones.name, UNLIKE_WRITTEN)]
    return [Loss("file", run.phones.name, "is gone")] if progress.phones else []


def copied_progress(content: str) -> str:
    """Return `progress.json` for a copy of the run, marked as one beside its `replica.json`."""
    progress = decode_line(content.encode(), RunProgress)
    return encode_line(replace(progress, copy=True)).decode()


def read_progress(run: RunDirectory) -> tuple[RunProgress, list[Loss]]:
    """Read `progress.json`; return it and the losses of logs since. Empty before the first one."""
    progress = RunProgress("", 0, {})
    if not run.progress.exists():
        return progress, []
    try:
        progress = decode_line(run.progress.read_bytes(), RunProgress)
    except (OSError, ValueError) as error:
        return progress, [Loss("file", run.progress.name, f"cannot be read: {error}")]
    return progress, list(_missing(run, progress))


def _missing(run: RunDirectory, progress: RunProgress) -> Iterator[Loss]:
    if progress.copy and not run.replica.exists():
        reason = "is gone; the directory is a copy of a run on another machine, of some time ago"
        yield Loss("file", run.replica.name, reason)
    sizes = _log_sizes(run)
    for name, nbytes in progress.files.items():
        if (found := sizes.get(name, 0)) < nbytes:
            yield Loss("file", name, f"has {found} bytes of whole lines, and had {nbytes}")


def _log_sizes(
    run: RunDirectory, sync: Callable[[int], None] = lambda file: None
) -> dict[str, int]:
    """Return bytes of whole lines by file name; `MEMBERS` is included, since it only grows."""
    sizes = {}
    for path in (*sorted(run.path.glob("*.jsonl")), *run.path.glob(MEMBERS)):
        with path.open("rb") as file:
            sync(file.fileno())
            sizes[str(path.relative_to(run.path))] = end_of_last_line(file.fileno())
    return sizes
