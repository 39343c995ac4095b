"""A file that a command is to write: what is wrong with it is said before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from distrl.errors import UsageError, storage_error


def prepare_output_file(path: Path, example: str) -> None:
    """Make the folder of a file that will be written; raise where there can be no such file.

    `example`: a name that would do, for the message.
    """
    if path.is_dir() or not path.name:
        raise UsageError(f"{path} is a folder; name a file in it, such as {path / example}")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is a device or a pipe, no file; name one such as {example}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, f"making the folder of {path}") from error
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise UsageError(f"we may not write in the folder of {path}; name a file in another")
