"""The served phone's storage: folders and files, in memory only, limited in size and number.

Paths are only keys of a dictionary here. No path that a client sends ever reaches the file system
of the host.
"""

from __future__ import annotations

import posixpath
import stat
from dataclasses import dataclass, replace

STORAGE = "/storage/emulated/0"
ALIASES = ("/sdcard", "/mnt/sdcard", "/storage/self/primary", "/storage/sdcard0")
WRITABLE = (STORAGE, "/data/local/tmp")
FIRST_FOLDERS = (
    "/system/bin", "/system/app", "/data/local/tmp",
    *(f"{STORAGE}/{name}" for name in (
        "Alarms", "DCIM", "Documents", "Download", "Movies", "Music", "Pictures",
    )),
)  # fmt: skip
MAX_BYTES = 256 * 2**20
MAX_FILES = 10_000
MAX_PATH = 1024  # as in adb's own file transfer
FOLDER_MODE = stat.S_IFDIR | 0o771
FILE_MODE = stat.S_IFREG | 0o660


class StorageRefusal(Exception):
    """A path that cannot be read or written; shell and file transfer turn it into a message."""


@dataclass(frozen=True, slots=True)
class Node:
    """A file or a folder."""

    mode: int = FILE_MODE
    changed: int = 0  # seconds since 1970
    data: bytes = b""

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)


def canonical(path: str) -> str:
    """Return the canonical form of a path; links such as /sdcard are resolved."""
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH:
        raise StorageRefusal("File name too long")
    if "\x00" in path:
        raise StorageRefusal("Invalid argument")
    whole = posixpath.normpath("/" + path.lstrip("/"))
    for alias in ALIASES:
        if whole == alias or whole.startswith(alias + "/"):
            return STORAGE + whole[len(alias) :]
    return whole


class FileSystem:
    """A tree of nodes by path. Not thread-safe: its phone's lock guards it."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._used = 0
        for folder in FIRST_FOLDERS:
            self._add_folders(folder, 0)

    def _add_folders(self, path: str, changed: int) -> None:
        while path not in self._nodes:
            self._nodes[path] = Node(FOLDER_MODE, changed)
            path = posixpath.dirname(path)

    def find(self, path: str) -> Node | None:
        try:
            return self._nodes.get(canonical(path))
        except StorageRefusal:
            return None

    def read(self, path: str) -> bytes:
        node = self._nodes.get(canonical(path))
        if node is None:
            raise StorageRefusal("No such file or directory")
        if node.is_folder:
            raise StorageRefusal("Is a directory")
        return node.data

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        whole = canonical(path)
        node = self._nodes.get(whole)
        if node is None:
            raise StorageRefusal("No such file or directory")
        if not node.is_folder:
            raise StorageRefusal("Not a directory")
        start = whole.rstrip("/") + "/"
        rest = (other[len(start) :] for other in self._nodes if other.startswith(start))
        return sorted(name for name in rest if name and "/" not in name)

    def write(self, path: str, data: bytes, changed: int, mode: int = 0o660) -> None:
        """Write a file, and create its parent folders."""
        whole = self._writable(path)
        old = self._nodes.get(whole)
        if old is not None and old.is_folder:
            raise StorageRefusal("Is a directory")
        self.make_folder(posixpath.dirname(whole), changed)
        used = self._used + len(data) - (len(old.data) if old else 0)
        if used > MAX_BYTES or (old is None and len(self._nodes) >= MAX_FILES):
            raise StorageRefusal("No space left on device")
        self._used = used
        self._nodes[whole] = Node(stat.S_IFREG | (mode & 0o777), changed & 0xFFFFFFFF, data)

    def make_folder(self, path: str, changed: int) -> None:
        whole = canonical(path)
        above = whole
        while above not in self._nodes:
            above = posixpath.dirname(above)
        if not self._nodes[above].is_folder:
            raise StorageRefusal("Not a directory")
        if above != whole:
            self._writable(path)
            if len(self._nodes) + whole.count("/") >= MAX_FILES:
                raise StorageRefusal("No space left on device")
            self._add_folders(whole, changed)

    def remove(self, path: str, with_content: bool = False) -> None:
        whole = self._writable(path)
        node = self._nodes.get(whole)
        if node is None:
            raise StorageRefusal("No such file or directory")
        if node.is_folder and not with_content:
            raise StorageRefusal("Is a directory")
        for other in [p for p in self._nodes if p == whole or p.startswith(whole + "/")]:
            self._used -= len(self._nodes.pop(other).data)

    def touch(self, path: str, changed: int) -> None:
        node = self.find(path)
        if node is None:
            self.write(path, b"", changed)
        else:
            self._nodes[self._writable(path)] = replace(node, changed=changed)

    def _writable(self, path: str) -> str:
        whole = canonical(path)
        if any(whole.startswith(root + "/") for root in WRITABLE):
            return whole
        raise StorageRefusal("Permission denied" if whole in WRITABLE else "Read-only file system")
