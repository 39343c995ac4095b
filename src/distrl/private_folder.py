"""A folder under /tmp that is this user's alone, though anybody may have made it before.

Locks and files that the processes of a user share have names that others can guess. Whoever makes
the folder first could put links in it, or make it a link itself, and have us write elsewhere.
"""

from __future__ import annotations

import fcntl
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


def keep_from_cleanup(folder: Path) -> int:
    """A descriptor: while it is open, what lies in the folder is not removed for its age.

    systemd-tmpfiles leaves a folder alone that somebody has locked (tmpfiles.d, since systemd 242);
    else it removes files of /tmp that were not touched for ten days, though they are locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor
