"""Keeps the policy process of this machine running while a run collects.

A context manager with a thread: it starts the process, reads its heartbeats, and replaces it after
a growing pause (`RestartBudget`) when it has died, failed or fallen silent. Collectors resend their
unanswered requests (`serving.policy_client`), so the death of the process only delays them. When it
has failed more than `collection.restarts` times, `check` raises.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from distrl.engine.ingest.messages import Encodings, Message
from distrl.engine.local.collector_pool import CollectorChild, Forkserver, Work
from distrl.engine.local.policy_process import SHARE_ENCODINGS, decide_for_collectors
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.supervision.collector_registry import CollectorInfo, Registration
from distrl.engine.supervision.process_names import new_name
from distrl.engine.supervision.restart_budget import SILENT_START_SECONDS, RestartBudget
from distrl.errors import PolicyServerGone
from distrl.runs.run_directory import RunDirectory
from distrl.watched_threads import WatchedThreads

LAST_SECONDS = 10.0  # for the thread to end
EXIT_SECONDS = 1.0  # for the exit of a process whose connection has gone
READY_SECONDS = 0.2  # between two checks whether the forkserver is ready


@dataclass(slots=True)
class PolicySupervisor:
    """Starts and replaces the policy process. Use it in a `with` block."""

    run: RunDirectory
    forkserver: Forkserver
    restarts: int
    silent_seconds: float  # without a heartbeat, after which the process is killed
    say: Callable[[str], None]
    on_encodings: Callable[[Encodings], None] | None = None
    work: Work = decide_for_collectors
    report: ServerReport | None = None  # of the process that decides now; None: it is starting
    _child: CollectorChild | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: WatchedThreads = field(init=False)

    def __post_init__(self) -> None:
        self._thread = WatchedThreads("policy supervisor", self._supervise, lambda: None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._child is not None:
            self._child.kill()
        self._thread.join(LAST_SECONDS)

    def check(self) -> None:
        """Raise `PolicyServerGone` when the policy process was given up."""
        self._thread.raise_failure()

    def _supervise(self) -> None:
        while not self.forkserver.is_ready(READY_SECONDS):
            if self._over.is_set():
                return
        budget = RestartBudget(self.restarts)
        while not self._over.is_set():
            trouble = self._serve_once()
            if self._over.is_set():
                return
            self.say(trouble)
            worked = self.report is not None and self.report.batcher.decisions > 0
            self.report = None
            pause = budget.pause_after_failure(time.monotonic(), had_worked=worked)
            if pause is None:
                raise PolicyServerGone(
                    f"the policy process failed more than collection.restarts={self.restarts} "
                    f"times within minutes; the last one: {trouble}; see logs/ in the run "
                    "directory, and resume the run"
                )
            self._over.wait(pause)

    def _serve_once(self) -> str:
        """Run one process to its end; return what ended it."""
        name = new_name(self.run, 0, "policy")
        state = SHARE_ENCODINGS if self.on_encodings is not None else ""
        child = self.forkserver.start(
            self.run, Registration(CollectorInfo(name, 0), state), self.work
        )
        self._child = child
        if self._over.is_set():  # `__exit__` may have run before `_child` was set
            child.kill()
        try:
            child.link.wait_at_most(SILENT_START_SECONDS)
            while True:
                self._take(child, child.link.receive())
        except EOFError as error:
            if child.is_running(EXIT_SECONDS):
                child.trouble = f"was silent or closed its connection ({error}), and is killed"
        return f"{name} {child.end()}"

    def _take(self, child: CollectorChild, message: Message) -> None:
        match message:
            case ServerReport():
                self.report = message
                child.link.wait_at_most(self.silent_seconds)
            case Encodings() if self.on_encodings is not None:
                self.on_encodings(message)
            case _:
                raise TypeError(f"the policy process sent a {type(message).__name__}")
