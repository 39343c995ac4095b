"""Full disks: a small disk of its own (needs root), or a quota on what a process writes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DISK_BYTES = 3 * 2**30
OWN_MOUNTS, PRIVATE_TREE, DETACH = 0x00020000, 0x00044000, 2  # constants of the kernel's headers


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a small tmpfs at `folder`, visible only to this process and its children."""
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


def take_all_room(disk: Path, seconds: float) -> None:
    """Fill the disk for `seconds`."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(2**20))
    time.sleep(seconds)
    ballast.unlink()


def forbid_growth(process: subprocess.Popen[bytes], seconds: float) -> None:
    """For `seconds`, let the process write no file beyond its first 4 kB."""
    limit = ["prlimit", "--pid", str(process.pid)]
    subprocess.run([*limit, "--fsize=4096:unlimited"], check=True)
    time.sleep(seconds)
    if process.poll() is None:
        subprocess.run([*limit, "--fsize=unlimited:unlimited"], check=True)
