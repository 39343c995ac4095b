"""A collector's process as the learner sees it: forked, spoken to, watched, and killed.

Collectors are forked by multiprocessing's forkserver, which has imported all that they need: one
starts in a fraction of a second and shares the memory of the imports. What the standard library
does not do is done here and in `collector_process`:

- The forkserver's environment keeps imports from starting threads (`process_environment`).
- `Process` learns of exits from the forkserver, and would take every collector for dead when the
  forkserver is killed. A pidfd says what is true, and signals no other process by mistake.
- A collector dies with the learner (`process_lifetime`), not with the forkserver. A forkserver that
  was killed is started anew by multiprocessing when the next collector is started.

As always with multiprocessing, a script that uses this needs `if __name__ == "__main__":`.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Self

from distrl.engine.ingest.messages import Message, MessageSocket
from distrl.engine.local.collector_process import collect
from distrl.engine.local.process_lifetime import import_all
from distrl.engine.supervision.collector_registry import CollectorInfo, Registration
from distrl.errors import CollectorsLost
from distrl.process_environment import for_forkserver
from distrl.runs.run_directory import RunDirectory
from distrl.watched_threads import WatchedThreads

SEND_SECONDS = 5.0  # a collector that takes nothing for that long is as good as dead
EXIT_SECONDS = 5.0  # for its exit code, once it has ended
TAIL_BYTES = 2000  # of its log, for the reader of an error
TRIES, FIRST_PAUSE = 5, 0.1  # to start one, and seconds, which double, until the next try
PRELOAD = "distrl.engine.local.collector_process"


class CollectorChild:
    """One collector process."""

    def __init__(
        self, info: CollectorInfo, log: Path, link: MessageSocket, process: ForkServerProcess
    ) -> None:
        self.info = info
        self.link = link
        self.trouble = ""  # why it was killed
        self.told_to_stop = False
        self.round = -1  # the last round that it was told to play
        self._log = log
        self._process = process
        assert process.pid is not None
        self.pid = process.pid
        try:
            self._pidfd: int | None = os.pidfd_open(process.pid)
        except ProcessLookupError:
            self._pidfd = None  # it has ended already

    def send(self, message: Message) -> None:
        """Send a message, or kill the child if it does not take it."""
        try:
            self.link.send(message)
        except EOFError:
            self.kill()

    def is_running(self, seconds: float = 0.0) -> bool:
        """Does it run, even after that many seconds?"""
        return self._pidfd is not None and not wait([self._pidfd], seconds)

    def kill(self) -> None:
        """Kill it; what it has sent can still be read from `link`."""
        if self._pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def end(self) -> str:
        """Kill it if it still runs, let go of it, and return what ended it, for a person."""
        self.kill()
        self.is_running(EXIT_SECONDS)
        self._process.join(EXIT_SECONDS)
        trouble = self.trouble or f"ended with code {self._process.exitcode}"
        last = self._last_line()
        self.link.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        return f"{trouble}: {last}" if last else trouble

    def _last_line(self) -> str:
        """The end of its log: what went wrong, if it could say so."""
        try:
            lines = self._log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return lines[-1].strip() if lines else ""


class Forkserver:
    """Starts collector processes. A context manager; it begins to import when it is entered.

    The forkserver is one for the whole process and stays until that ends. It imports `modules`
    before it forks; `work` is what a forked process does, a function of a module.
    """

    def __init__(
        self,
        modules: Sequence[str] = (PRELOAD,),
        work: Callable[[socket.socket, Path, Registration], None] = collect,
    ) -> None:
        self._modules = list(modules)
        self._work = work
        self._context = multiprocessing.get_context("forkserver")
        self._before = dict[str, str | None]()  # what the environment had
        self._warming_up = WatchedThreads("forkserver", self._warm_up, lambda: None)

    def __enter__(self) -> Self:
        for name, value in for_forkserver(os.environ).items():
            self._before[name] = os.environ.get(name)
            os.environ[name] = value  # inherited also when the forkserver is started anew
        self._context.set_forkserver_preload(self._modules)
        self._warming_up.start()
        return self

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def is_ready(self, seconds: float = 0.0) -> bool:
        """Has it imported everything, now or within that many seconds? Else a start would wait."""
        ready = self._warming_up.join(seconds)
        self._warming_up.raise_failure()
        return ready

    def start(self, run: RunDirectory, registration: Registration) -> CollectorChild:
        """A new collector process."""
        ours, theirs = socket.socketpair()
        with ExitStack() as if_it_fails, theirs:
            if_it_fails.callback(ours.close)
            process = self._fork(self._work, theirs, run.path, registration)
            if_it_fails.pop_all()
        log = run.path / "logs" / f"{registration.info.name}.log"
        return CollectorChild(registration.info, log, MessageSocket(ours, SEND_SECONDS), process)

    def _fork(self, target: Callable[..., None], *arguments: object) -> ForkServerProcess:
        for attempt in range(TRIES):
            process = self._context.Process(target=target, args=arguments, daemon=True)
            try:
                process.start()
            except (OSError, EOFError):
                # The forkserver was killed. Once it is seen to be dead, a start starts another.
                time.sleep(FIRST_PAUSE * 2.0**attempt)
            else:
                return process
        raise CollectorsLost(
            f"no collector could be started: multiprocessing's forkserver failed {TRIES} times in "
            "a row, perhaps with an error above; resume the run when that is mended"
        )

    def _warm_up(self) -> None:
        """Return when the forkserver has imported everything and has forked once."""
        for _ in range(TRIES):
            process = self._fork(import_all, self._modules)
            process.join()
            if process.exitcode == 0:
                return
        raise CollectorsLost(
            f"no collector could be started: a process that imports {', '.join(self._modules)} "
            f"ended with code {process.exitcode}; its error output above says why; resume the run "
            "when that is mended"
        )
