"""A directory of published weight versions that the learner and the collectors share.

It holds a safetensors file for each of the last versions (`weight_file`), and `latest.json`, which
lists them. Promises:

- Publishing is atomic and durable: a version is complete before a reader can see it, and on disk
  before `publish` returns. If the learner is killed meanwhile, the previous version stays the
  latest.
- Versions only grow; an older or equal one is refused.
- `latest_version` reads one small file, so it is cheap to poll.
- `load` returns the newest intact version. A damaged one is listed in `damages` and the one before
  it is tried; if none is left, `load` raises `CorruptWeights`.
- The newest `keep` versions stay. A reader that has opened a file can finish reading it after its
  removal; one that finds a file gone takes a newer version.

The weights are all those of a policy, or adapters to a base model that every reader has; the file's
metadata tells which. One learner publishes; each of any number of readers has its own
`WeightStore`. A collector that sees the directory polls for newer weights between two batches of
decisions (`WeightPoller`); Ray's `WeightSource` is `engine.ray.weight_broadcast`.
"""

from __future__ import annotations

import mmap
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from distrl.errors import CorruptWeights, InvalidSetting, UsageError, storage_error
from distrl.json_lines import decode_line, encode_line
from distrl.weights.weight_file import (
    Framework,
    Weights,
    read_digest,
    read_weights,
    write_weights,
)

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 1
POLL_SECONDS = 0.1  # between two polls for newer weights
LATEST = "latest.json"
UNFINISHED = ".unfinished-"
NAME = re.compile(r"weights-(\d{9,18})-([0-9a-f]{32})\.safetensors")


class PublishedWeights(NamedTuple):
    """The result of `load`: tensors by name, and their version."""

    weights: dict[str, Any]
    version: int


class PackedWeights(NamedTuple):
    """The bytes of a version's file, to be sent to another machine; see `agent.weight_view`."""

    version: int
    digest: str
    content: memoryview  # of the memory-mapped file: nothing is read before it is sent


class WeightFile(NamedTuple):
    """The file of a version."""

    version: int
    digest: str
    path: Path


class WeightStore:
    """Publishes and loads weights, as PyTorch tensors (`framework="pt"`) or numpy arrays ("np").

    `base` names the model that published adapters belong to; empty: all weights are published.
    """

    def __init__(
        self, directory: Path, keep: int = 3, base: str = "", framework: Framework = "pt"
    ) -> None:
        if keep < 1:
            raise InvalidSetting(f"weights.keep={keep!r}; keep 1 version or more")
        self.directory = directory
        self.keep = keep
        self.base = base
        self.framework = framework
        self.damages: dict[int, str] = {}  # reason by damaged version

    # The learner's side -------------------------------------------------------------------------

    def publish(self, weights: Weights, version: int) -> None:
        """Make these weights the latest version; they are on disk when this returns."""
        kept = self._kept()
        latest = max(kept, default=-1)
        if version <= latest:
            raise UsageError(
                f"weights {self.directory}: version {version} cannot follow version {latest}; "
                "versions begin with 0 and only grow, so go on counting from the latest one"
            )
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            kept[version] = self._write(weights, version)
            self._keep_newest(kept)
        except OSError as error:
            raise storage_error(
                error, f"could not publish version {version} of the weights in {self.directory}"
            ) from error
        finally:
            for unfinished in self.directory.glob(f"{UNFINISHED}*"):
                with suppress(OSError):
                    unfinished.unlink()

    def adopt(self, fetched: Path, version: int, digest: str) -> None:
        """Publish a file that was fetched from the store of another machine, by moving it here.

        Raise `CorruptWeights`, and remove the file, if its content does not have that digest. Also
        remove it if its version is not newer than the latest.
        """
        kept = self._kept()
        try:
            read_digest(fetched, digest)
            if version > max(kept, default=-1):
                kept[version] = _file(self.directory, version, digest)
                fetched.rename(kept[version].path)
                self._sync_names()
                self._keep_newest(kept)
        except OSError as error:
            raise storage_error(error, f"keeping weights {version} in {self.directory}") from error
        finally:
            fetched.unlink(missing_ok=True)

    def _keep_newest(self, kept: dict[int, WeightFile]) -> None:
        """Announce the newest of these versions, and remove the files of all others."""
        newest = [kept[version].path for version in sorted(kept)[-self.keep :]]
        self._announce(newest)
        for path in self.directory.glob("weights-*.safetensors"):
            if path not in newest:  # a reader that has it open can still finish
                path.unlink(missing_ok=True)

    def _write(self, weights: Weights, version: int) -> WeightFile:
        unfinished = self.directory / f"{UNFINISHED}{version}"
        unfinished.unlink(missing_ok=True)
        metadata = {
            "format": "pt",  # for other readers of the file
            "version": str(version),
            "kind": "adapters" if self.base else "full",
            "base": self.base,
        }
        digest = write_weights(unfinished, weights, metadata)
        written = _file(self.directory, version, digest)
        unfinished.rename(written.path)
        self._sync_names()  # before anything points to it
        return written

    def _announce(self, kept: list[Path]) -> None:
        unfinished = self.directory / f"{UNFINISHED}{LATEST}"
        with unfinished.open("wb") as file:
            file.write(encode_line({"format": FORMAT, "kept": [path.name for path in kept]}))
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self.directory / LATEST)
        self._sync_names()

    def _sync_names(self) -> None:
        handle = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    # The collectors' side -----------------------------------------------------------------------

    def latest_version(self) -> int | None:
        """Return the newest version that is not known to be damaged; None before the first."""
        return max(self._kept().keys() - self.damages.keys(), default=None)

    def load(self) -> PublishedWeights:
        """Return the newest intact version."""
        while kept := self._kept():
            try:
                return self._first_whole(kept)
            except FileNotFoundError:
                continue  # removed before we could open it: there are newer ones
        raise UsageError(
            f"weights {self.directory}: nothing was published yet; ask latest_version first"
        )

    def newest_file(self) -> WeightFile | None:
        """Return the file of the newest version not known to be damaged; None before the first.

        The file may be removed at any time, when newer versions have been published.
        """
        return max(self.files(), default=None)

    def files(self) -> list[WeightFile]:
        """Return the files of all kept versions that are not known to be damaged."""
        return [each for each in self._kept().values() if each.version not in self.damages]

    @staticmethod
    def files_in(directory: Path) -> list[WeightFile]:
        """Return the weight files in a folder, oldest version first."""
        return sorted(_files(directory, (path.name for path in directory.glob("weights-*"))))

    def packed(self) -> PackedWeights | None:
        """Return the bytes of the newest version, without a check; None before the first."""
        while (newest := self.newest_file()) is not None:
            try:
                content = _mapped(newest.path)
            except FileNotFoundError:
                if self._kept().get(newest.version) == newest:
                    self.damages[newest.version] = f"weights {newest.path}: it is gone"
                continue
            except OSError as error:
                raise storage_error(error, f"reading weights {newest.path}") from error
            return PackedWeights(newest.version, newest.digest, content)
        return None

    def _first_whole(self, kept: dict[int, WeightFile]) -> PublishedWeights:
        files = sorted(kept.values(), reverse=True)
        for each in files:
            try:
                weights = read_weights(each.path, each.digest, self.framework)
            except CorruptWeights as error:
                self.damages[each.version] = str(error)
            except FileNotFoundError:
                if self._kept().get(each.version) != each:
                    raise
                self.damages[each.version] = f"weights {each.path}: it is gone"
            else:
                return PublishedWeights(weights, each.version)
        raise CorruptWeights("; ".join(self.damages[each.version] for each in files))

    def _kept(self) -> dict[int, WeightFile]:
        """Return files by version, as `latest.json` lists them or, if unreadable, all files."""
        try:
            announced = decode_line((self.directory / LATEST).read_bytes(), dict[str, Any])
            form, names = announced["format"], list(announced["kept"])
        except (OSError, ValueError, LookupError, TypeError):
            form, names = FORMAT, [path.name for path in self.directory.glob("weights-*")]
        if form != FORMAT:
            raise CorruptWeights(
                f"weights {self.directory}: {LATEST} is of format {form!r}, this reads {FORMAT}; "
                "read it with the version of distrl that wrote it"
            )
        return {each.version: each for each in _files(self.directory, map(str, names))}


class WeightSource(Protocol):
    """A source of new weights.

    It is called before every batch of decisions: return None at once if there is nothing newer, and
    fetch large weights in advance rather than here.
    """

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None: ...


class WeightPoller:
    """Implements `WeightSource`: polls a weight store, at most every `poll_seconds`."""

    def __init__(
        self,
        store: WeightStore,
        poll_seconds: float = POLL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._poll_seconds = poll_seconds
        self._clock = clock
        self._polled = -float("inf")

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        now = self._clock()
        if now - self._polled < self._poll_seconds:
            return None
        self._polled = now
        latest = self._store.latest_version()
        if latest is None or latest <= version:
            return None
        try:
            found = self._store.load()
        except CorruptWeights:  # listed in `damages`; wait for the next version
            return None
        return (found.weights, found.version) if found.version > version else None


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:  # truncated: an empty file cannot be mapped
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))


def _file(directory: Path, version: int, digest: str) -> WeightFile:
    return WeightFile(version, digest, directory / f"weights-{version:09d}-{digest}.safetensors")


def _files(directory: Path, names: Iterable[str]) -> list[WeightFile]:
    found = (NAME.fullmatch(name) for name in names)
    return [WeightFile(int(p[1]), p[2], directory / p[0]) for p in found if p]
