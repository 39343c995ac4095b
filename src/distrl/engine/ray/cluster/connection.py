"""Joins a Ray cluster, or starts a private one, and says within seconds why it cannot.

A process has one Ray connection, opened by `connect` and closed by `disconnect`. Without an address
a private Ray of one node is started: all its processes listen on loopback only, behind a random
token that exists only in the environment of this process and its children; nothing is written to
the home folder, and its temporary folder is removed when it ends. A running cluster is probed first
(`probe`), and joined if the token, the versions, this machine and the resources are right. Secrets
are read from the environment and nowhere else.

`ray` reads the environment on import, so the functions here import it, after setting variables.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import platform
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distrl import plugins
from distrl.engine.ray.cluster.probe import ProbedCluster, probe
from distrl.engine.ray.cluster.ray_internals import (
    keep_messages_off_the_terminal,
    reread_environment,
)
from distrl.errors import (
    ClusterError,
    ClusterUnreachable,
    NotInstalled,
    ResourceMissing,
    TokenRefused,
    VersionsDiffer,
)

OBJECT_STORE_BYTES = 512 << 20  # of a private cluster; the rest is spilled to its folder
SMALLEST_STORE_BYTES = 80 << 20  # Ray takes no less than 75 MiB
# Ray opens its folder, with its sockets, to every user of the machine (0777); so it gets one inside
# a folder that only we can enter.
RAY_FOLDER = "r"

# Ray replaces 127.0.0.1 by an address that others can reach, unless it believes that this system
# has no clusters; only with a node address of 127.0.0.1 do all its processes listen on loopback.
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
# Seconds without the head after which Ray ends a process that has joined; its default is 60.
JOINED = {"RAY_gcs_rpc_server_reconnect_timeout_s": "900"}
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


@dataclass(frozen=True, slots=True)
class _Connection:
    before: dict[str, str]  # the environment as it was
    folder: Path | None  # of a private cluster


_connection: _Connection | None = None  # Ray allows one per process


def connect(address: str | None, *, needs: Mapping[str, float] | None = None) -> None:
    """Join the cluster at `address` (HOST:PORT or "auto"), or start a private one (None, "local").

    `needs`: how much of each resource its nodes must have in total. A private cluster is given the
    CPUs and custom resources that it needs, but no GPU that does not exist. If the process is
    already connected, only the needs are checked.
    """
    require_ray()
    if is_connected():
        import ray

        _check_needs(needs or {}, ray.cluster_resources(), "the cluster that we are in")
    elif address in {None, "local"}:
        _start_private(needs or {})
    else:
        _join(str(address), needs or {})


def disconnect() -> None:
    """Leave the cluster, end a private one, and restore the environment."""
    global _connection
    connection, _connection = _connection, None
    if connection is None:
        return  # `connect` did not open it
    import ray

    ray.shutdown()
    set_environment(connection.before)
    if connection.folder is not None:
        shutil.rmtree(connection.folder, ignore_errors=True)


def is_connected() -> bool:
    """Whether this process is connected to a cluster, by `connect` or otherwise."""
    if "ray" not in sys.modules:
        return False
    import ray

    return bool(ray.is_initialized())


def head_address() -> str:
    """HOST:PORT of the head of the cluster that this process has joined."""
    import ray

    return str(ray.get_runtime_context().gcs_address)


def require_ray() -> None:
    """Raise `NotInstalled`, naming what to install, if Ray is missing."""
    if importlib.util.find_spec("ray") is None:
        raise NotInstalled(
            "Ray is not installed, so there is no cluster to join; install it with "
            "`pip install 'distrl[ray]'`, or run with --engine local"
        )


def joining_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the authentication mode that goes with its token.

    Raise `TokenRefused` if there is no token, unless RAY_AUTH_MODE has another value than `token`.
    """
    path = environment.get("RAY_AUTH_TOKEN_PATH")
    if path and not environment.get("RAY_AUTH_TOKEN") and not _has_text(Path(path)):
        raise TokenRefused(
            f"RAY_AUTH_TOKEN_PATH names {path}, which cannot be read or is empty; put the token "
            f"of the cluster there, or set RAY_AUTH_TOKEN"
        )
    if environment.get("RAY_AUTH_MODE", "token") != "token":
        return {**environment, "RAY_USAGE_STATS_ENABLED": "0"}
    if not any(environment.get(name) for name in TOKENS):
        raise TokenRefused(
            "there is no token to join the Ray cluster with; set RAY_AUTH_TOKEN or "
            "RAY_AUTH_TOKEN_PATH to the one that its head was started with (or, where it was "
            "started without and nobody else can reach it, RAY_AUTH_MODE=disabled)"
        )
    return {**environment, "RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}


def check_joinable(cluster: ProbedCluster, needs: Mapping[str, float]) -> None:
    """Raise unless a driver with these needs can join the cluster from this machine."""
    check_versions(cluster)
    if not any(node.is_here for node in cluster.nodes):
        others = ", ".join(sorted(node.address for node in cluster.nodes))
        raise ClusterUnreachable(
            f"this machine is no node of the Ray cluster at {cluster.address} (nodes: {others}); "
            f"run `distrl cluster join {cluster.address}` here first, or start the run on a node"
        )
    totals = {name: cluster.total(name) for node in cluster.nodes for name in node.resources}
    _check_needs(needs, totals, f"the Ray cluster at {cluster.address}")


# A cluster that runs already ----------------------------------------------------------------------


def _join(address: str, needs: Mapping[str, float]) -> None:
    environment = joining_environment(os.environ)
    cluster = probe(address, environment)
    check_joinable(cluster, needs)
    loopback = LOOPBACK_ONLY if cluster.is_on_loopback else {}
    before = dict(os.environ)
    set_environment({**JOINED, **environment, **loopback})
    _open(_Connection(before, None), address=cluster.address)


def check_versions(cluster: ProbedCluster) -> None:
    """Raise `VersionsDiffer` if Ray or Python differs between this process and the cluster."""
    ours = (version("ray"), platform.python_version())
    theirs = (cluster.ray_version, cluster.python_version)
    if _compared(ours) != _compared(theirs):
        raise VersionsDiffer(
            f"the Ray cluster at {cluster.address} runs Ray {theirs[0]} on Python {theirs[1]}, "
            f"this process Ray {ours[0]} on Python {ours[1]}; every node needs the same of both: "
            f"install Ray {theirs[0]} on Python {theirs[1]} here, or start the cluster anew"
        )


def _compared(versions: tuple[str, str]) -> tuple[str, str]:
    """Return what Ray compares: Python's full version, unless Ray is set to its minor version."""
    whole, python = versions
    minor = os.environ.get("RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL") == "minor"
    return whole, ".".join(python.split(".")[: 2 if minor else 3])


def _check_needs(needs: Mapping[str, float], totals: Mapping[str, float], where: str) -> None:
    for name, wanted in needs.items():
        there = totals.get(name, 0.0)
        if there >= wanted:
            continue
        shown = ", ".join(
            f"{known} {amount:g}"
            for known, amount in sorted(totals.items())
            if not known.startswith("node:") and "memory" not in known
        )
        raise ResourceMissing(
            f"the run needs {wanted:g} {name}, but {where} has {there:g} (it has {shown}); join a "
            f"node that has it, with `distrl cluster join ADDRESS --resource {name}={wanted:g}`, "
            f"or ask for less"
        )


# A private one ------------------------------------------------------------------------------------


def _start_private(needs: Mapping[str, float]) -> None:
    before = dict(os.environ)
    environment = {name: value for name, value in before.items() if name not in TOKENS}
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    set_environment({**environment, **token, **LOOPBACK_ONLY, "RAY_USAGE_STATS_ENABLED": "0"})
    folder = short_folder()
    custom = {name: amount for name, amount in needs.items() if name not in {"CPU", "GPU"}}
    _open(
        _Connection(before, folder),
        address="local",
        num_cpus=max(os.cpu_count() or 1, int(needs.get("CPU", 0))),
        resources=custom,
        object_store_memory=_store_bytes(),
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        _temp_dir=str(folder / RAY_FOLDER),
    )
    import ray

    try:
        _check_needs(needs, ray.cluster_resources(), "this machine")
    except ResourceMissing:
        disconnect()
        raise


def short_folder() -> Path:
    """Make a folder that only we can enter, with a short name: socket paths hold 107 bytes."""
    short = "/tmp" if Path("/tmp").is_dir() else None
    return Path(tempfile.mkdtemp(prefix="distrl-", dir=short))


def _store_bytes() -> int:
    """The size of a private cluster's object store: at most half of the free shared memory."""
    shared = Path("/dev/shm")
    free = shutil.disk_usage(shared).free if shared.is_dir() else OBJECT_STORE_BYTES
    return max(SMALLEST_STORE_BYTES, min(OBJECT_STORE_BYTES, free // 2))


# Both ---------------------------------------------------------------------------------------------


def _open(connection: _Connection, **settings: Any) -> None:
    global _connection
    _connection = connection
    import ray

    keep_messages_off_the_terminal()
    if ours := plugins.registered():  # workers find those of installed packages themselves
        settings["runtime_env"] = {"worker_process_setup_hook": _installer(ours)}
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **settings)
    except (RuntimeError, OSError, ValueError, ray.exceptions.RayError) as error:
        disconnect()
        raise ClusterError(
            f"Ray could not be joined with {settings} ({error}); see whether memory, disk space "
            f"and ports are free on this machine, and try again"
        ) from error


def _installer(ours: tuple[plugins.Plugin, ...]) -> Callable[[], None]:
    """Return the setup hook of this job's workers; Ray pickles a script's plugins by value."""

    def install_plugins() -> None:
        plugins.install(ours)

    return install_plugins


def set_environment(environment: Mapping[str, str]) -> None:
    """Replace this process's environment; a Ray that is already imported reads it again."""
    os.environ.clear()
    os.environ.update(environment)
    if "ray" in sys.modules:
        reread_environment(loopback_only=LOOPBACK_ONLY.items() <= environment.items())


def _has_text(path: Path) -> bool:
    try:
        return bool(path.read_text("utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return False
