"""`distrl cluster start` and `join`: a Ray node in the foreground, restarted whenever it ends."""

from __future__ import annotations

import os
import shutil
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distrl.errors import ClusterError, ClusterUnreachable, InvalidSetting, storage_error

if TYPE_CHECKING:
    from distrl.engine.ray.cluster.node import NodePlan
    from distrl.engine.ray.cluster.probe import ProbedCluster

MAX_FOLDER = 38  # characters of --store: Ray's socket paths below it may have 107

cluster_app = typer.Typer(
    no_args_is_help=True, help="Ray clusters: run the head here, or join one with this machine."
)

Listen = Annotated[
    str | None, typer.Option(help="The address of this machine that others reach it by.")
]
Resources = Annotated[
    list[str] | None,
    typer.Option("--resource", help="A resource of the node: phone=8, GPU=1; may be repeated."),
]
RayOptions = Annotated[
    list[str] | None, typer.Argument(help="After --: further options for `ray start`.")
]


@cluster_app.command()
def start(
    listen: Listen = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of the head.")] = 6379,
    resource: Resources = None,
    store: Annotated[
        Path | None,
        typer.Option(help="A directory for the head's state, kept when this command ends."),
    ] = None,
    options: RayOptions = None,
) -> None:
    """Run a cluster's head here until Ctrl-C; the token comes from RAY_AUTH_TOKEN."""
    from distrl.engine.ray.cluster.connection import require_ray, short_folder
    from distrl.engine.ray.cluster.node import LOOPBACK, head_plan, read_resources

    require_ray()
    offered = read_resources(resource or [])
    _check_free(port)
    folder = short_folder() if store is None else _lasting_folder(store)
    try:
        plan = head_plan(
            os.environ, folder, listen=listen, port=port, resources=offered, extra=options or []
        )
        address = f"{listen or LOOPBACK}:{port}"
        reach = "every machine that reaches this one's ports" if listen else "this machine only"
        typer.echo(f"head at {address}, for {reach}; token {_token(plan)}")
        if listen:
            typer.echo(f"join it with: distrl cluster join {address} --resource phone=8")
        _run(plan)
    finally:
        if store is None:
            shutil.rmtree(folder, ignore_errors=True)


@cluster_app.command()
def join(
    address: Annotated[str, typer.Argument(help="The head's HOST:PORT.")],
    listen: Listen = None,
    resource: Resources = None,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for a head that is not up yet.")
    ] = 0.0,
    options: RayOptions = None,
) -> None:
    """Join a cluster with this machine until Ctrl-C; rejoin whenever the connection is lost."""
    from distrl.engine.ray.cluster.connection import check_versions, require_ray, short_folder
    from distrl.engine.ray.cluster.node import read_resources, worker_plan

    require_ray()
    offered = read_resources(resource or [])
    cluster = _awaited(address, wait)
    check_versions(cluster)
    head = cluster.address
    if cluster.is_on_loopback:
        raise ClusterUnreachable(
            f"the head at {head} was started for its own machine only, which is its one "
            f"node; start it with `distrl cluster start --listen ADDRESS` for others to join"
        )
    folder = short_folder()
    try:
        plan = worker_plan(
            os.environ, folder, head, listen=listen, resources=offered, extra=options or []
        )
        typer.echo(f"joins {head} (nodes: {len(cluster.nodes)}); token {_token(plan)}")
        _run(plan)
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
        folder.chmod(0o700)  # whoever can replace Ray's sockets in it controls the cluster
        owner = folder.stat().st_uid
    except OSError as error:
        raise storage_error(error, f"making {folder} for --store") from error
    if owner != os.geteuid():
        raise InvalidSetting(
            f"--store {folder} belongs to user {owner}, who could replace Ray's sockets in it; "
            "give a folder of your own"
        )
    return folder


def _check_free(port: int) -> None:
    """Raise `ClusterError` if the port is in use: Ray itself takes half a minute to find out."""
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
    """Probe the cluster at `address`; wait up to `seconds` for a head that is not up yet."""
    from distrl.engine.ray.cluster.connection import joining_environment
    from distrl.engine.ray.cluster.probe import probe

    until = time.monotonic() + seconds
    while True:
        try:
            return probe(address, joining_environment(os.environ))
        except ClusterUnreachable:
            if time.monotonic() >= until:
                raise
            time.sleep(1.0)  # leave the CPU to a head that is starting on this machine


def _run(plan: NodePlan) -> None:
    from distrl.engine.ray.cluster.node import ClusterNode
    from distrl.engine.run.stop_request import StopRequest

    node = ClusterNode(plan, lambda said: typer.echo(f"node {said}"))
    with StopRequest() as stop:
        node.keep_up(stop)
    typer.echo("node stopped")


def _token(plan: NodePlan) -> str:
    return "on" if plan.environment["RAY_AUTH_MODE"] == "token" else "OFF: anybody may run code"
