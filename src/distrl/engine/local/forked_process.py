"""A child of this process that somebody else forked for it: the part of `Popen` that is needed."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from typing import Protocol


class Process(Protocol):
    """What a supervisor does with a process; `subprocess.Popen` is one."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def kill(self) -> None: ...

    def wait(self) -> int: ...


@dataclass(slots=True)
class ForkedProcess:
    """Implements `Process`. Until it has been waited for, its id belongs to nobody else."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, minus the signal that ended it; None while it runs."""
        return self._reap(os.WNOHANG)

    def kill(self) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        code = self._reap(0)
        assert code is not None
        return code

    def _reap(self, how: int) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, how)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode
