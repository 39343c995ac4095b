"""A copy of a run on a second node, so that the loss of the learner's machine is not its end.

Without shared storage a run is on one disk. A `RunReplica` is an actor on another machine: every
`COPY_SECONDS` it asks the learner for what changed (settings, logs, the newest checkpoint and
weights, trajectories) and keeps it in a run directory of the same path on its own disk (`run_copy`
states the guarantees). With shared storage there is no copy.

It calls the learner, as collectors do; if the learner restarts, its calls wait. `ReplicaPool` is
for the command that owns the actor: it picks the machine and replaces a lost actor. A machine that
failed, for example on a full disk, is tried again after growing pauses (`MachinePauses`). rsync
over ssh would need keys between the nodes; objects in Ray's store do not survive their owner.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.engine.ray.placement import Node, alive_nodes, is_done
from distrl.engine.ray.run_copy import RunCopy, RunSource
from distrl.engine.run.losses import LearnerHome
from distrl.errors import storage_error
from distrl.replay.store.trajectory_store import TrajectoryStoreSettings
from distrl.reporting.memory_estimate import gigabytes
from distrl.runs.run_directory import RunDirectory

COPY_SECONDS = 20.0  # between two copies
PAUSE_SECONDS = 10.0  # before a replica that was lost is replaced
MAX_PAUSE_SECONDS = 600.0  # before a machine that failed again and again is tried again


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
        self._parents = (Path(path), *Path(path).parents)
        self._home, self._host = home, host
        self._complete = threading.Event()

    @ray.method(concurrency_group="keep")
    def keep(self) -> bool:
        """Keep the copy up to date for ever; return False only if none can be kept here."""
        try:
            if not self._copy.begin():
                return False
        except OSError as error:
            raise storage_error(error, "making room for a copy of the run") from error
        while True:
            try:
                if self._copy.update(self._home, self._host, time.time()):
                    self._complete.set()
            except RayTaskError as error:
                if not isinstance(error.cause, FileNotFoundError):  # a checkpoint that was replaced
                    raise
            except FileNotFoundError:
                pass  # as above
            except OSError as error:
                raise storage_error(error, "copying the run") from error
            time.sleep(COPY_SECONDS)

    @ray.method(concurrency_group="talk")
    def free_bytes(self) -> int:
        """Return the free bytes on the disk of the copy."""
        return shutil.disk_usage(next(each for each in self._parents if each.exists())).free

    @ray.method(concurrency_group="talk")
    def wait_complete(self) -> None:
        """Return when there is a complete copy."""
        self._complete.wait()


def replica_actor(node: Node) -> Any:
    remote: Any = ray.remote  # its types lack concurrency groups
    return remote(concurrency_groups={"keep": 1, "talk": 1})(RunReplica).options(
        num_cpus=0, max_restarts=0, resources={f"node:{node.address}": 0.001}
    )


class MachinePauses:
    """Pauses before a machine that could not keep a copy is tried again; they double."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._pauses: dict[str, float] = {}

    def failed(self, address: str, now: float) -> float:
        """Record a failure; return the pause in seconds."""
        pause = min(2.0 * self._pauses.get(address, PAUSE_SECONDS / 2.0), MAX_PAUSE_SECONDS)
        self._pauses[address] = pause
        self._until[address] = now + pause
        return pause

    def never_again(self, address: str) -> None:
        self._until[address] = float("inf")

    def succeeded(self, address: str) -> None:
        self._pauses.pop(address, None)
        self._until.pop(address, None)

    def may_try(self, address: str, now: float) -> bool:
        return now >= self._until.get(address, now)


class ReplicaPool:
    """The replica of a run, for the process that owns its actor; replaced when it is lost."""

    def __init__(
        self,
        path: str,
        store: TrajectoryStoreSettings,
        learner: Any,
        home: Node,
        say: Callable[[str], None],
        wanted: int = 0,  # bytes that a copy may take
    ) -> None:
        self._path = path
        self._store = store
        self._learner = learner
        self._home = home
        self._say = say
        self._wanted = wanted
        self._node: Node | None = None
        self._actor: Any = None
        self._keeping: Any = None
        self._completing: Any = None
        self._asking: Any = None  # the call of `free_bytes`, while it is open
        self._told: set[str] = set()  # addresses of machines with a reported small disk
        self._start_at = 0.0
        self._pauses = MachinePauses()
        self.host: LearnerHome | None = None  # the machine that has a complete copy

    def look_after(self, now: float, here: str) -> None:
        """Start or replace the actor, note a complete copy; `here`: id of the command's node."""
        if self._keeping is not None:
            self._look(now)
        elif now >= self._start_at:
            self._start_at = now + PAUSE_SECONDS
            node = self.choose(alive_nodes(), here, now)
            if node is not None:
                self._start(node)

    def choose(self, nodes: Collection[Node], here: str, now: float) -> Node | None:
        """Return the machine for the next copy; None if there is none now."""
        others = [
            node
            for node in nodes
            if node.address != self._home.address and self._pauses.may_try(node.address, now)
        ]
        # on the command's machine a resume finds it at once
        return min(others, key=lambda node: (node.id != here, node.address), default=None)

    def kill(self) -> None:
        if self._actor is not None:
            ray.kill(self._actor)

    def forget_lost_host(self, addresses: Collection[str]) -> None:
        """Forget the copy if its machine has left the cluster; `addresses`: of its nodes."""
        if self.host is not None and self.host.address not in addresses:
            self._say(f"the machine with the copy of the run, {self.host}, is gone")
            self.host = None

    def completed(self, node: Node) -> None:
        """Record that there is a complete copy on that machine."""
        self._pauses.succeeded(node.address)
        self.host = LearnerHome(node.hostname, node.address)
        self._say(f"a copy of the run is kept on {self.host}, in {self._path}")

    def look_at_disk(self, node: Node, free: int) -> None:
        """Warn, once for each machine, if a copy may need more disk than is free there."""
        if free >= self._wanted or node.address in self._told:
            return
        self._told.add(node.address)
        self._say(
            f"the copy of the run may take up to {gigabytes(self._wanted)} on {node.hostname}, "
            f"where {gigabytes(free)} are free at {self._path}; a full disk stops the copy, not "
            "the run: make room there, or lower store.byte_limit"
        )

    def failed(self, node: Node, cause: Exception, now: float) -> None:
        """Record that copying to that machine failed; a copy that is complete stays."""
        pause = self._pauses.failed(node.address, now)
        self._say(f"no copy of the run on {node.hostname}: {cause}; tried again in {pause:g} s")

    def _start(self, node: Node) -> None:
        self._node = node
        self._actor = replica_actor(node).remote(
            self._learner,
            self._path,
            self._store,
            LearnerHome(self._home.hostname, self._home.address),
            LearnerHome(node.hostname, node.address),
        )
        self._keeping = self._actor.keep.remote()
        self._asking = self._actor.free_bytes.remote()
        self._completing = self._actor.wait_complete.remote()

    def _look(self, now: float) -> None:
        assert self._node is not None
        if self._asking is not None and is_done(self._asking):
            with contextlib.suppress(RayError):  # the result of `keep` tells why
                self.look_at_disk(self._node, ray.get(self._asking))
            self._asking = None
        if is_done(self._keeping):
            keeping, self._keeping, self._completing = self._keeping, None, None
            self._start_at = now + PAUSE_SECONDS
            self._note_end(keeping, self._node, now)
        elif self._completing is not None and is_done(self._completing):
            self._completing = None
            self.completed(self._node)

    def _note_end(self, keeping: Any, node: Node, now: float) -> None:
        try:
            if not ray.get(keeping):
                self._pauses.never_again(node.address)
        except RayTaskError as error:
            self.failed(node, error.cause, now)
        except RayError as error:
            self._say(f"the copy of the run on {node.hostname} is lost ({type(error).__name__})")
