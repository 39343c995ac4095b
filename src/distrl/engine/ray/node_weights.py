"""The newest weights of a node: mapped from Ray's shared memory, checked by the first process.

All processes of a node that fetch the same Ray object get the same read-only memory, as long as one
of them holds it. The tensors are views of that memory, so that neither time nor memory grows with
the number of collectors, and nothing is written to a disk.

What it promises:

- Nobody gets tensors of bytes that were not checked. The first process to load an object checks
  its digest, while the others wait (`lock`). A process holds a shared lock on the object's marker
  (`OBJECT.checked`) as long as its tensors live; while anybody holds that lock, the bytes in memory
  are those that were checked. If nobody holds it, Ray may have fetched the object anew, and it is
  checked again.
- The kernel releases the locks of a process that dies: it blocks nobody, and marks nothing as
  checked.
- Memory and lock are released with the last tensor.

Without a private folder for the locks each process checks for itself. Nobody may write to the
tensors: all processes of the node share the memory, and PyTorch does not protect it.
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
        """Return the tensors of a weight file, as views of the memory that `fetch` returns.

        `identity`: the id of Ray's object. All processes that fetch it while one of them holds it
        get the same memory.
        Raise `CorruptWeights` if what was fetched has another digest.
        """
        from distrl.agent.weight_view import view_weights  # loads torch: imported only when needed

        content = fetch()  # held from here on, so our memory stays what others have checked
        try:
            checked = self._checked(content, digest, identity)
        except (OSError, StorageError):  # disk full, or no private folder
            check_weights(content.data, digest)
        else:
            weakref.finalize(content, os.close, checked)
        return view_weights(content)

    def _checked(self, content: NDArray[np.uint8], digest: str, identity: str) -> int:
        """Check the bytes unless another process did; return the marker, open and locked."""
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
        """Return whether another process, or load of this one, holds the checked bytes."""
        try:
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    def _remove_others(self, identity: str) -> None:
        for older in self.folder.glob("*.checked"):
            if older.stem != identity:  # later loads of it find no marker, and check
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
        """Remove the markers. Mapped weights stay mapped; later loads check again."""
        shutil.rmtree(self.folder, ignore_errors=True)
