"""The learner as a Ray actor: the whole run in its directory, and the office that collectors call.

Ray starts it again when it dies and repeats the calls that were under way: `train` goes on from the
last checkpoint, a delivery that was stored before is acknowledged as known, and collectors notice
nothing but a wait. Calls of collectors wait until the run is put together. Nothing here decides
anything: `run_assembly` and `collector_office` do.
"""

from __future__ import annotations

import threading
from collections.abc import Collection as Several
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray

from distrl.config.training_config import TrainingConfig
from distrl.engine.arrival_queue import ArrivalQueue
from distrl.engine.collection import Collection
from distrl.engine.collector_office import Badge, CollectorOffice, Orders, Welcome
from distrl.engine.episode_ledger import EpisodeLedger
from distrl.engine.messages import Heartbeat, Received, Refused
from distrl.engine.one_process_collection import NoCollection
from distrl.engine.ray_collection import RayCollection
from distrl.engine.ray_place import this_place
from distrl.engine.reception import Reception
from distrl.engine.relayed_view import Glimpse, RelayedView
from distrl.engine.run_assembly import RunAssembly
from distrl.engine.stop_request import StopRequest
from distrl.engine.training_state import TrainingState
from distrl.engine.weight_broadcast import WeightBroadcast, WeightOffer
from distrl.errors import UsageError
from distrl.reporting.run_directory import RunDirectory
from distrl.reporting.run_records import RunResult
from distrl.weights.weight_store import WeightStore

# Threads for each kind of call. Deliveries wait while the learner is behind, and hold up no other.
GROUPS = {"train": 1, "deliver": 16, "talk": 8}


@dataclass(frozen=True, slots=True)
class Sight:
    """The run as whoever started it sees it."""

    glimpse: Glimpse
    learner: str  # where it is
    collectors: tuple[Badge, ...]
    silent: tuple[Badge, ...]  # those that hang


class RayLearner:
    """One run. `resumed`: it goes on with what is in the directory, as after every restart."""

    def __init__(self, config: TrainingConfig, path: str, *, resumed: bool) -> None:
        self._config = config
        self._run = RunDirectory(Path(path))
        self._resumed = resumed
        self._view = RelayedView()
        self._stop = StopRequest()
        self._arrivals = ArrivalQueue()
        self._broadcast: WeightBroadcast | None = None
        self._office: CollectorOffice | None = None
        self._ready = threading.Event()

    @ray.method(concurrency_group="train")
    def train(self) -> RunResult:
        """To the end; `StopRequested` if `stop` was called before."""
        again = bool(ray.get_runtime_context().was_current_actor_reconstructed)
        self._stop.wake = self._arrivals.wake
        self._prepare(again=again)
        self._view.say(f"the learner is {'back ' if again else ''}on {this_place()}")
        assembly = RunAssembly(self._config, self._run, self._view, self._stop, self._arrivals)
        return assembly.train(self, resumed=self._resumed or again)

    def _prepare(self, *, again: bool) -> None:
        """The directory may be on another machine than the command that made it."""
        if self._run.config.is_file():
            return
        if again or self._resumed:
            raise UsageError(
                f"{self._run.path} is not on {this_place()}, where the learner was to go on; put "
                "the run on a disk that all nodes see, or start it where its directory is"
            )
        self._run.path.mkdir(parents=True, exist_ok=True)
        self._run.write_config(self._config)

    # What it has of its own: an `Arrangement` ----------------------------------------------------

    def publisher(self, weights: WeightStore) -> WeightBroadcast:
        self._broadcast = WeightBroadcast(weights)
        return self._broadcast

    def collection(
        self, opened: ExitStack, reception: Reception, ledger: EpisodeLedger, state: TrainingState
    ) -> Collection:
        if self._config.learning.learner.mode == "offline":
            return NoCollection()
        assert self._broadcast is not None
        settings = self._config.collection
        self._office = CollectorOffice(
            count=settings.collectors,
            restarts=settings.restarts,
            heartbeat_seconds=settings.heartbeat_seconds,
            run=self._run,
            reception=reception,
            ledger=ledger,
            waiting=self._arrivals.__len__,
            say=self._view.say,
            wake=self._arrivals.wake,
        )
        self._office.open(state.collectors)
        opened.callback(self._office.close)
        self._ready.set()
        return RayCollection(self._office, self._arrivals, self._broadcast)

    # For collectors -----------------------------------------------------------------------------

    @ray.method(concurrency_group="talk")
    def enlist(self, number: int, place: str) -> Welcome:
        return self._when_ready().enlist(number, place)

    @ray.method(concurrency_group="deliver")
    def deliver(self, encoded: bytes) -> Received | Refused:
        return self._when_ready().deliver(encoded)

    @ray.method(concurrency_group="talk")
    def beat(
        self, badge: Badge, in_flight: int, beat: Heartbeat | None, version: int | None
    ) -> tuple[Orders, WeightOffer | None]:
        """`version`: the newest weights that it has fetched; newer ones are offered. None: none."""
        orders = self._when_ready().beat(badge, in_flight, beat)
        return orders, None if version is None else self._offer(version)

    @ray.method(concurrency_group="talk")
    def leave(self, badge: Badge, last: Heartbeat) -> None:
        self._when_ready().leave(badge, last)

    # For policy servers -------------------------------------------------------------------------

    @ray.method(concurrency_group="talk")
    def newer_weights(self, version: int) -> WeightOffer | None:
        """What a server with these weights should fetch."""
        self._when_ready()
        return self._offer(version)

    def _offer(self, version: int) -> WeightOffer | None:
        assert self._broadcast is not None
        return self._broadcast.newer_than(version)

    def _when_ready(self) -> CollectorOffice:
        self._ready.wait()
        assert self._office is not None
        return self._office

    # For whoever started it ---------------------------------------------------------------------

    @ray.method(concurrency_group="talk")
    def look(self, last: Glimpse | None) -> Sight:
        office = self._office if self._ready.is_set() else None
        return Sight(
            glimpse=self._view.since(last),
            learner=this_place(),
            collectors=tuple(office.badges()) if office else (),
            silent=tuple(office.silent()) if office else (),
        )

    @ray.method(concurrency_group="talk")
    def gone(self, number: int, places: Several[str]) -> float | None:
        """A collector has died; seconds until another may begin, None: it is given up."""
        return self._when_ready().gone(number, places)

    @ray.method(concurrency_group="talk")
    def stop(self) -> None:
        """Ask for an orderly end: `train` writes a checkpoint and raises `StopRequested`."""
        self._stop.asked = True
        self._stop.wake()


def learner_actor(**options: Any) -> Any:
    """The actor class, to be started with `.remote`."""
    remote: Any = ray.remote  # its types know nothing of groups
    return remote(concurrency_groups=GROUPS)(RayLearner).options(**options)
