"""How much memory, disk and GPU a run uses of the learner's machine, as metrics.

The learner samples them every few seconds from `/proc` and from PyTorch, in well under a
millisecond. Figures that a system does not provide are left out. psutil would give the same, and
nothing else here needs it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from distrl.agent.torch_device import gpu_memory
from distrl.process_environment import available_memory

GIGABYTE = 1e9


def machine_usage(run: Path) -> dict[str, float]:
    """Return gigabytes of disk, memory and GPU, and the share of the GPU's memory in use."""
    figures: dict[str, float] = {}
    with suppress(OSError):
        figures["machine/disk_free_gigabytes"] = shutil.disk_usage(run).free / GIGABYTE
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        figures["machine/learner_gigabytes"] = pages * os.sysconf("SC_PAGE_SIZE") / GIGABYTE
    with suppress(OSError, ValueError):
        figures["machine/memory_left_gigabytes"] = available_memory() / GIGABYTE
    if (gpu := gpu_memory()) is not None:
        used, total = gpu
        figures["machine/gpu_gigabytes"] = used / GIGABYTE
        figures["machine/gpu_memory_share"] = used / total
    return figures
