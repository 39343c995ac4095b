"""One node of a Ray cluster on this machine, kept up: the head, or one that joins it.

A node is `ray start --block` with stricter settings than Ray's defaults: token authentication is on
(the token comes from the environment), nothing listens beyond loopback unless an address is given,
a dead node is detected in about ten seconds instead of sixty, and the head keeps its state on disk
(RocksDB), so that it can be restarted while the rest of the cluster goes on.

Ray ends a node that lost its connection and never restarts it; `keep_up` does, after a growing
pause, until it is asked to stop. Until the node has been up once, a start that fails (a wrong
option, a port in use) is raised at once; one that only timed out, as on a busy machine, is tried
again, `FIRST_STARTS` times in all.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from distrl.engine.ray.cluster.connection import (
    LOOPBACK_ONLY,
    RAY_FOLDER,
    joining_environment,
)
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.supervision.restart_budget import RestartBudget
from distrl.errors import ClusterError, InvalidSetting

LOOPBACK = "127.0.0.1"
START_SECONDS, STOP_SECONDS = 60.0, 20.0
LOOK_SECONDS = 0.2  # between two looks at the process
STARTED = "will now block"  # what `ray start --block` says when it is up
TIMED_OUT = "timed out"  # in its output when its own timeout (30 s) has passed
FIRST_STARTS = 5  # of a node that was never up and that times out
HEALTH = {  # of the head: a node that does not answer is dead after about ten seconds
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "4",
}
FATE_SHARED = """
import os, sys
from distrl.engine.local.process_lifetime import die_with_parent
die_with_parent(int(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])
"""  # however the command ends, its node ends with it
KNOWN_RESOURCES = {"CPU": "--num-cpus", "GPU": "--num-gpus"}


@dataclass(frozen=True, slots=True)
class NodePlan:
    """How a node is started and restarted."""

    arguments: tuple[str, ...]  # of `ray`
    environment: dict[str, str]
    folder: Path  # private: its logs, a head's state, and Ray's own folder


def head_plan(
    environment: Mapping[str, str],
    folder: Path,
    *,
    listen: str | None = None,
    port: int = 6379,
    resources: Mapping[str, float] | None = None,
    extra: Sequence[str] = (),
) -> NodePlan:
    """Plan a head; without `listen` (an address of this machine) only this machine can reach it.

    The folder holds its state and its sockets: start a head with the same folder to continue from
    that state.
    """
    arguments = [
        "start",
        "--head",
        "--block",
        "--disable-usage-stats",
        "--include-dashboard=false",
        f"--port={port}",
        f"--node-ip-address={listen or LOOPBACK}",
        f"--temp-dir={folder / RAY_FOLDER}",
        *_resource_arguments(resources or {}),
        *extra,
    ]
    storage = {"RAY_gcs_storage": "rocksdb", "RAY_gcs_storage_path": str(folder / "store")}
    loopback = {} if listen else LOOPBACK_ONLY
    ours = {**HEALTH, **storage, **environment, **loopback}  # HEALTH may be overridden
    return NodePlan(tuple(arguments), joining_environment(ours), folder)


def worker_plan(
    environment: Mapping[str, str],
    folder: Path,
    address: str,
    *,
    listen: str | None = None,
    resources: Mapping[str, float] | None = None,
    extra: Sequence[str] = (),
) -> NodePlan:
    """Plan a node that joins the head at `address`; `listen`: its own address, if several."""
    arguments = [
        "start",
        f"--address={address}",
        "--block",
        "--disable-usage-stats",
        f"--temp-dir={folder / RAY_FOLDER}",
        *([f"--node-ip-address={listen}"] if listen else []),
        *_resource_arguments(resources or {}),
        *extra,
    ]
    return NodePlan(tuple(arguments), joining_environment(environment), folder)


def read_resources(words: Sequence[str]) -> dict[str, float]:
    """Parse the resources that a node offers from words such as `phone=8` and `GPU=1`."""
    resources = {}
    for word in words:
        name, _, amount = word.partition("=")
        try:
            resources[name] = float(amount)
        except ValueError:
            name = ""
        if not name or not 0 <= resources[name] < 1e9:
            raise InvalidSetting(f"--resource {word!r} is not NAME=AMOUNT; write phone=8 or GPU=1")
    return resources


def _resource_arguments(resources: Mapping[str, float]) -> list[str]:
    known = [
        f"{option}={resources[name]:g}"
        for name, option in KNOWN_RESOURCES.items()
        if name in resources
    ]
    custom = {name: some for name, some in resources.items() if name not in KNOWN_RESOURCES}
    return [*known, *([f"--resources={json.dumps(custom)}"] if custom else [])]


class ClusterNode:
    """The `ray start` process of a plan. `say` is called with a message for each event."""

    def __init__(self, plan: NodePlan, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    @property
    def log(self) -> Path:
        """The output of `ray start`, one file per start."""
        return self._plan.folder / f"ray-start-{self.starts}.log"

    def keep_up(self, stop: StopRequest) -> None:
        """Run the node until a stop request; start it again whenever it ends by itself."""
        budget, was_up = RestartBudget(2**31), False
        try:
            while not stop.asked:
                if self._start(stop):
                    was_up = True
                    self._say("up")
                    self._wait(stop)
                elif not (was_up or stop.asked or self._may_yet_start()):
                    raise ClusterError(
                        f"`ray {self._plan.arguments[0]}` failed: {self._last_words(3)}; "
                        f"mend what it names and try again (start {self.starts} of the node)"
                    )
                if not stop.asked:
                    pause = budget.pause_after_failure(time.monotonic()) or 0.0
                    self._say(f"ended ({self._last_words()}); starts again in {pause:g} s")
                    self._pause(pause, stop)
        finally:
            self.end()

    def end(self) -> None:
        """Terminate the process; kill it and its children where that takes too long."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, stop: StopRequest) -> bool:
        self.end()
        self.starts += 1
        plan = self._plan
        # left by a killed head; with it Ray would report that one runs already
        (plan.folder / RAY_FOLDER / "ray_current_cluster").unlink(missing_ok=True)
        program = str(Path(sysconfig.get_path("scripts")) / "ray")
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", FATE_SHARED, str(os.getpid()), program, *plan.arguments],
                env=plan.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches only us; we end the node
            )
        until = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < until and not stop.asked:
            if STARTED in self._said():
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def _may_yet_start(self) -> bool:
        """Return whether the start was slow rather than wrong, and attempts are left."""
        slow = self._process is not None and self._process.poll() is None
        return self.starts < FIRST_STARTS and (slow or TIMED_OUT in self._said())

    def _wait(self, stop: StopRequest) -> None:
        while self._process is not None and self._process.poll() is None and not stop.asked:
            time.sleep(LOOK_SECONDS)

    def _pause(self, seconds: float, stop: StopRequest) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not stop.asked:
            time.sleep(min(LOOK_SECONDS, seconds))

    def _said(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def _last_words(self, lines: int = 1) -> str:
        said = [line.strip() for line in self._said().splitlines() if line.strip()]
        return " / ".join(line.rpartition(" -- ")[2] for line in said[-lines:]) or "nothing"
