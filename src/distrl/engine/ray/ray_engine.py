"""A run on a Ray cluster, as the command that starts it sees it.

    learner      an actor (`learner_actor`); Ray restarts it, and it resumes from its checkpoint
    collectors   actors (`collector_actor`) wherever there are phones (`placement`), started and
                 replaced by a `collector_pool`
    servers      actors (`policy_server_pool`), one on each node that has collectors, where these
                 have no policy of their own

This process owns them all, shows how the run goes, and passes Ctrl-C on. When it ends, so do they;
the run can be resumed.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from rich.console import Console

from distrl.config.training_config import TrainingConfig
from distrl.engine.device_wiring import is_dry
from distrl.engine.ray.cluster.connection import connect, disconnect, head_address
from distrl.engine.ray.collector_actor import Build, ConfiguredBuild
from distrl.engine.ray.collector_pool import RayCollectorPool
from distrl.engine.ray.learner_actor import RunSnapshot, learner_actor
from distrl.engine.ray.placement import (
    LEARNER_RESTARTS,
    Node,
    alive_nodes,
    computing_on,
    is_done,
    learner_node,
    learner_options,
)
from distrl.engine.run.losses import LearnerHome, read_home, write_home
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.errors import DistrlError, LearnerGone
from distrl.reporting.live_view import LiveView
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult

LOOK_SECONDS = 0.25  # between two looks at the run
NODE_LOOK_SECONDS = 2.0  # between two looks whether the learner's node is there
NODE_SECONDS = 600.0  # that it may be cut off


class RayEngine:
    """Runs one training run in its directory on a cluster. Use it once."""

    def __init__(
        self,
        config: TrainingConfig,
        run: RunDirectory,
        console: Console,
        build: Build | None = None,
    ) -> None:
        self.config = config
        self.directory = run
        self._build = build or ConfiguredBuild(_for_collectors(config), str(run.path.absolute()))
        seconds, mark = config.reporting.line_seconds, "DRY RUN" if is_dry(config) else ""
        self._view = LiveView(console, line_seconds=seconds, mark=mark)
        self._stop = StopRequest()
        self._node: Node | None = None  # of the learner
        self._node_gone: float | None = None  # since when
        self._node_looked = -float("inf")
        self._remembered = False  # is it written down where the learner is?

    def train(self, *, resumed: bool = False, accept_losses: bool = False) -> RunResult:
        """Train to the end. `StopRequested`: it was stopped before."""
        connect(self.config.engine.address or None, needs=self._needs())
        try:
            with self._stop, self._view:
                return self._run(resumed=resumed, accept_losses=accept_losses)
        finally:
            disconnect()

    def _needs(self) -> dict[str, float]:
        """What the cluster must have; a private one is given phones for all collectors."""
        settings = self.config.engine
        if settings.phones == "auto":
            return {}
        private = settings.address in {"", "local"}
        one_share = self.config.devices_per_collector
        return {settings.phones: float(self.config.devices.count if private else one_share)}

    def _run(self, *, resumed: bool, accept_losses: bool) -> RunResult:
        path = str(self.directory.path.absolute())
        home = read_home(self.directory) if resumed else None
        began_here = resumed and self.directory.metrics.exists()
        node = self._learner_node(home, anywhere=began_here or accept_losses)
        self._node = node
        options = learner_options(
            self.config.engine, alive_nodes(), node, self.config.learning.gpus
        )
        learner = learner_actor(**options).remote(
            self.config,
            path,
            resumed=resumed,
            accept_losses=accept_losses,
            home=str(home or ("the machine of this command" if began_here else "")),
        )
        pool = RayCollectorPool(self.config, path, learner, self._build, self._view.say)
        try:
            training = learner.train.remote()
            self._look_after(learner, training, pool)
            if (failure := pool.failure) is not None:
                raise failure
            return self._result(training)
        finally:
            pool.kill()
            ray.kill(learner)

    def _learner_node(self, home: LearnerHome | None, *, anywhere: bool) -> Node:
        """The node of the learner: where it was before, if that is a node of the cluster now.

        Where it is not, any other will do if the run can be seen from here as well (a disk that all
        see, though `shared_storage` was not said), or is to start over.
        """
        nodes, here = alive_nodes(), ray.get_runtime_context().get_node_id()
        gpus = self.config.learning.gpus
        at_home = None if self.config.engine.shared_storage else home
        node = learner_node(nodes, here, gpus, at_home)
        if node is None and anywhere:
            node = learner_node(nodes, here, gpus)
        if node is None:
            raise LearnerGone(
                f"the learner of {self.directory.path} was on {home}, which is no node of the "
                f"cluster now, and what it learned is on the disk there. Join that machine again "
                f"(distrl cluster join {head_address()}) and resume; to start over from nothing: "
                f"distrl train --resume {self.directory.path} --accept-losses"
            )
        return node

    def _result(self, training: Any) -> RunResult:
        try:
            result: RunResult = ray.get(training)
        except RayTaskError as error:
            if isinstance(error.cause, DistrlError | StopRequested):
                raise error.cause from None
            raise
        except RayError as error:
            raise LearnerGone(
                f"the learner died more than {LEARNER_RESTARTS} times, or its node is gone "
                f"({type(error).__name__}); when that is mended, go on from its checkpoint: distrl "
                f"train --resume {self.directory.path}"
            ) from None
        return result

    # While it goes on ---------------------------------------------------------------------------

    def _look_after(self, learner: Any, training: Any, pool: RayCollectorPool) -> None:
        """Until the training has ended, or failed."""
        last: RunSnapshot | None = None
        looking, looked, told_to_stop = learner.look.remote(None), time.monotonic(), False
        while not is_done(training):
            self._check_node(time.monotonic())
            ray.wait([training, *pool.waited_for()], num_returns=1, timeout=LOOK_SECONDS)
            pool.look_after(time.monotonic())
            if (self._stop.asked or pool.failure) and not told_to_stop:
                told_to_stop = True
                learner.stop.remote()
            if time.monotonic() - looked >= LOOK_SECONDS and is_done(looking):
                last = self._show(looking, last, pool)
                if last is not None:
                    pool.apply(last)
                    self._remember_home(last)
                looking = learner.look.remote(last.view_update if last else None)
                looked = time.monotonic()
        ray.wait([looking], timeout=LOOK_SECONDS)  # Ray complains of a call that is never answered
        self._show(learner.look.remote(last.view_update if last else None), last, pool)

    def _remember_home(self, snapshot: RunSnapshot) -> None:
        """Once there is something to lose, write down on which machine it is."""
        if self._remembered or self._node is None or not snapshot.began:
            return
        self._remembered = True
        write_home(self.directory, LearnerHome(self._node.hostname, self._node.address))

    def _check_node(self, now: float) -> None:
        """Say that the learner's node is gone; raise when it has not come back in time."""
        if now - self._node_looked < NODE_LOOK_SECONDS or self._node is None:
            return
        self._node_looked = now
        try:
            there = {node.address for node in alive_nodes()}
        except RayError:
            return  # the head does not answer: Ray itself waits for it, and gives up in time
        if self._node.address in there or self.config.engine.shared_storage:
            self._node_gone = None
        elif self._node_gone is None:
            self._node_gone = now
            self._view.say(
                f"the learner's node {self._node.hostname} ({self._node.address}) is cut off; "
                f"waiting {NODE_SECONDS:g} s for it"
            )
        elif now - self._node_gone > NODE_SECONDS:
            raise LearnerGone(
                f"the learner's node {self._node.hostname} ({self._node.address}) was gone for "
                f"{now - self._node_gone:.0f} s; what it learned is on its disk: when it is back, "
                f"go on with distrl train --resume {self.directory.path}"
            )

    def _show(
        self, looking: Any, last: RunSnapshot | None, pool: RayCollectorPool
    ) -> RunSnapshot | None:
        try:
            snapshot: RunSnapshot = ray.get(looking)
        except RayError:  # the learner is gone: how its training ended says why
            return last
        for sentence in snapshot.view_update.sentences:
            self._view.say(sentence)
        status, before = snapshot.view_update.status, last.view_update.status if last else None
        if status is not None and (before is None or status.seconds != before.seconds):
            words = placement_words(snapshot, pool.server_words())
            self._view.show(dataclasses.replace(status, placement=words))
        return snapshot


def placement_words(snapshot: RunSnapshot, servers: str = "") -> str:
    """Where all parts of the run are, on one line."""
    places = Counter(info.place for info in snapshot.collectors)
    on_nodes = ", ".join(f"{place} x {count}" for place, count in sorted(places.items()))
    words = f"learner {snapshot.learner} · collectors {on_nodes or 'none yet'}"
    return f"{words} · policy servers {servers}" if servers else words


def _for_collectors(config: TrainingConfig) -> TrainingConfig:
    """Collectors compute on a GPU only if they are given a share of one."""
    device = config.agent.policy.device if config.engine.collector_gpus else "cpu"
    return computing_on(device, config)
