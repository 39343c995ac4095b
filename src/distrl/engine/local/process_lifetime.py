"""What the kernel knows about a process and its parent: who outlives whom, and by which name.

Linux alone has these; they are the reason why a run leaves no process behind, however it ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36
NAME_BYTES = 15  # the kernel keeps so many
ADOPTION_SECONDS = 10.0


def _tell_kernel(option: int, value: int | bytes) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process should the parent be killed before it can say so."""
    _tell_kernel(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent has gone already")


def adopt_orphans(wanted: bool) -> None:
    """May grandchildren of this process become its children when their own parent ends?"""
    _tell_kernel(PR_SET_CHILD_SUBREAPER, int(wanted))


def wait_for_adoption(parent: int) -> None:
    """Until that process is our parent; it is not, if it has gone meanwhile."""
    until = time.monotonic() + ADOPTION_SECONDS
    while os.getppid() != parent and time.monotonic() < until:
        time.sleep(0.001)


def is_adopted(child: int, seconds: float = ADOPTION_SECONDS) -> bool:
    """Is that process our child, or within so many seconds? It may have ended by then.

    Where this thread is kept waiting itself, it looks once more before it says no.
    """
    until = time.monotonic() + seconds
    while True:
        last_look = time.monotonic() > until
        try:
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            if last_look:
                return False
            time.sleep(0.001)
        else:
            return True


def name_process(name: str) -> None:
    """As `ps` and `top` show it."""
    _tell_kernel(PR_SET_NAME, name.encode()[:NAME_BYTES])
