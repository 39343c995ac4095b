"""Which files this process has open."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def open_files(folder: Path) -> list[Path]:
    """Files below a folder that are open, once for each descriptor; also those that were removed.

    Other threads open and close files of their own meanwhile: what is counted is the folder's.
    """
    found = list[Path]()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since
            found.append(link.readlink())
    return [path for path in found if path.is_relative_to(folder)]
