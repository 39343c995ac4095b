"""The heap of a process that runs for weeks: what is free in it goes back to the kernel.

Tensors of ever other sizes leave holes between what is in use, and with our settings of malloc
(`process_environment`) little returns by itself: a learner whose use is level would still grow.
"""

from __future__ import annotations

import ctypes
import sys


def give_back() -> bool:
    """Some milliseconds, now and then. False where the C library knows no such thing."""
    if not sys.platform.startswith("linux"):
        return False
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))
