"""The newest weights of a node: mapped from Ray's shared memory, checked by the first process.

Every process of a node that fetches an object of Ray is given the same read-only memory; it is the
same as long as one of them keeps it. The tensors lie in that memory, so that neither time nor
memory grows with the number of collectors, and nothing is written to a disk.

What it promises:

- Nobody gets tensors of bytes that were not checked. Of each object the first process checks the
  digest, while the others wait for it (`lock`). A process holds a shared lock on the object's
  marker (`OBJECT.checked`) as long as its tensors live; where that lock is held, the bytes in
  memory are those that were checked. Where nobody holds it, Ray may have fetched the object anew,
  and it is checked anew.
- The kernel gives back the locks of a process that dies: it blocks nobody, and marks nothing as
  checked.
- Memory and lock are given back with the last tensor.

Without a folder of our own for the locks each process checks for itself. Nobody may write into the
tensors: the memory belongs to all processes of the node, and PyTorch does not guard it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distrl.errors import StorageError
from distrl.private_folder import make_private
from distrl.weights.weight_file import check_weights

Fetch = Callable[[], NDArray[np.uint8]]


class NodeWeights:
    """The weights of one node, `node` being its Ray id. Only this user can write to its folder."""

    def __init__(self, node: str, temporary: Path | None = None) -> None:
        within = temporary or Path(tempfile.gettempdir())
        self.folder = within / f"distrl-weights-{os.getuid()}-{node}"

    def load(self, digest: str, identity: str, fetch: Fetch) -> dict[str, Any]:
        """The tensors of a file, in the memory that `fetch` gives.

        `identity`: of Ray's object. All processes that fetch it while one of them keeps it are
        given the same memory.
        `CorruptWeights`: what was fetched does not have that digest.
        """
        from distrl.agent.weight_view import view_weights  # loads torch, and only there

        content = fetch()  # kept from here on: what others have checked stays what we have
        try:
            checked = self._checked(content, digest, identity)
        except (OSError, StorageError):  # no room, or no folder of ours
            check_weights(content.data, digest)
        else:
            weakref.finalize(content, os.close, checked)
        return view_weights(content)

    def _checked(self, content: NDArray[np.uint8], digest: str, identity: str) -> int:
        """The marker, open and locked by this process, of bytes that are right."""
        with self._locked(), ExitStack() as opened:
            marker = self._open(f"{identity}.checked")
            opened.callback(os.close, marker)
            if not self._is_held(marker):
                check_weights(content.data, digest)
                self._remove_others(identity)
            fcntl.flock(marker, fcntl.LOCK_SH)
            opened.pop_all()
        return marker

    @staticmethod
    def _is_held(marker: int) -> bool:
        """Does another process, or another load of this one, have the checked bytes?"""
        try:
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    def _remove_others(self, identity: str) -> None:
        for older in self.folder.glob("*.checked"):
            if older.stem != identity:  # who asks for it yet finds no marker, and checks
                older.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_private(self.folder)
        lock = self._open("lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _open(self, name: str) -> int:
        return os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        """Remove the markers. Those that have mapped weights keep them; who comes later checks."""
        shutil.rmtree(self.folder, ignore_errors=True)
