"""The newest weights as a file of the node: fetched and checked once, mapped by all its collectors.

The first process of a node that wants a version holds a lock while it fetches the bytes, checks
their digest and writes them to a file in the node's temporary folder; the others wait for the lock
and then map the file, so that neither time nor memory grows with the number of collectors. A file
gets its name when it is complete and is never changed; one that is replaced stays readable for
those that have mapped it. Where the disk has no room, each process keeps a copy of its own.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distrl.errors import StorageError
from distrl.private_folder import make_private
from distrl.weights.weight_file import check_weights, map_weights, unpack_weights

Fetch = Callable[[], NDArray[np.uint8]]


class NodeWeights:
    """The weight files of one node, `node` being its Ray id. Only this user can write there."""

    def __init__(self, node: str, temporary: Path | None = None) -> None:
        within = temporary or Path(tempfile.gettempdir())
        self.folder = within / f"distrl-weights-{os.getuid()}-{node}"

    def load(self, digest: str, fetch: Fetch) -> dict[str, Any]:
        """The tensors of a file; `fetch` is called if no process of the node has it yet.

        `CorruptWeights`: what was fetched does not have that digest.
        """
        path = self.folder / f"{digest}.safetensors"
        try:
            with self._locked():
                if not path.exists():
                    self._write(path, fetch(), digest)
                return map_weights(path, "pt")
        except TimeoutError:  # of `fetch`
            raise
        except (OSError, StorageError):  # no room, or no folder of ours
            return unpack_weights(fetch().tobytes(), digest, "pt")

    def _write(self, path: Path, content: NDArray[np.uint8], digest: str) -> None:
        check_weights(content.data, digest)
        unfinished = path.with_suffix(".unfinished")
        try:
            unfinished.write_bytes(content.data)
            unfinished.rename(path)
        finally:
            unfinished.unlink(missing_ok=True)
        for older in self.folder.glob("*.safetensors"):
            if older != path:
                older.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (make_private(self.folder) / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def close(self) -> None:
        """Remove the files. Those that have mapped one keep it, and another writes them anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
