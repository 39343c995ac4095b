"""Nodes that are started as a person starts them: `distrl cluster start` and `… join`.

Each has processes of its own, so none of this touches the Ray that the test process may be on.
Addresses are of loopback (127.0.0.2, 127.0.0.3), so that nothing but this machine is needed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from distrl.engine.ray.cluster.probe import ProbedCluster, probe

PATIENCE = 270.0  # seconds for anything that a loaded machine may take
SMALL = ("--", "--object-store-memory=80000000")
DISTRL = "from distrl.cli.main import main; main()"


def clean_environment(home: Path, token: str) -> dict[str, str]:
    """This process's own, without what it says of Ray, with a token and another home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {**kept, "HOME": str(home), "RAY_AUTH_TOKEN": token, "COLUMNS": "200"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(happened: Callable[[], object], what: str) -> float:
    """Seconds that it took."""
    begun = time.monotonic()
    while not happened():
        assert time.monotonic() < begun + PATIENCE, what
        time.sleep(0.1)
    return time.monotonic() - begun


class LaunchedNode:
    """A context manager: up when it is entered, ended in order (SIGTERM) when it is left."""

    def __init__(self, environment: dict[str, str], log: Path, *words: str) -> None:
        self.environment = environment
        self.log = log
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.launch()
        return self

    def launch(self) -> None:
        """Start it, and wait until it is up."""
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", DISTRL, "cluster", *self._words, *SMALL],
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        wait_until(lambda: self.starts() or not self.is_running(), "the node is up")
        assert self.is_running(), self.said()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(PATIENCE)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def said(self) -> str:
        return self.log.read_text("utf-8")

    def starts(self) -> int:
        """How often it came up."""
        return self.said().count("node up")

    def process(self, program: str) -> int:
        """The one process of that program (raylet, gcs_server) that this node has."""
        assert self._process is not None
        [found] = [
            pid for pid in descendants(self._process.pid) if _words_of(pid)[0].endswith(program)
        ]
        return found


class LaunchedHead(LaunchedNode):
    """`distrl cluster start`, at an address of loopback."""

    def __init__(
        self, environment: dict[str, str], folder: Path, *words: str, listen: str | None = None
    ) -> None:
        port = free_port()
        self.address = f"{listen or '127.0.0.1'}:{port}"
        listening = ("--listen", listen) if listen else ()
        super().__init__(
            environment, folder / "head.log", "start", f"--port={port}", *listening, *words
        )

    def cluster(self) -> ProbedCluster:
        return probe(self.address, {**self.environment, "RAY_AUTH_MODE": "token"})


def descendants(pid: int) -> list[int]:
    """The process and everything that it started, and what these started."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        parents[int(process.name)] = int(fields[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def _words_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return [""]


def listening_hosts(pids: list[int]) -> set[str]:
    """The addresses, in hexadecimal as the kernel writes them, that these processes listen on."""
    sockets = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(descriptor.readlink().name)
            except OSError:
                continue  # it was closed meanwhile
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    listening = "0A"
    return {
        row[1].partition(":")[0]
        for row in rows
        if row[3] == listening and f"socket:[{row[9]}]" in sockets
    }
