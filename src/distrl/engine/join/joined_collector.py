"""`distrl collect --join`: a collector that joins a learner on another machine, again and again.

It needs no Ray and no address that others can reach: all connections go out to the learner. It
receives the run's settings, brings its own devices, and plays with its own copy of the policy or
asks the learner's policy process (`learner_decides`). After a lost connection it joins again under
the same member id, with growing pauses; the collector is rebuilt and resumes from the state that
the learner has, and the spool is delivered first.

It ends when the learner says that the run is over, when it is asked to (Ctrl-C), when the learner
refuses it (a wrong token or fingerprint), or when nobody has answered for `give_up_seconds`.
"""

from __future__ import annotations

import contextlib
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

from distrl.agent.torch_device import use_threads
from distrl.config.training_config import TrainingConfig, load_joined_config
from distrl.engine.adb_wiring import recording_in
from distrl.engine.device_wiring import Sizes, check_phones
from distrl.engine.join.decision_wire import MAX_SCREENS, MAX_SIZES, PolicyQuestion
from distrl.engine.join.join_messages import (
    MAX_DELIVERY_BYTES,
    PROTOCOL,
    JoinHeartbeat,
    JoinRequest,
    Welcome,
)
from distrl.engine.join.join_session import End, JoinSession, LinkedAdmission, fetch_weights
from distrl.engine.join.learner_client import JOIN_AGAIN, LearnerClient
from distrl.engine.join.learner_policy import DECISION_SECONDS, LearnerPolicyLine
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.run.preflight import check_joined_disk, check_phones_here
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.serving.policy_client import PolicyClient
from distrl.engine.wiring import build_collector, build_inputs, build_weight_store
from distrl.episodes.collector import Collector
from distrl.episodes.policy_batcher import DecisionService
from distrl.episodes.scheduler import Admission
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.errors import InvalidSetting, JoinRefused, LearnerGone
from distrl.reporting.memory_estimate import estimate_joined_disk
from distrl.weights.weight_store import WeightPoller, WeightSource, WeightStore

FIRST_PAUSE, MAX_PAUSE = 1.0, 30.0  # seconds between two attempts to join

log = logging.getLogger(__name__)


Build = Callable[
    [
        TrainingConfig,
        str,
        TrajectorySink,
        WeightSource,
        Admission,
        ExitStack,
        DecisionService | None,
    ],
    Collector[Any],
]


def build_joined(
    config: TrainingConfig,
    name: str,
    sink: TrajectorySink,
    weights: WeightSource,
    admission: Admission,
    opened: ExitStack,
    batcher: DecisionService | None,  # None: its own policy decides
    *,
    logs: Path,
) -> Collector[Any]:
    """Build the collector that the settings describe, with all devices of this machine."""
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
        batcher=batcher,
    )


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """Settings of the joined machine: a TOML file and overrides such as `devices.count=4`."""

    file: Path | None = None
    overrides: Sequence[str] = ()
    environment: str = ""  # one of the learner's; empty: the first that fits these devices

    def beside(self, settings: str, number: int) -> TrainingConfig:
        return load_joined_config(settings, number, self.file, self.overrides, self.environment)


@dataclass(slots=True)
class JoinedCollector:
    """Joins the learner and plays, session after session, until the run is over."""

    client: LearnerClient
    spool: TrajectorySpool
    own: OwnSettings
    devices: int
    give_up_seconds: float
    say: Callable[[str], None]
    build: Build
    stop: StopRequest = field(default_factory=StopRequest)
    learner_decides: bool = False  # its policy process is asked; else a policy here decides
    _asked: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Return when the run is over or a stop was requested; the spool may not be empty."""
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
        """Retry until a session begins; return None if a stop was requested."""
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
        """Run one session: build the collector, play, and close its devices."""
        config = self.own.beside(welcome.settings, welcome.number)
        sizes = self._check(config)
        self._look_at_disk(config)
        use_threads(config.collection.threads)
        self.spool.begin(welcome.run)
        weights = self._weight_store(config, welcome.run)
        admission = LinkedAdmission()
        with ExitStack() as opened:
            batcher = self._ask_learner(welcome.name, sizes, admission, opened)
            if batcher is None:
                self._fetch_first(weights, admission)
            config, outbox = recording_in(
                config, self.spool.folder / f"refusals-{welcome.run}.jsonl"
            )
            collector = self.build(
                config, welcome.name, self.spool, WeightPoller(weights), admission, opened, batcher
            )
            collector.refusals = outbox
            if welcome.state:
                collector.load_state(json.loads(welcome.state))
            session = JoinSession(
                self.client,
                collector,
                self.spool,
                weights,
                admission,
                config.collection.heartbeat_seconds,
                fetches_weights=batcher is None,
            )
            where = f" in the environment {config.environment}" if config.environment else ""
            self.say(f"{welcome.name} plays on {config.devices.count} devices{where}")

            def wake() -> None:
                self._asked.set()
                collector.stop()

            self.stop.wake = wake
            try:
                return session.play() if not self._asked.is_set() else "stopped"
            finally:
                self.stop.wake = self._asked.set

    def _check(self, config: TrainingConfig) -> Sizes:
        """Raise if the phones, or the model where it is needed here, cannot be used; return the
        screen sizes that the learner's model must accept.
        """
        if self.learner_decides:
            if config.tasks.curriculum == "instruction_value":
                raise InvalidSetting(
                    "--policy learner with tasks.curriculum='instruction_value': its critic is "
                    "part of a policy; join with --policy own, or give the run another curriculum"
                )
            if config.agent.policy.past_screens >= MAX_SCREENS:
                raise InvalidSetting(
                    f"--policy learner with agent.policy.past_screens="
                    f"{config.agent.policy.past_screens}: a request has {MAX_SCREENS} screens at "
                    "most; join with --policy own"
                )
            return check_phones(config, self.spool.folder)
        check_phones_here(config, self.spool.folder, [build_inputs(config)])
        return {}

    def _look_at_disk(self, config: TrainingConfig) -> None:
        """Warn if the disk is too small for the weights and a full spool."""
        waiting = self.spool.max_waiting * MAX_DELIVERY_BYTES
        wanted = estimate_joined_disk(config, waiting, own_policy=not self.learner_decides)
        if words := check_joined_disk(self.spool.folder, wanted):
            self.say(words)

    def _ask_learner(
        self, name: str, sizes: Sizes, admission: LinkedAdmission, opened: ExitStack
    ) -> PolicyClient | None:
        """Return a client of the learner's policy process; None if a policy here decides.

        Raise `JoinRefused` if the run has none, or its model cannot take these phones' screens.
        """
        if not self.learner_decides:
            return None
        distinct = sorted(set(sizes.values()))[:MAX_SIZES]
        with contextlib.suppress(LearnerGone):  # it may answer later
            self.client.policy(PolicyQuestion(sizes=tuple(distinct)))
            admission.hear()
        line = opened.enter_context(LearnerPolicyLine(self.client, admission.hear))
        return PolicyClient(name, lambda: line, DECISION_SECONDS)

    def _weight_store(self, config: TrainingConfig, run: str) -> WeightStore:
        """Open the run's weights on this machine's disk; remove those of other runs."""
        folder = self.spool.folder / f"weights-{run}"
        for other in self.spool.folder.glob("weights-*"):
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        return build_weight_store(config, folder)

    def _fetch_first(self, weights: WeightStore, admission: LinkedAdmission) -> None:
        """Fetch the learner's weights before the first episode; go on without if that fails."""
        try:
            orders = self.client.heartbeat(JoinHeartbeat(0))
        except (LearnerGone, JoinRefused) as error:
            log.warning("no weights yet: %s", error)
            return
        admission.hear()
        if orders.weights is not None:
            fetch_weights(self.client, weights, orders.weights)
