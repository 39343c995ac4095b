"""`distrl collect --join`: a collector that joins a learner on another machine, again and again.

It needs no Ray and no address that others can reach: all connections go out to the learner. It is
told the run's settings, brings its own devices, and plays with its own copy of the policy. After a
cut it joins again under the same member id, with pauses that grow; the collector is built anew and
goes on from the state that the learner has, and the spool is delivered first.

It ends when the learner says that the run is over, when it is asked to (Ctrl-C), when the learner
refuses it (a wrong token or fingerprint), or when nobody has answered for `give_up_seconds`.
"""

from __future__ import annotations

import json
import logging
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distrl.agent.loading import input_builder
from distrl.agent.torch_device import use_threads
from distrl.config.training_config import TrainingConfig, load_joined_config
from distrl.engine.join.join_messages import PROTOCOL, JoinHeartbeat, JoinRequest, Welcome
from distrl.engine.join.join_session import End, JoinSession, LinkedAdmission, fetch_weights
from distrl.engine.join.learner_client import LearnerClient
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.run.preflight import check_phones_here
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.wiring import build_collector, build_weight_store, start_adapter
from distrl.episodes.collector import Collector, TrajectorySink
from distrl.episodes.scheduler import Admission
from distrl.errors import JoinRefused, LearnerGone
from distrl.weights.weight_store import WeightPoller, WeightSource, WeightStore

FIRST_PAUSE, MAX_PAUSE = 1.0, 30.0  # seconds between two attempts to join
JOIN_AGAIN = (409, 410)  # statuses after which a new session helps

log = logging.getLogger(__name__)


Build = Callable[
    [TrainingConfig, str, TrajectorySink, WeightSource, Admission, ExitStack], Collector[Any]
]


def build_joined(
    config: TrainingConfig,
    name: str,
    sink: TrajectorySink,
    weights: WeightSource,
    admission: Admission,
    opened: ExitStack,
    *,
    logs: Path,
) -> Collector[Any]:
    """The collector that the settings say, with all devices of this machine."""
    logs.mkdir(parents=True, exist_ok=True)
    return build_collector(
        config,
        name,
        0,
        sink=sink,
        weights=weights,
        admission=admission,
        opened=opened,
        logs=logs,
    )


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """What the joined machine says itself: a TOML file and words such as `devices.count=4`."""

    file: Path | None = None
    overrides: Sequence[str] = ()

    def beside(self, settings: str, number: int) -> TrainingConfig:
        return load_joined_config(settings, number, self.file, self.overrides)


@dataclass(slots=True)
class JoinedCollector:
    """Joins and plays until it is over."""

    client: LearnerClient
    spool: TrajectorySpool
    own: OwnSettings
    devices: int
    give_up_seconds: float
    say: Callable[[str], None]
    build: Build
    stop: StopRequest = field(default_factory=StopRequest)
    _asked: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Return when the run is over, or when a stop was asked for; the spool may have more."""
        self.stop.wake = self._asked.set
        with self.stop:
            while not self._asked.is_set():
                welcome = self._join()
                if welcome is None:
                    return
                end = self._play(welcome)
                self.say(self._words(welcome, end))
                if end in ("over", "stopped"):
                    return

    def _words(self, welcome: Welcome, end: End) -> str:
        words = {
            "over": "the run is over",
            "stopped": "stopped",
            "lost": "the learner does not answer; no phone is touched until it does",
            "superseded": "the learner has ended the session; joining again",
        }[end]
        left = f", and {len(self.spool)} trajectories wait in {self.spool.folder}"
        return f"{welcome.name}: {words}{left if len(self.spool) else ''}"

    def _join(self) -> Welcome | None:
        """A session, waited for; None: a stop was asked for."""
        since, pause, said = time.monotonic(), FIRST_PAUSE, False
        while not self._asked.is_set():
            request = JoinRequest(
                PROTOCOL, self.spool.member, secrets.token_hex(16), socket.gethostname()[:100],
                self.devices,
            )  # fmt: skip
            try:
                return self.client.join(request)
            except JoinRefused as error:
                if error.status not in JOIN_AGAIN:
                    raise
            except LearnerGone as error:
                if time.monotonic() - since >= self.give_up_seconds:
                    raise
                if not said:
                    self.say(f"{error}; trying again, with pauses up to {MAX_PAUSE:g} s")
                said = True
            self._asked.wait(pause)
            pause = min(MAX_PAUSE, 2.0 * pause)
        return None

    def _play(self, welcome: Welcome) -> End:
        """One session: build the collector, play, and close its devices."""
        config = self.own.beside(welcome.settings, welcome.number)
        check_phones_here(config, [input_builder(config.agent.model, start_adapter(config))])
        use_threads(config.collection.threads)
        self.spool.begin(welcome.run)
        weights = self._weight_store(config, welcome.run)
        admission = LinkedAdmission()
        with ExitStack() as opened:
            self._fetch_first(weights, admission)
            collector = self.build(
                config, welcome.name, self.spool, WeightPoller(weights), admission, opened
            )
            if welcome.state:
                collector.load_state(json.loads(welcome.state))
            session = JoinSession(
                self.client,
                collector,
                self.spool,
                weights,
                admission,
                config.collection.heartbeat_seconds,
            )
            self.say(f"{welcome.name} plays on {config.devices.count} devices")

            def wake() -> None:
                self._asked.set()
                collector.stop()

            self.stop.wake = wake
            try:
                return session.play() if not self._asked.is_set() else "stopped"
            finally:
                self.stop.wake = self._asked.set

    def _weight_store(self, config: TrainingConfig, run: str) -> WeightStore:
        """The weights of this run, on this machine's disk; those of another run are removed."""
        folder = self.spool.folder / f"weights-{run}"
        for other in self.spool.folder.glob("weights-*"):
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        return build_weight_store(config, folder)

    def _fetch_first(self, weights: WeightStore, admission: LinkedAdmission) -> None:
        """So that the first episode is played with the learner's weights. May do without."""
        try:
            orders = self.client.heartbeat(JoinHeartbeat(0))
        except (LearnerGone, JoinRefused) as error:
            log.warning("no weights yet: %s", error)
            return
        admission.hear()
        if orders.weights is not None:
            fetch_weights(self.client, weights, orders.weights)
