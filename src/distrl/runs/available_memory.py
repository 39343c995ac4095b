"""How much memory a process may still use here, the limit of its container included."""

from __future__ import annotations

from pathlib import Path


def available_memory() -> int:
    """Bytes that may still be used here, the limit of a container included."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    [free] = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    limit = Path("/sys/fs/cgroup/memory.max")
    used = Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and used.exists() and limit.read_text().strip() != "max":
        free = min(free, int(limit.read_text()) - int(used.read_text()))
    return free
