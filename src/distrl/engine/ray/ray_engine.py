"""A run on a Ray cluster, from the side of the command that starts it.

    learner      an actor (`learner_actor`); Ray restarts it, and it resumes from its checkpoint
    collectors   actors (`collector_actor`) wherever there are phones (`placement`), started and
                 replaced by a `collector_pool`
    servers      actors (`policy_server_pool`), one on each node that has collectors, if these have
                 no policy of their own
    replica      an actor (`run_replica`) on another machine than the learner, which keeps a copy of
                 the run there, unless all nodes share a disk

This process owns all these actors, shows the progress of the run, and passes Ctrl-C on. The actors
end with it; the run can be resumed.
"""

from __future__ import annotations

import contextlib
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
    phone_resource,
)
from distrl.engine.ray.run_replica import ReplicaPool
from distrl.engine.run.losses import LearnerHome, read_home, write_home
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.errors import ClusterError, ClusterUnreachable, DistrlError, LearnerGone
from distrl.records import DRY_RUN_MARK
from distrl.reporting.live_view import LiveView
from distrl.reporting.memory_estimate import estimate_disk
from distrl.runs.metrics import CallbackSink, OnPoint
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult

LOOK_SECONDS = 0.25  # between two looks at the run
NODE_LOOK_SECONDS = 2.0  # between two checks of the learner's node
NODE_SECONDS = 600.0  # for which it, or the command's own node, may be cut off
REJOINS = 20  # of the command's node in one run


class RayEngine:
    """Runs one training run in its directory on a cluster. Use it once."""

    def __init__(
        self,
        config: TrainingConfig,
        run: RunDirectory,
        console: Console,
        build: Build | None = None,
        on_point: OnPoint | None = None,  # gets every point of the metrics; True: stop the run
    ) -> None:
        self.config = config
        self.directory = run
        self._build = build or ConfiguredBuild(_for_collectors(config), str(run.path.absolute()))
        seconds, mark = config.reporting.line_seconds, DRY_RUN_MARK if is_dry(config) else ""
        self._view = LiveView(console, line_seconds=seconds, mark=mark)
        self._stop = StopRequest()
        self._callback = None if on_point is None else CallbackSink(on_point, self._stop.ask)
        self._node: Node | None = None  # of the learner
        self._node_gone: float | None = None  # since when
        self._node_looked = -float("inf")
        self._remembered: LearnerHome | None = None  # the learner's machine, as last recorded
        self._replica: ReplicaPool | None = None

    def stop(self) -> None:
        """Ask for an orderly end, from any thread; the run can be resumed."""
        self._stop.ask()

    def train(self, *, resumed: bool = False, accept_losses: bool = False) -> RunResult:
        """Train to the end; raise `StopRequested` if it was stopped before that.

        If the cluster gives up the node of this command because its link was cut, Ray ends all
        actors of the run; the run is resumed when the node has joined again.
        """
        connect(self.config.engine.address or None, needs=self._needs())
        rejoins = 0
        try:
            with self._stop, self._view:
                while True:
                    try:
                        return self._run(resumed=resumed, accept_losses=accept_losses)
                    except (LearnerGone, ClusterUnreachable) as error:
                        rejoins += 1
                        if rejoins > REJOINS or not self._may_rejoin(error):
                            raise
                        self._rejoin(error)
                    resumed, accept_losses = True, False
        finally:
            disconnect()

    def _may_rejoin(self, error: LearnerGone | ClusterUnreachable) -> bool:
        """Return whether the cluster has given up this process's node, or cannot be reached."""
        if self._is_private or isinstance(error, ClusterUnreachable):
            return not self._is_private
        ours = ray.get_runtime_context().get_node_id()
        try:
            return all(node.id != ours for node in alive_nodes())
        except ClusterUnreachable:
            return True

    def _rejoin(self, error: LearnerGone | ClusterUnreachable) -> None:
        """Join the cluster anew, once this machine and the learner's are nodes of it again."""
        self._view.say(
            f"this machine was cut off from the cluster; waiting {NODE_SECONDS:g} s to join again"
        )
        disconnect()
        home = None if self.config.engine.shared_storage else read_home(self.directory)
        until = time.monotonic() + NODE_SECONDS
        while not self._stop.asked and time.monotonic() < until:
            with contextlib.suppress(ClusterError, RayError):
                connect(self.config.engine.address, needs=self._needs())
                if home is None or learner_node(alive_nodes(), "", home=home) is not None:
                    return
            time.sleep(NODE_LOOK_SECONDS)
        raise error

    @property
    def _is_private(self) -> bool:
        return self.config.engine.address in {"", "local"}

    def _needs(self) -> dict[str, float]:
        """Return the resources that the cluster must have: for all collectors, if private."""
        settings = self.config.engine
        if settings.phones == "auto":
            return {}
        every = self.config.by_environment().values()
        users = [each for each in every if phone_resource(each, []) == settings.phones]
        shares = [each.devices_per_collector for each in users]
        wanted = sum(e.devices.count for e in users) if self._is_private else max(shares, default=0)
        return {settings.phones: float(wanted)} if users else {}

    def _run(self, *, resumed: bool, accept_losses: bool) -> RunResult:
        path = str(self.directory.path.absolute())
        home = read_home(self.directory) if resumed else None
        is_copy = self.directory.replica.exists()
        began_here = resumed and self.directory.metrics.exists() and not is_copy
        node = self._learner_node(home, began_here=began_here, accept_losses=accept_losses)
        self._node, self._node_gone = node, None
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
        replica = ReplicaPool(
            path, self.config.store, learner, node, self._view.say, estimate_disk(self.config)
        )
        self._replica = None if self.config.engine.shared_storage else replica
        try:
            training = learner.train.remote()
            self._look_after(learner, training, pool)
            if (failure := pool.failure) is not None:
                raise failure
            return self._result(training)
        finally:
            pool.kill()
            replica.kill()
            ray.kill(learner)

    def _learner_node(
        self, home: LearnerHome | None, *, began_here: bool, accept_losses: bool
    ) -> Node:
        """Return the learner's node: where it was before, if that is in the cluster now.

        Else: any node, if the run's directory is here as well (a shared disk, though
        `shared_storage` is not set); else the node that has a copy of the run; else any node, if
        the run may start over.
        """
        nodes, here = alive_nodes(), ray.get_runtime_context().get_node_id()
        gpus = self.config.learning.gpus
        at_home = None if self.config.engine.shared_storage else home
        node = learner_node(nodes, here, gpus, at_home)
        if node is None and home is not None and home.copy is not None and not began_here:
            node = learner_node(nodes, here, gpus, home.copy)
        if node is None and (began_here or accept_losses):
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
                f"train --resume {self.directory.path}{self._copy_words()}"
            ) from None
        return result

    # While it goes on ---------------------------------------------------------------------------

    def _look_after(self, learner: Any, training: Any, pool: RayCollectorPool) -> None:
        """Manage the actors until the training has ended or failed."""
        last: RunSnapshot | None = None
        here = ray.get_runtime_context().get_node_id()
        looking, looked, told_to_stop = learner.look.remote(None), time.monotonic(), False
        while not is_done(training):
            self._check_node(time.monotonic())
            ray.wait([training, *pool.waited_for()], num_returns=1, timeout=LOOK_SECONDS)
            pool.look_after(time.monotonic())
            if self._replica is not None:
                self._replica.look_after(time.monotonic(), here)
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
        """Record the learner's machine in the directory, once the run has something to lose."""
        if self._node is None or not snapshot.began:
            return
        copy = self._replica.host if self._replica else None
        home = LearnerHome(self._node.hostname, self._node.address, copy)
        if home != self._remembered:
            self._remembered = home
            write_home(self.directory, home)

    def _check_node(self, now: float) -> None:
        """Report a lost learner node; raise `LearnerGone` if it does not come back in time."""
        if now - self._node_looked < NODE_LOOK_SECONDS or self._node is None:
            return
        self._node_looked = now
        there = {node.address for node in alive_nodes()}
        if self._replica is not None:
            self._replica.forget_lost_host(there)
        if self._node.address in there or self.config.engine.shared_storage:
            self._node_gone = None
        elif self._node_gone is None:
            self._node_gone = now
            self._view.say(
                f"the learner's node {self._node.hostname} ({self._node.address}) is cut off; "
                f"waiting {NODE_SECONDS:g} s for it"
            )
        elif now - self._node_gone > NODE_SECONDS or self._stop.asked:
            raise LearnerGone(
                f"the learner's node {self._node.hostname} ({self._node.address}) was gone for "
                f"{now - self._node_gone:.0f} s; what it learned is on its disk: when it is back, "
                f"go on with distrl train --resume {self.directory.path}{self._copy_words()}"
            )

    def _copy_words(self) -> str:
        copy = self._replica.host if self._replica else None
        return f"; from the copy on {copy}: the same with --accept-losses" if copy else ""

    def _show(
        self, looking: Any, last: RunSnapshot | None, pool: RayCollectorPool
    ) -> RunSnapshot | None:
        try:
            snapshot: RunSnapshot = ray.get(looking)
        except RayError:  # the learner is gone: the result of `train` tells why
            return last
        for sentence in snapshot.view_update.sentences:
            self._view.say(sentence)
        if self._callback is not None:
            for point in snapshot.view_update.points:
                self._callback.add(point)
        status, before = snapshot.view_update.status, last.view_update.status if last else None
        if status is not None and (before is None or status.seconds != before.seconds):
            words = placement_words(snapshot, pool.server_words())
            self._view.show(dataclasses.replace(status, placement=words))
        return snapshot


def placement_words(snapshot: RunSnapshot, servers: str = "") -> str:
    """Describe on one line where all parts of the run are."""
    places = Counter(info.place for info in snapshot.collectors)
    on_nodes = ", ".join(f"{place} x {count}" for place, count in sorted(places.items()))
    words = f"learner {snapshot.learner} · collectors {on_nodes or 'none yet'}"
    return f"{words} · policy servers {servers}" if servers else words


def _for_collectors(config: TrainingConfig) -> TrainingConfig:
    """Collectors compute on a GPU only if they are given a share of one."""
    device = config.agent.policy.device if config.engine.collector_gpus else "cpu"
    return computing_on(device, config)
