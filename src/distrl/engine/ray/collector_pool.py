"""The collector actors of a run on a cluster: started, killed and replaced by their owner.

A collector that dies, fails or is unresponsive is replaced on whichever node has room; while none
has, the new actor waits in Ray's queue. Each exit is reported to the registry in the learner, which
answers with the pause before a restart, or that this collector is given up. If each node has one
policy for all of its collectors (`engine.policy`), the pool also manages their policy servers
(`policy_server_pool`). No method blocks.

Ray restarts the learner (`max_restarts`) and places all actors. We do not let it restart
collectors: its restart count has no time window and no pause, a lost node uses it up, a `play` that
raised an exception does not restart its actor, and an actor that hangs is never noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.collector_actor import Build, collector_actor
from distrl.engine.ray.learner_actor import RunSnapshot
from distrl.engine.ray.placement import alive_nodes, collector_options, is_done
from distrl.engine.ray.policy_server_pool import PolicyServerPool
from distrl.errors import PolicyServerGone

BEATS_PER_SECOND = 100.0  # of all collectors together, at most
SHORTEST_BEAT = 0.25  # seconds


@dataclass(slots=True)
class _Slot:
    """One collector: playing, or its exit being reported, or waiting to be started."""

    number: int
    actor: Any = None
    playing: Any = None  # its one call
    pause: Any = None  # the learner's answer to the report of its exit
    start_at: float | None = 0.0


class RayCollectorPool:
    """Starts collectors, and replaces them."""

    def __init__(
        self,
        config: TrainingConfig,
        run: str,  # its directory
        learner: Any,
        build: Build,
        say: Callable[[str], None],
    ) -> None:
        offline = config.learning.learner.mode == "offline"
        self._config = config
        self._learner = learner
        self._build = build
        self._say = say
        self._slots = [] if offline else [_Slot(n) for n in range(config.collector_count)]
        self._one_for_all = config.one_policy_per_node
        self._servers = PolicyServerPool(config, run, learner, say)

    def waited_for(self) -> list[Any]:
        """Return Ray references to wait on: when one is ready, call `look_after`."""
        calls = (slot.playing or slot.pause for slot in self._slots)
        return [call for call in calls if call is not None] + self._servers.waited_for()

    def look_after(self, now: float) -> None:
        """Handle collectors that ended, and start those that are due; the same for servers."""
        for slot in self._slots:
            if slot.playing is not None and is_done(slot.playing):
                self._on_exit(slot)
            elif slot.pause is not None and is_done(slot.pause):
                self._schedule(slot, now)
            elif slot.start_at is not None and now >= slot.start_at:
                self._start(slot)
        self._servers.look_after(now)

    def apply(self, snapshot: RunSnapshot) -> None:
        """Kill unresponsive collectors, and start policy servers on nodes that are new."""
        if self._one_for_all:
            self._servers.serve_at({info.place for info in snapshot.collectors}, snapshot.learner)
        for info, trouble in snapshot.unresponsive:
            slot = self._slots[info.number]
            if slot.playing is not None and not is_done(slot.playing):
                self._say(f"{info} {trouble}, and is killed")
                ray.kill(slot.actor)

    def server_words(self) -> str:
        """Return on one line where policy servers are; empty if collectors have their own."""
        return self._servers.words()

    @property
    def failure(self) -> PolicyServerGone | None:
        """Set when all policy servers were given up."""
        return self._servers.failure

    def kill(self) -> None:
        """Kill all actors, also those that still wait for a node."""
        for slot in self._slots:
            if slot.actor is not None:
                ray.kill(slot.actor)
        self._slots = []
        self._servers.kill()

    def _start(self, slot: _Slot) -> None:
        settings = self._config.collection
        beat_seconds = max(SHORTEST_BEAT, len(self._slots) / BEATS_PER_SECOND)
        options = collector_options(self._config, alive_nodes(), slot.number)
        slot.actor = collector_actor(**options).remote(
            self._learner,
            slot.number,
            self._build,
            beat_seconds,
            settings.heartbeat_seconds,
            fetches_weights=not self._one_for_all,
        )
        slot.playing, slot.start_at = slot.actor.play.remote(), None

    def _on_exit(self, slot: _Slot) -> None:
        """Handle an actor that has ended with the run, has failed, or was lost."""
        ray.kill(slot.actor)
        playing, slot.playing, slot.actor = slot.playing, None, None
        try:
            ray.get(playing)
            return
        except RayTaskError as error:
            self._say(f"collector {slot.number} failed: {error.cause!r}")
        except RayError as error:
            self._say(f"collector {slot.number} was lost ({type(error).__name__})")
        places = [node.place for node in alive_nodes()]
        slot.pause = self._learner.report_exit.remote(slot.number, places)

    def _schedule(self, slot: _Slot, now: float) -> None:
        answer, slot.pause = slot.pause, None
        try:
            pause: float | None = ray.get(answer)
        except RayError:
            return  # the learner is gone for good, and the run with it
        slot.start_at = None if pause is None else now + pause
