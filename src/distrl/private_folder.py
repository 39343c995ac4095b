"""Create a folder under /tmp that only this user can access, even if others try to create it first.

Locks and files that a user's processes share have guessable names. Another user who creates the
folder first could put symbolic links in it, or make it a link itself, and so redirect our writes.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from distrl.errors import StorageError, storage_error

OTHERS = 0o077


def make_private(folder: Path) -> Path:
    """Create the folder for this user alone, or raise `StorageError` if others can access it."""
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
    """Return a file descriptor; while it is open, the folder's files are not removed for their age.

    systemd-tmpfiles skips a folder that is locked (tmpfiles.d, since systemd 242); otherwise it
    removes files in /tmp that were not accessed for ten days, even if those files are locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor
