"""The collector processes of a run on this machine, as the learner sees them.

`CollectorPool` is the transport between them and the learner: it implements `Collectors`
(`run.collection`) with sockets. The registry decides when a collector is killed, replaced or given
up. A collector counts as ended when its connection is closed: by then everything that it sent has
been read, also what it sent just before it was killed. No collector can block the pool: what one
does not read now is written later, and one that reads nothing for `SEND_SECONDS` is killed.

multiprocessing's forkserver forks the collectors. It has imported all that they need, so one starts
in a fraction of a second and shares the memory of the imports. This module and `collector_process`
add what the standard library lacks:

- The forkserver's environment keeps imports from starting threads (`process_environment`).
- `Process` learns of exits from the forkserver, and would report every collector as dead when the
  forkserver is killed. A pidfd tells the truth, and never signals another process by mistake.
- A collector dies with the learner (`process_lifetime`), not with the forkserver. multiprocessing
  restarts a killed forkserver when the next collector is started.

As always with multiprocessing, a script that uses this needs `if __name__ == "__main__":`.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Self

from distrl.engine.ingest.delivery import Acknowledge
from distrl.engine.ingest.messages import (
    Delivery,
    Encodings,
    Heartbeat,
    Message,
    MessageSocket,
    Play,
    Played,
    Received,
    Refused,
    Stop,
)
from distrl.engine.local.collector_process import collect
from distrl.engine.local.process_lifetime import Surroundings, import_all, work_in
from distrl.engine.local.synchronous_collection import Rounds
from distrl.engine.run.collection import Arrived
from distrl.engine.supervision.collector_registry import (
    CollectorInfo,
    CollectorRegistry,
    Registration,
)
from distrl.errors import CollectorsLost
from distrl.process_environment import for_forkserver
from distrl.runs.run_directory import RunDirectory
from distrl.watched_threads import WatchedThreads

PACE_SECONDS = 0.2  # between two `Pace` messages
SEND_SECONDS = 5.0  # a collector that reads nothing for that long is killed
MAX_UNSENT = 1 << 22  # bytes; a collector that leaves more than that unread is killed, too
DYING_SECONDS = 1.0  # that a process may take to exit after its connection has closed
EXIT_SECONDS = 5.0  # to wait for its exit code, once it was killed
KILLED = " (killed by somebody, or by the kernel for want of memory)"
TAIL_BYTES = 2000  # read from the end of its log, to find the last line
TRIES, FIRST_PAUSE = 5, 0.1  # attempts to start one; seconds before the next, doubling
Work = Callable[[socket.socket, Path, Registration], None]  # what a process runs from start to end
PRELOAD = "distrl.engine.local.collector_process"


class CollectorChild:
    """One collector process, or the policy process, as the learner's process sees it."""

    def __init__(
        self, info: CollectorInfo, log: Path, link: MessageSocket, process: ForkServerProcess
    ) -> None:
        self.info = info
        self.link = link
        self.trouble = ""  # why it was killed
        self.told_to_stop = False
        self.hung_up = False  # its connection has closed; its exit follows in a moment
        self.round = -1  # the last round that it was told to play
        self._killed = False  # by us
        self._taken, self._taken_at = -1, 0.0  # bytes its socket had taken; when that last grew
        self._log = log
        self._process = process
        assert process.pid is not None
        self.pid = process.pid
        try:
            self._pidfd: int | None = os.pidfd_open(process.pid)
        except ProcessLookupError:
            self._pidfd = None  # it has ended already

    def send(self, message: Message) -> None:
        """Send a message without waiting; kill a running child that leaves too much unread."""
        with contextlib.suppress(EOFError):  # it has ended; what it had sent is still read
            self.link.post(message)
        if self.link.unsent > MAX_UNSENT:
            self._give_up(f"left {self.link.unsent:,} bytes of messages unread")

    def send_on(self) -> None:
        """Write queued messages, as far as its socket has room."""
        with contextlib.suppress(EOFError):
            self.link.flush()

    def check_taking(self, now: float) -> None:
        """Kill it if it runs and reads none of the queued messages. Call this periodically.

        Queued messages are written first: nothing wrote them while the learner itself was paused.
        """
        self.send_on()
        if not self.link.unsent or self.link.taken != self._taken:
            self._taken, self._taken_at = self.link.taken, now
        elif now - self._taken_at >= SEND_SECONDS:
            self._give_up(f"took no message for {SEND_SECONDS:g} s")

    def _give_up(self, trouble: str) -> None:
        if self.is_running():
            self.trouble = self.trouble or trouble
            self.kill()

    def is_running(self, seconds: float = 0.0) -> bool:
        """Wait up to `seconds` for its exit; return whether it still runs."""
        return self._pidfd is not None and not wait([self._pidfd], seconds)

    def kill(self) -> None:
        """Kill it; what it has sent can still be read from `link`."""
        self._killed = True
        if self._pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def end(self) -> str:
        """Kill it if it still runs, release it, and return a readable reason for its end."""
        by_others = not self._killed and not self.is_running(DYING_SECONDS if self.hung_up else 0.0)
        self.kill()
        self.is_running(EXIT_SECONDS)
        self._process.join(EXIT_SECONDS)
        code = self._process.exitcode
        trouble = self.trouble or f"ended with code {code}"
        if by_others and code == -signal.SIGKILL:
            trouble += KILLED
        last = self._last_line()
        self.link.close()
        if code is not None:
            self._process.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        return f"{trouble}: {last}" if last else trouble

    def _last_line(self) -> str:
        """Return the last line of its log: often the error that ended it."""
        try:
            lines = self._log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return lines[-1].strip() if lines else ""


class Forkserver:
    """Context manager that starts collector processes; entering it begins the imports.

    There is one forkserver per Python process, and it lives as long as that. It imports `modules`
    before it forks. A forked process runs `work`, a module-level function, with the environment
    variables that this process has at that time.
    """

    def __init__(
        self,
        modules: Sequence[str] = (PRELOAD,),
        work: Work = collect,
    ) -> None:
        self._modules = list(modules)
        self._work = work
        self._context = multiprocessing.get_context("forkserver")
        self._before = dict[str, str | None]()  # environment variables to restore
        self._warming_up = WatchedThreads("forkserver", self._warm_up, lambda: None)

    def __enter__(self) -> Self:
        for name, value in for_forkserver(os.environ).items():
            self._before[name] = os.environ.get(name)
            os.environ[name] = value  # a restarted forkserver inherits it, too
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
        """Wait up to `seconds` for the imports; return whether `start` can fork at once."""
        ready = self._warming_up.join(seconds)
        self._warming_up.raise_failure()
        return ready

    def start(
        self, run: RunDirectory, registration: Registration, work: Work | None = None
    ) -> CollectorChild:
        """Start a process that runs `work`; None: the default, a collector."""
        ours, theirs = socket.socketpair()
        with ExitStack() as if_it_fails, theirs:
            if_it_fails.callback(ours.close)
            arguments = (theirs, run.path, registration)
            process = self._fork(work_in, Surroundings.here(), work or self._work, *arguments)
            if_it_fails.pop_all()
        log = run.path / "logs" / f"{registration.info.name}.log"
        return CollectorChild(registration.info, log, MessageSocket(ours), process)

    def _fork(self, target: Callable[..., None], *arguments: object) -> ForkServerProcess:
        for attempt in range(TRIES):
            process = self._context.Process(target=target, args=arguments, daemon=True)
            try:
                process.start()
            except (OSError, EOFError):
                # The forkserver was killed; multiprocessing starts another once it has noticed.
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


@dataclass(slots=True)
class CollectorPool:
    """Implements `Collectors`: starts the processes, reads their messages, sends their orders.

    Without `rounds`, collectors play without end. `on_encodings` receives what they encode to
    decide; without it they are not asked to send it. `check_policy` raises when no policy process
    is left to decide for them.
    """

    registry: CollectorRegistry
    forkserver: Forkserver
    rounds: Rounds | None = None
    on_encodings: Callable[[Encodings], None] | None = None
    check_policy: Callable[[], None] | None = None
    clock: Callable[[], float] = time.monotonic
    _selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)
    _children: dict[int, CollectorChild] = field(default_factory=dict)
    _paced: float = -float("inf")

    def receive(self, seconds: float) -> Arrived:
        arrived = Arrived([], [])
        for child in self._children.values():
            self._listen_for_room(child)
        for key, events in self._selector.select(seconds):
            child = key.data
            if events & selectors.EVENT_WRITE:
                child.send_on()
            if not events & selectors.EVENT_READ:
                continue
            try:
                for message in child.link.receive_all():
                    self._take(child, message, arrived)
            except EOFError:
                self._selector.unregister(child.link)  # it has ended, or soon will
        return arrived

    def _listen_for_room(self, child: CollectorChild) -> None:
        """Select its socket for writing as well while messages for it are queued."""
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if child.link.unsent else 0)
        key = self._selector.get_map().get(child.link.fileno())
        if key is not None and key.events != wanted:
            self._selector.modify(child.link, wanted, child)

    def _take(self, child: CollectorChild, message: Message, arrived: Arrived) -> None:
        match message:
            case Delivery(encoded):
                arrived.deliveries.append((encoded, self._reply_to(child)))
            case Heartbeat():
                arrived.heartbeats.append((child.info, message))
            case Encodings() if self.on_encodings is not None:
                self.on_encodings(message)
            case Played() if self.rounds is not None:
                self.rounds.played(child.info.number)
            case _:
                raise TypeError(f"{child.info.name} sent a {type(message).__name__}")

    def _reply_to(self, child: CollectorChild) -> Acknowledge:
        def reply(answer: Received | Refused) -> None:
            if self.rounds is not None and isinstance(answer, Received):
                self.rounds.stored(child.info.number)
            child.send(answer)

        return reply

    def look_after(self) -> None:
        if self.check_policy is not None:
            self.check_policy()
        for info, trouble in self.registry.unresponsive():
            self._children[info.number].trouble = trouble
            self._children[info.number].kill()
        for child in list(self._children.values()):
            if not self._is_connected(child):
                self._bury(child)
        if self.registry.stop_at is None:
            self._start_due()
        now = self.clock()
        pace_is_due = now - self._paced >= PACE_SECONDS
        self._paced = now if pace_is_due else self._paced
        for child in self._children.values():
            child.check_taking(now)
            self._send_orders(child, with_pace=pace_is_due)

    def _is_connected(self, child: CollectorChild) -> bool:
        return child.link.fileno() in self._selector.get_map()

    def _bury(self, child: CollectorChild) -> None:
        """Remove a child whose connection has closed, and report its end to the registry."""
        del self._children[child.info.number]
        child.hung_up = True
        trouble = child.end()
        if child.told_to_stop:
            self.registry.deregister(child.info)
        else:
            self.registry.report_exit(child.info.number, trouble)

    def _start_due(self) -> None:
        due = self.registry.due()
        if due and self.forkserver.is_ready():
            for number in due:
                registration = self.registry.register(number)
                child = self.forkserver.start(self.registry.run, registration)
                self._selector.register(child.link, selectors.EVENT_READ, child)
                self._children[number] = child
                self._send_orders(child, with_pace=True)

    def _send_orders(self, child: CollectorChild, *, with_pace: bool) -> None:
        orders = self.registry.orders(child.info.number)
        if orders.finish_within is not None:
            if not child.told_to_stop:
                child.told_to_stop = True
                child.send(Stop(orders.finish_within))
            return
        if with_pace and not child.link.unsent:  # else skip: the next one replaces it
            child.send(orders.pace)
        current, tasks = self.rounds.owed(child.info.number) if self.rounds else (0, None)
        if child.round != current and tasks != 0:
            child.round = current
            child.send(Play(tasks, share_encodings=self.on_encodings is not None))

    def close(self) -> None:
        for child in self._children.values():
            child.end()
        self._children = {}
        self._selector.close()
