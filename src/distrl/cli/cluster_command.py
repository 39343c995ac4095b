"""What `distrl cluster start` and `distrl cluster join` do: a node in the foreground, kept up."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from distrl.engine.ray.cluster.connection import (
    check_versions,
    joining_environment,
    require_ray,
    short_folder,
)
from distrl.engine.ray.cluster.node import (
    LOOPBACK,
    ClusterNode,
    NodePlan,
    head_plan,
    read_resources,
    worker_plan,
)
from distrl.engine.ray.cluster.probe import ProbedCluster, probe
from distrl.engine.run.stop_request import StopRequest
from distrl.errors import ClusterError, ClusterUnreachable, InvalidSetting, storage_error

MAX_FOLDER = 40


def start(
    console: Console,
    listen: str | None,
    port: int,
    resources: Sequence[str],
    store: Path | None,
    extra: Sequence[str],
) -> None:
    """Run the head of a cluster until Ctrl-C."""
    require_ray()
    offered = read_resources(resources)
    _check_free(port)
    folder = short_folder() if store is None else _lasting_folder(store)
    try:
        plan = head_plan(
            os.environ, folder, listen=listen, port=port, resources=offered, extra=extra
        )
        address = f"{listen or LOOPBACK}:{port}"
        reach = "every machine that reaches this one's ports" if listen else "this machine only"
        _tell(console, f"head at {address}, for {reach}; token {_token(plan)}")
        if listen:
            _tell(console, f"join it with: distrl cluster join {address} --resource phone=8")
        _run(console, plan)
    finally:
        if store is None:
            shutil.rmtree(folder, ignore_errors=True)


def join(
    console: Console,
    address: str,
    listen: str | None,
    resources: Sequence[str],
    wait: float,
    extra: Sequence[str],
) -> None:
    """Run a node that joins the head at `address` until Ctrl-C; joins again after a cut link."""
    require_ray()
    offered = read_resources(resources)
    cluster = _awaited(address, wait)
    check_versions(cluster)
    if cluster.is_on_loopback:
        raise ClusterUnreachable(
            f"the head at {cluster.address} was started for its own machine only, which is its one "
            f"node; start it with `distrl cluster start --listen ADDRESS` for others to join"
        )
    folder = short_folder()
    try:
        plan = worker_plan(
            os.environ,
            folder,
            cluster.address,
            listen=listen,
            resources=offered,
            extra=extra,
        )
        _tell(
            console, f"joins {cluster.address} (nodes: {len(cluster.nodes)}); token {_token(plan)}"
        )
        _run(console, plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lasting_folder(store: Path) -> Path:
    folder = store.absolute()
    if len(str(folder)) > MAX_FOLDER:
        raise InvalidSetting(
            f"--store {folder} has {len(str(folder))} letters; give one of {MAX_FOLDER} at "
            f"most, for Ray's sockets are in it, and their names may have 107"
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, f"making {folder} for --store") from error
    return folder


def _check_free(port: int) -> None:
    """Ray itself needs half a minute to find out."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("", port))
        except OSError as error:
            raise ClusterError(
                f"port {port} of this machine cannot be listened on ({error.strerror}); end what "
                f"has it, perhaps another head, or give another --port"
            ) from None


def _awaited(address: str, seconds: float) -> ProbedCluster:
    """The cluster there; waits so long for a head that is not up yet."""
    until = time.monotonic() + seconds
    while True:
        try:
            return probe(address, joining_environment(os.environ))
        except ClusterUnreachable:
            if time.monotonic() >= until:
                raise
            time.sleep(1.0)  # so that a head on this machine gets a turn, too


def _run(console: Console, plan: NodePlan) -> None:
    node = ClusterNode(plan, lambda said: _tell(console, f"node {said}"))
    with StopRequest() as stop:
        node.keep_up(stop)
    _tell(console, "node stopped")


def _token(plan: NodePlan) -> str:
    return "on" if plan.environment["RAY_AUTH_MODE"] == "token" else "OFF: anybody may run code"


def _tell(console: Console, said: str) -> None:
    console.print(said, highlight=False, markup=False, soft_wrap=True)
