"""A collector's process as its parent sees it: started, spoken to, and ended by its own id.

Each start gets a name of its own, taken from a log file that was not there before: episode ids
begin with it, so they stay unique through restarts and resumes.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from distrl.engine.ingest.messages import Hello, Message, to_bytes
from distrl.engine.local.collector_nursery import CollectorNursery
from distrl.engine.local.forked_process import Process
from distrl.engine.local.framed_socket import FramedSocket
from distrl.episodes.collector_report import CollectorReport
from distrl.errors import storage_error
from distrl.runs.run_directory import RunDirectory

SEND_SECONDS = 5.0  # a child that takes nothing for so long is as good as dead
TAIL_BYTES = 2000  # of its log, for the reader of an error


@dataclass(slots=True, eq=False)
class CollectorChild:
    """One process. `report` and `state` are from its last heartbeat."""

    number: int
    name: str
    process: Process
    link: FramedSocket
    log: Path
    report: CollectorReport | None = None
    state: str = field(default="")

    def send(self, message: Message) -> None:
        """A child that is gone hears nothing; that it is gone is found out elsewhere."""
        try:
            self.link.send(to_bytes(message))
        except EOFError:
            self.process.kill()

    def is_running(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill it if it still runs; what it has sent can still be read."""
        if self.is_running():
            self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Kill it, and let go of it."""
        self.kill()
        self.link.close()

    def last_words(self) -> str:
        """The end of its log: what went wrong, if it could say so."""
        try:
            lines = self.log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return lines[-1].strip() if lines else ""


def start_child(
    nursery: CollectorNursery, run: RunDirectory, number: int, state: str
) -> CollectorChild:
    """A new process for the collector of that number, going on from a state (JSON; empty: none)."""
    name, log = new_name(run, number)
    ours, theirs = socket.socketpair()
    with ExitStack() as if_it_fails, log.open("ab") as output, theirs:
        if_it_fails.callback(ours.close)
        process = nursery.fork(theirs, output.fileno())
        if_it_fails.pop_all()
    child = CollectorChild(
        number, name, process, FramedSocket(ours, SEND_SECONDS), log, state=state
    )
    child.send(Hello(str(run.path), name, number, state))
    return child


def new_name(run: RunDirectory, number: int) -> tuple[str, Path]:
    """A name that no collector of the run has had before, and the log that goes with it."""
    folder = run.path / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        start = 1 + len(list(folder.glob(f"collector-{number}.*.log")))
        while True:
            name = f"collector-{number}.{start}"
            try:
                (folder / f"{name}.log").touch(exist_ok=False)
            except FileExistsError:
                start += 1
            else:
                return name, folder / f"{name}.log"
    except OSError as error:
        raise storage_error(error, f"making a log for collector {number} in {folder}") from error
