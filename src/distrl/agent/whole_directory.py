"""A directory that is there whole or not at all: written under a hidden name, then renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_directory(directory: Path) -> Iterator[Path]:
    """Where to write what is to become `directory`, which is not there yet, or empty.

    If writing fails, nothing is left of it.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=directory.parent))
    try:
        yield unfinished
        unfinished.rename(directory)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # gone already if all went well
