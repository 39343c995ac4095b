"""The learner as a Ray actor: the whole run in its directory, and the calls that collectors make.

Ray restarts it when it dies and repeats the calls that were in progress: `train` resumes from the
last checkpoint, a delivery that was stored before is acknowledged as known, and collectors notice
nothing but a delay. Calls of collectors block until the run is assembled. The decisions are made by
`run_assembly`, `run.collection` and `supervision.collector_registry`; the actor only connects them.
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections import deque
from collections.abc import Collection as Several
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import ray

from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.delivery import Acknowledge, ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.live_relay import LiveRelay
from distrl.engine.ingest.messages import Heartbeat, Received, Refused
from distrl.engine.ray.evaluation_actor import evaluation_lane
from distrl.engine.ray.node_phones import check_node_phones
from distrl.engine.ray.placement import this_place
from distrl.engine.ray.run_copy import list_files, read_part, read_rows
from distrl.engine.ray.weight_broadcast import WeightBroadcast, WeightRef
from distrl.engine.run.collection import Arrived, AsynchronousCollection, Collection
from distrl.engine.run.resume import TrainingState
from distrl.engine.run.run_assembly import RunAssembly
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.supervision.collector_registry import (
    CollectorInfo,
    CollectorRegistry,
    HeartbeatReply,
    Registration,
)
from distrl.engine.supervision.restart_budget import patience_of
from distrl.engine.supervision.room_shares import RoomShares
from distrl.episodes.live_feed import LiveUpdate
from distrl.errors import CollectorsLost, DataLost
from distrl.replay.store.trajectory_reader import StoreRows
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point, RunResult
from distrl.runs.run_status import RunStatus
from distrl.weights.weight_store import WeightStore

# Threads of each concurrency group. Deliveries may block without delaying calls of other groups.
GROUPS = {"train": 1, "deliver": 16, "talk": 8, "copy": 1}
ANSWER_SECONDS = 0.1  # between two checks whether the run has ended
KEPT = 1000  # messages, and metric points, kept for the next poll

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class ViewUpdate:
    """Messages and metric points since the last update, and the status of the run."""

    origin: str  # the learner's process: a restarted one counts from 0
    said: int  # sentences so far
    recorded: int  # points so far
    sentences: tuple[str, ...]
    points: tuple[Point, ...]
    status: RunStatus | None


class RemoteView:
    """Implements `RunView` and `MetricSink`: buffers everything for a process that polls."""

    def __init__(self) -> None:
        self._origin = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._sentences: deque[str] = deque(maxlen=KEPT)
        self._points: deque[Point] = deque(maxlen=KEPT)
        self._said = 0
        self._recorded = 0
        self._status: RunStatus | None = None

    def show(self, status: RunStatus) -> None:
        self._status = status

    def say(self, sentence: str) -> None:
        with self._lock:
            self._sentences.append(sentence)
            self._said += 1

    def add(self, point: Point) -> None:
        with self._lock:
            self._points.append(point)
            self._recorded += 1

    def close(self) -> None:
        """Do nothing: the buffers may be polled once more."""

    def since(self, last: ViewUpdate | None) -> ViewUpdate:
        """Return what is new since `last`; everything, if `last` is of another process."""
        with self._lock:
            known = last if last is not None and last.origin == self._origin else None
            return ViewUpdate(
                self._origin,
                self._said,
                self._recorded,
                _newest(self._sentences, self._said - (known.said if known else 0)),
                _newest(self._points, self._recorded - (known.recorded if known else 0)),
                self._status,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the buffers may be polled once more."""


def _newest(kept: deque[Kept], count: int) -> tuple[Kept, ...]:
    return tuple(kept)[max(0, len(kept) - count) :]


class RemoteCollectors:
    """Hands deliveries from the threads of calls to the thread that stores them.

    Implements `Collectors` (`run.collection`): the thread of the collection takes all that has come
    and stores it in one commit. This class starts, kills and calls no collector: the command that
    owns the actors does that (`collector_pool`), and orders are the replies to heartbeats.
    """

    def __init__(self) -> None:
        self._deliveries: queue.SimpleQueue[tuple[bytes, Acknowledge]] = queue.SimpleQueue()
        self._closed = False

    def deliver(self, encoded: bytes) -> Received | Refused:
        """Block until the trajectory is durable or refused, longer while the learner is behind.

        Thread-safe.
        """
        answer: Future[Received | Refused] = Future()
        self._deliveries.put((encoded, answer.set_result))
        while not self._closed:
            try:
                return answer.result(ANSWER_SECONDS)
            except NotYet:
                continue
        if answer.done():
            return answer.result()
        raise CollectorsLost("the learner has ended; what was not acknowledged is not stored")

    def receive(self, seconds: float) -> Arrived:
        arrived = Arrived([], [])
        try:
            arrived.deliveries.append(self._deliveries.get(timeout=seconds))
            while True:
                arrived.deliveries.append(self._deliveries.get_nowait())
        except queue.Empty:
            return arrived

    def look_after(self) -> None:
        """Do nothing: the command that owns the actors replaces them."""

    def close(self) -> None:
        """Fail the calls of `deliver` that still wait for an answer."""
        self._closed = True


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """The state of a run, polled by the command that started it."""

    view_update: ViewUpdate
    learner: str  # its node
    collectors: tuple[CollectorInfo, ...]
    unresponsive: tuple[tuple[CollectorInfo, str], ...]  # and why they must be killed
    began: bool = False  # whether it has worked in its directory


class RayLearner:
    """The actor: one run. `resumed`: continue from the directory, as after every restart."""

    def __init__(
        self,
        config: TrainingConfig,
        path: str,
        *,
        resumed: bool,
        accept_losses: bool = False,
        home: str = "",  # where the learner of this run was before; empty: nowhere
    ) -> None:
        self._config = config
        self._run = RunDirectory(Path(path))
        self._resumed = resumed
        self._accept_losses = accept_losses
        self._home = home
        self._view = RemoteView()
        self._stop = StopRequest()
        self._arrivals = ArrivalQueue()
        self._broadcast: WeightBroadcast | None = None
        self._registry: CollectorRegistry | None = None
        self._collectors = RemoteCollectors()
        self._live = LiveRelay(self._run.path)
        self._ready = threading.Event()

    @ray.method(concurrency_group="train")
    def train(self) -> RunResult:
        """Train to the end; raise `StopRequested` if `stop` was called before that."""
        again = bool(ray.get_runtime_context().was_current_actor_reconstructed)
        self._stop.wake = self._arrivals.wake
        self._prepare(again=again)
        self._view.say(f"the learner is {'back ' if again else ''}on {this_place()}")
        return RunAssembly(
            self._config,
            self._run,
            self._view,
            self._stop,
            self._arrivals,
            open_publisher=self._open_broadcast,
            open_collection=self._open_collection,
            asks_first=not again,
            ask_phones=check_node_phones,
            lane=evaluation_lane(self._config),
            sinks=[self._view],
        ).assemble_and_run(
            resumed=self._resumed or again, accept_losses=self._accept_losses and not again
        )

    def _prepare(self, *, again: bool) -> None:
        """Make the run directory on this machine; raise `DataLost` if the run was elsewhere.

        `config.toml` is no proof of a run: the command writes it too. Metrics are a learner's own.
        """
        if self._run.metrics.exists():
            return
        if (self._home and not self._accept_losses) or (again and not self._run.config.is_file()):
            raise DataLost(
                f"{self._run.path} is not on {this_place()}, where the learner was to go on, but "
                f"on {self._home or 'another node'}. Put the run on a disk that all nodes see, or "
                "resume it where its directory is; to start over from nothing: distrl train "
                f"--resume {self._run.path} --accept-losses"
            )
        if not self._run.config.is_file():
            self._run.make()
            self._run.write_config(self._config)

    def _open_broadcast(self, weights: WeightStore) -> WeightBroadcast:
        self._broadcast = WeightBroadcast(weights)
        return self._broadcast

    def _open_collection(
        self,
        opened: ExitStack,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        state: TrainingState,
    ) -> Collection:
        if self._config.learning.learner.mode == "offline":
            return Collection()
        assert self._broadcast is not None
        self._broadcast.send_latest()
        settings, arrivals = self._config.collection, self._arrivals
        self._registry = CollectorRegistry(
            count=self._config.collector_count,
            restarts=settings.restarts,
            silent_seconds=patience_of(settings.heartbeat_seconds),
            run=self._run,
            episode_log=episode_log,
            waiting=lambda: len(arrivals) + receiver.unjudged,
            wanted=lambda: receiver.room,
            shares=RoomShares.of(self._config),
            say=self._view.say,
            wake=arrivals.wake,
        )
        self._registry.load_states(state.collectors)
        collection = AsynchronousCollection(self._registry, self._collectors, receiver, arrivals)
        opened.callback(collection.kill)
        self._ready.set()
        return collection

    # For collectors -----------------------------------------------------------------------------

    @ray.method(concurrency_group="talk")
    def register(self, number: int, place: str, process: str) -> Registration:
        return self._when_ready().register(number, place, process)

    @ray.method(concurrency_group="deliver")
    def deliver(self, encoded: bytes) -> Received | Refused:
        return self._collectors.deliver(encoded)

    @ray.method(concurrency_group="talk")
    def heartbeat(
        self,
        info: CollectorInfo,
        in_flight: int,
        full: Heartbeat | None,
        version: int | None,
        live: LiveUpdate,
    ) -> tuple[HeartbeatReply, WeightRef | None]:
        """Return orders, and weights newer than `version` (None: the collector needs none)."""
        orders = self._when_ready().heartbeat(info, in_flight, full)
        self._live.take(info.name, live)
        orders = replace(orders, watched=self._live.watched)
        return orders, None if version is None else self._offer(version)

    @ray.method(concurrency_group="talk")
    def deregister(self, info: CollectorInfo, last: Heartbeat) -> None:
        self._when_ready().deregister(info, last)

    # For policy servers -------------------------------------------------------------------------

    @ray.method(concurrency_group="talk")
    def newer_weights(self, version: int) -> WeightRef | None:
        """Return weights newer than `version` for a policy server to fetch, if there are any."""
        self._when_ready()
        return self._offer(version)

    def _offer(self, version: int) -> WeightRef | None:
        assert self._broadcast is not None
        return self._broadcast.newer_than(version)

    def _when_ready(self) -> CollectorRegistry:
        self._ready.wait()
        assert self._registry is not None
        return self._registry

    # For the copy of the run ---------------------------------------------------------------------

    @ray.method(concurrency_group="copy")
    def list_files(self) -> dict[str, int]:
        return list_files(self._run)

    @ray.method(concurrency_group="copy")
    def read_part(self, name: str, offset: int) -> bytes:
        return read_part(self._run, name, offset)

    @ray.method(concurrency_group="copy")
    def read_rows(self, after: int) -> StoreRows:
        return read_rows(self._run, after)

    # For the command that started it -------------------------------------------------------------

    @ray.method(concurrency_group="talk")
    def look(self, last: ViewUpdate | None) -> RunSnapshot:
        registry = self._registry if self._ready.is_set() else None
        return RunSnapshot(
            view_update=self._view.since(last),
            learner=this_place(),
            collectors=tuple(registry.collectors()) if registry else (),
            began=self._run.metrics.exists(),
            unresponsive=tuple(registry.unresponsive()) if registry else (),
        )

    @ray.method(concurrency_group="talk")
    def report_exit(self, number: int, places: Several[str]) -> float | None:
        """Record an exit (`places`: live nodes); return seconds to a restart, None: given up."""
        registry = self._when_ready()
        nodes = [info.place for info in registry.collectors() if info.number == number]
        lost = bool(nodes) and nodes[0] not in places
        trouble = "is gone, with its node" if lost else "is gone"
        return registry.report_exit(number, trouble, node_lost=lost)

    @ray.method(concurrency_group="talk")
    def stop(self) -> None:
        """Ask for an orderly end: `train` writes a checkpoint and raises `StopRequested`."""
        self._stop.asked = True
        self._stop.wake()


def learner_actor(**options: Any) -> Any:
    """The actor class, to be started with `.remote`."""
    remote: Any = ray.remote  # its types lack concurrency groups
    return remote(concurrency_groups=GROUPS)(RayLearner).options(**options)
