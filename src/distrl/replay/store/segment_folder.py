"""The segments of a trajectory store, by their numbers: a directory of files that only grows.

Numbers begin with 1, grow with time and are never used twice.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from distrl.replay.store.segment import Segment

NAME = re.compile(r"segment-(\d{9})\.records")


class SegmentFolder:
    """Where segments are; knows names, opens nothing until asked."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def numbers(self) -> list[int]:
        """Oldest first; empty where there is no such directory yet."""
        if not self.directory.is_dir():
            return []
        found = (NAME.fullmatch(path.name) for path in self.directory.iterdir())
        return sorted(int(name[1]) for name in found if name)

    def path(self, number: int) -> Path:
        return self.directory / f"segment-{number:09d}.records"

    def segment(self, number: int) -> Segment:
        return Segment(self.path(number), number)

    def sync(self) -> None:
        """Wait until the names themselves are on the disk."""
        handle = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
