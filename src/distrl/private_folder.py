"""A folder under /tmp that is this user's alone, though anybody may have made it before.

Locks and files that the processes of a user share have names that others can guess. Whoever makes
the folder first could put links in it, or make it a link itself, and have us write elsewhere.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from distrl.errors import StorageError, storage_error

OTHERS = 0o077


def make_private(folder: Path) -> Path:
    """Make the folder for this user alone, or raise `StorageError` where another has it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise storage_error(error, f"making the folder {folder}") from error
    open_to_others = found.st_mode & OTHERS
    if found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode) or open_to_others:
        raise StorageError(
            f"{folder} is not ours alone (user {found.st_uid}, {stat.filemode(found.st_mode)}); "
            "remove it, or set TMPDIR to a folder of your own"
        )
    return folder
