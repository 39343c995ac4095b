"""A copy of a run in a directory of its own, kept up to date by asking the learner.

`RunCopy` promises:

- At any moment the run can be resumed from the directory, in the state of the last update:
  trajectories are written before the checkpoint and the logs that refer to them.
- An older copy stays as it is until a newer one is complete: that one is made in its subfolder
  `.copying`, and moved into place entry by entry. If the process is killed during that move, the
  directory is marked as not complete, and the next `begin` finishes the move.
- `replica.json` marks the directory as a copy, from which machine and when. A resume of a copy is
  refused unless losses are accepted (`engine.run.losses`).
- A directory that a learner has worked in is never overwritten.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from distrl.agent.export_directory import atomic_directory
from distrl.engine.run.losses import LearnerHome, ReplicaNote
from distrl.engine.run.run_card import FILE as CARD
from distrl.errors import DirectoryInUse
from distrl.json_lines import decode_line, encode_line, end_of_last_line
from distrl.learning.checkpoint import CheckpointFolder
from distrl.replay.store.trajectory_reader import StoreRows, TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.runs.run_directory import RunDirectory, write_whole
from distrl.runs.run_progress import copied_progress

PART_BYTES = 8 * 2**20  # of a file or of trajectories, in one call
WEIGHTS = "latest.json"
UNFINISHED = ".copying"
FOLDERS = ("trajectories", "checkpoints", "weights", "pictures")


# The learner's side -------------------------------------------------------------------------------


def list_files(run: RunDirectory) -> dict[str, int]:
    """Return the size of each file that a copy needs, by name; none before the run has begun."""
    if not run.metrics.exists():
        return {}
    return {str(each.relative_to(run.path)): each.stat().st_size for each in _files(run)}


def _files(run: RunDirectory) -> Iterator[Path]:
    yield from sorted(run.path.glob("*.jsonl"))
    yield from run.pictures.glob("*")
    latest = CheckpointFolder(run.checkpoints).latest()
    yield from sorted(latest.iterdir()) if latest else ()
    yield from sorted(run.weights.glob("weights-*"))[-1:]
    single = (run.weights / WEIGHTS, run.progress, run.config, run.path / CARD)
    yield from (each for each in single if each.exists())


def read_part(run: RunDirectory, name: str, offset: int) -> bytes:
    """Return at most `PART_BYTES` of a listed file, from `offset` on."""
    with (run.path / name).open("rb") as file:
        file.seek(offset)
        return file.read(PART_BYTES)


def read_rows(run: RunDirectory, after: int) -> StoreRows:
    return TrajectoryReader(run.trajectories).rows(after, PART_BYTES)


# The copy -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunSource:
    """The calls to the learner by which a copy is made."""

    files: Callable[[], dict[str, int]]
    part: Callable[[str, int], bytes]
    rows: Callable[[int], StoreRows]


class RunCopy:
    """Keeps a copy of a run in a directory."""

    def __init__(
        self, run: RunDirectory, source: RunSource, store: TrajectoryStoreSettings
    ) -> None:
        self._place = run
        self._draft = RunDirectory(run.path / UNFINISHED)
        self._run = self._draft  # what is written to; `_place` once that has a complete copy
        self._source = source
        self._store = store

    def begin(self) -> bool:
        """Prepare for a new copy; return False, touching nothing, if a learner has worked here."""
        if self._is_the_run_itself():
            return False
        if self._draft.replica.exists():  # complete, and the process that made it was killed
            self._put_in_place()
        self._place.make()
        self._discard_draft()
        self._draft.make()
        return True

    def update(self, learner: LearnerHome, host: LearnerHome, now: float) -> bool:
        """Copy what changed; return False if the run has not begun."""
        files = self._source.files()
        if not files:
            return False
        self._check_not_the_run_itself()
        self._copy_trajectories()
        files |= {name: size for name, size in self._source.files().items() if "weights" in name}
        checkpoints = {name for name in files if name.startswith("checkpoints/")}
        self._copy_checkpoint(files, checkpoints)
        for name in sorted(files.keys() - checkpoints, key=lambda each: each == "progress.json"):
            self._copy_file(name, files[name])
        _write_note(self._run, ReplicaNote(learner, host, now))
        if self._run is self._draft:
            self._check_not_the_run_itself()
            self._remove_what_is_no_more()
            self._put_in_place()
            self._run = self._place
        return True

    def _is_the_run_itself(self) -> bool:
        """Return whether a learner has worked in this directory, as on a shared disk."""
        return self._place.metrics.exists() and not self._place.replica.exists()

    def _check_not_the_run_itself(self) -> None:
        """Raise `DirectoryInUse` if a learner has begun to work here since `begin`."""
        if self._is_the_run_itself():
            self._discard_draft()
            raise DirectoryInUse(
                f"{self._place.path} is the run itself, on a disk that both machines see: set "
                "engine.shared_storage=true"
            )

    def _remove_what_is_no_more(self) -> None:
        """Remove what an older copy has and the newer one has not."""
        there = {each.name for each in self._draft.path.iterdir()}
        for each in list(self._place.path.iterdir()):
            if each.name not in there and each.suffix == ".jsonl":
                each.unlink()
            elif each.name not in there and each.name in FOLDERS:
                shutil.rmtree(each)

    def _put_in_place(self) -> None:
        """Move the finished draft into place; meanwhile `replica.json` says "not complete".

        Can be called again to finish a move that was interrupted.
        """
        note = decode_line(self._draft.replica.read_bytes(), ReplicaNote)
        _write_note(self._place, replace(note, written=0.0))
        for each in sorted(self._draft.path.iterdir(), key=_place_in_order):
            if each.name.startswith("."):
                continue  # a replaced folder of an older copy
            place = self._place.path / each.name
            if each.is_dir() and place.exists():
                place.rename(each.with_name(f".older-{each.name}"))
            each.replace(place)
        self._discard_draft()

    def _discard_draft(self) -> None:
        if self._draft.path.exists():
            shutil.rmtree(self._draft.path)

    def _copy_trajectories(self) -> None:
        with TrajectoryStore(self._run.trajectories, self._store) as store:
            while (copied := self._source.rows(store.position)).rows:
                store.take_rows(copied)

    def _copy_checkpoint(self, files: dict[str, int], names: set[str]) -> None:
        for folder in {(self._run.path / name).parent for name in names}:
            if folder.exists():
                continue
            with atomic_directory(folder) as unfinished:
                for name in names:
                    with (unfinished / Path(name).name).open("wb") as file:
                        for part in self._parts(name, 0, files[name]):
                            file.write(part)
            for older in CheckpointFolder(folder.parent).all()[:-1]:
                shutil.rmtree(older)

    def _copy_file(self, name: str, size: int) -> None:
        """Rewrite a JSON or TOML file; append to any other.

        An incomplete last line of a log is dropped first, as the learner may have removed it.
        """
        path = self._run.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".json", ".toml"):
            text = b"".join(self._parts(name, 0, size)).decode()
            write_whole(path, copied_progress(text) if path == self._run.progress else text)
            return
        with path.open("a+b") as file:
            if path.suffix == ".jsonl":
                file.truncate(end_of_last_line(file.fileno()))
            file.seek(0, os.SEEK_END)
            for part in self._parts(name, file.tell(), size):
                file.write(part)
        if path.parent == self._run.weights:
            for older in sorted(self._run.weights.glob("weights-*"))[:-1]:
                older.unlink()

    def _parts(self, name: str, begin: int, size: int) -> Iterator[bytes]:
        while begin < size:
            part = self._source.part(name, begin)[: size - begin]
            if not part:
                raise FileNotFoundError(f"{name} has become shorter than {size} bytes")
            yield part
            begin += len(part)


def _write_note(run: RunDirectory, note: ReplicaNote) -> None:
    write_whole(run.replica, encode_line(note).decode())


def _place_in_order(path: Path) -> tuple[bool, bool, bool, bool]:
    """Sort key: trajectories before what names them, then `progress.json`, then `replica.json`."""
    name = path.name
    return (name == "replica.json", name == "progress.json", path.is_file(), name != FOLDERS[0])
