"""A small disk of its own for a benchmark that fills it; needs root."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

DISK_BYTES = 3 * 2**30
OWN_MOUNTS, PRIVATE_TREE, DETACH = 0x00020000, 0x00044000, 2  # as the kernel's headers have them


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Only this process and its children see it, and with the last of them it is gone."""
    kernel = ctypes.CDLL(None, use_errno=True)
    steps: tuple[Callable[[], int], ...] = (
        lambda: kernel.unshare(OWN_MOUNTS),
        lambda: kernel.mount(b"none", b"/", None, PRIVATE_TREE, None),
        lambda: kernel.mount(b"none", bytes(folder), b"tmpfs", 0, f"size={DISK_BYTES}".encode()),
    )
    for step in steps:
        if step():
            why = os.strerror(ctypes.get_errno())
            raise SystemExit(f"--disk: no disk can be mounted at {folder}: {why}; be root")
    try:
        yield
    finally:
        kernel.umount2(bytes(folder), DETACH)
