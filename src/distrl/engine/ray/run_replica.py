"""A copy of a run on a second node, so that the loss of the learner's machine is not its end.

Without shared storage a run is on one disk. A `RunReplica` is an actor on another machine: every
`COPY_SECONDS` it asks the learner for what changed (settings, logs, the newest checkpoint and
weights, trajectories) and keeps it in a run directory of the same path on its own disk. What it
promises:

- At every moment the copy is a run that can be resumed, as of the last time it was up to date:
  trajectories are written before the checkpoint and the logs that name them.
- `replica.json` says that the directory is a copy, of which machine and of when. A resume of a copy
  is refused unless losses are accepted (`engine.run.losses`).
- A directory that a learner has worked in is never overwritten; so on a disk that all nodes see,
  there is no copy.

It calls the learner, as collectors do; should the learner restart, its calls wait. `ReplicaPool` is
for the command that owns the actor: it picks the machine and replaces what was lost. rsync over ssh
would need keys between the nodes; Ray's own copies (object store) do not survive their owner.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.agent.export_directory import atomic_directory
from distrl.engine.ray.placement import Node, alive_nodes, is_done
from distrl.engine.run.losses import LearnerHome, ReplicaNote
from distrl.engine.run.run_card import FILE as CARD
from distrl.errors import StorageError, storage_error
from distrl.json_lines import encode_line, end_of_last_line
from distrl.learning.checkpoint import CheckpointFolder
from distrl.replay.store.trajectory_reader import StoreRows, TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.runs.run_directory import RunDirectory, write_whole
from distrl.runs.run_progress import copied_progress

COPY_SECONDS = 20.0  # between two copies
PAUSE_SECONDS = 10.0  # before a replica that was lost is replaced
PART_BYTES = 8 * 2**20  # of a file or of trajectories, in one call
WEIGHTS = "latest.json"


# The learner's side -------------------------------------------------------------------------------


def list_files(run: RunDirectory) -> dict[str, int]:
    """Bytes of each file of the run that a copy needs, by name; none before it has begun."""
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
    """At most `PART_BYTES` of a listed file."""
    with (run.path / name).open("rb") as file:
        file.seek(offset)
        return file.read(PART_BYTES)


def read_rows(run: RunDirectory, after: int) -> StoreRows:
    return TrajectoryReader(run.trajectories).rows(after, PART_BYTES)


# The copy -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunSource:
    """The calls by which a copy is made."""

    files: Callable[[], dict[str, int]]
    part: Callable[[str, int], bytes]
    rows: Callable[[int], StoreRows]


class RunCopy:
    """Keeps a copy of a run in a directory."""

    def __init__(
        self, run: RunDirectory, source: RunSource, store: TrajectoryStoreSettings
    ) -> None:
        self._run = run
        self._source = source
        self._store = store

    def begin(self) -> bool:
        """Clear what an earlier copy left; False: a learner has worked here, nothing is touched."""
        run = self._run
        if run.metrics.exists() and not run.replica.exists():
            return False
        run.make()
        for folder in (run.trajectories, run.checkpoints, run.weights, run.pictures):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (*run.path.glob("*.jsonl"), run.progress, run.replica):
            file.unlink(missing_ok=True)
        return True

    def update(self, learner: LearnerHome, host: LearnerHome, now: float) -> bool:
        """Copy what changed; False: the run has not begun."""
        files = self._source.files()
        if not files:
            return False
        if not self._run.replica.exists():  # before anything else: this is no run of its own
            self._write_note(ReplicaNote(learner, host, 0.0))
        self._copy_trajectories()
        files |= {name: size for name, size in self._source.files().items() if "weights" in name}
        checkpoints = {name for name in files if name.startswith("checkpoints/")}
        self._copy_checkpoint(files, checkpoints)
        for name in sorted(files.keys() - checkpoints, key=lambda each: each == "progress.json"):
            self._copy_file(name, files[name])
        self._write_note(ReplicaNote(learner, host, now))
        return True

    def _write_note(self, note: ReplicaNote) -> None:
        write_whole(self._run.replica, encode_line(note).decode())

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
        """Logs grow by whole lines (half a one may be taken back), pictures and weights not."""
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


class RunReplica:
    """The actor: keeps the copy until it is killed."""

    def __init__(
        self,
        learner: Any,
        path: str,
        store: TrajectoryStoreSettings,
        home: LearnerHome,
        host: LearnerHome,
    ) -> None:
        source = RunSource(
            lambda: dict(ray.get(learner.list_files.remote())),
            lambda name, offset: bytes(ray.get(learner.read_part.remote(name, offset))),
            lambda after: ray.get(learner.read_rows.remote(after)),
        )
        self._copy = RunCopy(RunDirectory(Path(path)), source, store)
        self._home, self._host = home, host
        self._complete = threading.Event()

    @ray.method(concurrency_group="keep")
    def keep(self) -> bool:
        """False: there can be no copy on this machine. Returns in no other case."""
        if not self._copy.begin():
            return False
        while True:
            try:
                if self._copy.update(self._home, self._host, time.time()):
                    self._complete.set()
            except RayTaskError as error:
                if not isinstance(error.cause, FileNotFoundError):  # a checkpoint that was replaced
                    raise
            except FileNotFoundError:
                pass  # the same
            except OSError as error:
                raise storage_error(error, "copying the run") from error
            time.sleep(COPY_SECONDS)

    @ray.method(concurrency_group="talk")
    def wait_complete(self) -> None:
        """Return when there is a complete copy."""
        self._complete.wait()


def replica_actor(node: Node) -> Any:
    remote: Any = ray.remote  # its types know nothing of groups
    return remote(concurrency_groups={"keep": 1, "talk": 1})(RunReplica).options(
        num_cpus=0, max_restarts=0, resources={f"node:{node.address}": 0.001}
    )


class ReplicaPool:
    """The replica of a run, for the process that owns its actor; replaced when it is lost."""

    def __init__(
        self,
        path: str,
        store: TrajectoryStoreSettings,
        learner: Any,
        home: Node,
        say: Callable[[str], None],
    ) -> None:
        self._path = path
        self._store = store
        self._learner = learner
        self._home = home
        self._say = say
        self._node: Node | None = None
        self._actor: Any = None
        self._keeping: Any = None
        self._completing: Any = None
        self._start_at = 0.0
        self._unfit: set[str] = set()  # addresses of machines that cannot have a copy
        self.host: LearnerHome | None = None  # the machine that has a complete copy

    def look_after(self, now: float, here: str) -> None:
        """Start, replace, take note of a complete copy; `here`: the id of the command's node."""
        if self._keeping is not None:
            self._look(now)
        elif now >= self._start_at:
            self._start_at = now + PAUSE_SECONDS
            self._start(here)

    def kill(self) -> None:
        if self._actor is not None:
            ray.kill(self._actor)

    def _start(self, here: str) -> None:
        others = [
            node for node in alive_nodes() if node.address not in {self._home.address, *self._unfit}
        ]
        if not others:
            return
        # on the command's machine a resume finds it at once
        self._node = min(others, key=lambda node: (node.id != here, node.address))
        self._actor = replica_actor(self._node).remote(
            self._learner,
            self._path,
            self._store,
            LearnerHome(self._home.hostname, self._home.address),
            LearnerHome(self._node.hostname, self._node.address),
        )
        self._keeping = self._actor.keep.remote()
        self._completing = self._actor.wait_complete.remote()

    def _look(self, now: float) -> None:
        assert self._node is not None
        if is_done(self._keeping):
            keeping, self._keeping, self._completing = self._keeping, None, None
            self._start_at = now + PAUSE_SECONDS
            self._note_end(keeping, self._node)
        elif self._completing is not None and is_done(self._completing):
            self._completing = None
            self.host = LearnerHome(self._node.hostname, self._node.address)
            self._say(f"a copy of the run is kept on {self.host}, in {self._path}")

    def _note_end(self, keeping: Any, node: Node) -> None:
        try:
            if not ray.get(keeping):
                self._unfit.add(node.address)
            return
        except RayTaskError as error:
            self._say(f"no copy of the run on {node.hostname}: {error.cause}")
            if isinstance(error.cause, StorageError):
                self._unfit.add(node.address)
        except RayError as error:
            self._say(f"the copy of the run on {node.hostname} is lost ({type(error).__name__})")
