"""Check the path of a command's output file before the command does any work."""

from __future__ import annotations

import os
from pathlib import Path

from distrl.errors import UsageError, storage_error


def prepare_output_file(path: Path, example: str) -> None:
    """Create the folder of an output file; raise if the file cannot be written.

    `example`: a valid file name for the error message.
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
