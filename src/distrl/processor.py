"""How many cores this process may use, on every system."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Those that the process may run on; where the system cannot say that (a Mac), all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
