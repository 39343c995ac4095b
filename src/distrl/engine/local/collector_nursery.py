"""Starts collector processes quickly: they are forked from one that has all imports behind it.

The nursery (`nursery_process`) is started with the crew, and imports while others work. Should it
be killed, another is started; collectors that run do not notice. The collectors are children of
this process: it waits for them, kills them by their ids, and the kernel ends them with it.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from distrl.engine.local.forked_process import ForkedProcess
from distrl.engine.local.nursery_process import FORK, PROCESS_ID
from distrl.engine.local.process_lifetime import adopt_orphans, is_adopted
from distrl.errors import CollectorsLost, storage_error
from distrl.process_environment import for_nursery

READY_SECONDS = 180.0  # imports on a machine that is busy with other things
ANSWER_SECONDS = 30.0  # a fork
TRIES = 3


class CollectorNursery:
    """A context manager. `modules` are imported beforehand, besides what all collectors need."""

    def __init__(self, log: Path, modules: Sequence[str] = ()) -> None:
        self._log = log
        self._modules = modules
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._has_imported = False
        self._failures = 0  # since it was last ready

    def __enter__(self) -> Self:
        adopt_orphans(True)
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        adopt_orphans(False)

    def is_ready(self, seconds: float = 0.0) -> bool:
        """Can it fork now, or within so many seconds? Where it has died, another is started."""
        control = self._control or self._start()
        patience = 0.0 if self._has_imported else seconds
        if select.select([control], [], [], patience)[0]:  # its first word, or its end
            self._has_imported = self._told(control) is not None
        return self._has_imported

    def fork(self, link: socket.socket, log: int) -> ForkedProcess:
        """A new collector process at the other end of `link`; what it says goes to `log`.

        It waits until the nursery is ready.
        """
        for _ in range(TRIES):
            child = self._forked(link, log)
            if is_adopted(child):
                return ForkedProcess(child)
            self._end()  # whoever was to leave it to us hangs; the child gives up by itself
        raise CollectorsLost(
            f"no collector could be started: {TRIES} in a row were forked and never became "
            "children of this process; resume the run when the machine is less busy"
        )

    def _forked(self, link: socket.socket, log: int) -> int:
        """The id of a new process, which is about to be left to us."""
        while True:
            if not self.is_ready(READY_SECONDS) or self._control is None:
                continue  # until there is one, or too many have failed
            with contextlib.suppress(OSError):  # that it has gone is told below
                socket.send_fds(self._control, [FORK], [link.fileno(), log])
            child = self._told(self._control)
            if child is not None:
                return child

    def _told(self, control: socket.socket) -> int | None:
        """What the nursery says next; None: it has gone, or is silent for too long."""
        try:
            said = control.recv(PROCESS_ID.size)
        except OSError:
            said = b""
        if said:
            self._failures = 0
            return int(PROCESS_ID.unpack(said)[0])
        self._end()
        self._failures += 1
        if self._failures >= TRIES:
            raise CollectorsLost(
                f"no collector could be started: their nursery failed {TRIES} times in a row; "
                f"{self._log} may say why; resume the run when that is mended"
            )
        return None

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(ANSWER_SECONDS)
        words = [str(theirs.fileno()), str(os.getpid()), *self._modules]
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("ab") as output, theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "distrl.engine.local.nursery_process", *words],
                    env=for_nursery(os.environ),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            raise storage_error(error, f"starting a nursery with the log {self._log}") from error
        self._control = ours
        return ours

    def _end(self) -> None:
        self._has_imported = False
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
