"""Atomic checkpoints: everything that a restarted learner needs, except trajectories.

A checkpoint is a folder: `tensors.safetensors` (weights, optimisers, priorities, random states),
`state.json` (counters, and where the tensors belong) and `manifest.json` (the format's version, and
size and checksum of the other two). It is written under a hidden name, synced to disk, and then
renamed: a learner that is killed in between leaves the previous checkpoint intact. Reading verifies
every byte and executes nothing: a missing, truncated, changed or foreign file raises a
`CorruptCheckpoint` that names it.

A state is a tree of dicts, lists and tuples of numbers, strings, None, tensors and arrays. `split`
moves the tensors into a dict, keyed by their path in the tree, and returns a tree for JSON with
references to them. `join` rebuilds an equal tree: numeric keys stay numbers, tuples stay tuples,
arrays stay arrays, floats keep every bit. No pickle is involved, so a file can hold wrong numbers,
but never code.

Trajectories are stored separately (`TrajectoryStore`); a restarted learner looks them up by id.
Only one learner may write to a folder of checkpoints.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from distrl.agent.export_directory import UNFINISHED, atomic_directory
from distrl.errors import CorruptCheckpoint, InvalidSetting
from distrl.records import Trajectory

FORMAT, VERSION = "distrl learner checkpoint", 1
MANIFEST, STATE, TENSORS = "manifest.json", "state.json", "tensors.safetensors"
TENSOR, ARRAY, TUPLE, ITEMS = "$tensor", "$array", "$tuple", "$items"  # keys of one-key dicts


class Resumable(Protocol):
    """An object that can be saved and restored: a learner, or a run that contains one."""

    @property
    def updates(self) -> int: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state(
        self, state: Mapping[str, Any], find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...]: ...


class CheckpointFolder:
    """The checkpoints of one run: the newest `keep` of them, named after their update."""

    def __init__(self, directory: Path, keep: int = 3) -> None:
        if keep < 1:
            raise InvalidSetting(f"checkpoints.keep={keep!r}; keep 1 or more")
        self.directory = directory
        self.keep = keep

    def save(self, learner: Resumable) -> Path:
        """Write a checkpoint, then delete the oldest beyond `keep`."""
        path = self._free_name(learner.updates)
        write_checkpoint(path, learner.state_dict())
        for unfinished in self.directory.glob(f"{UNFINISHED}*"):
            shutil.rmtree(unfinished)
        for old in self.all()[: -self.keep]:
            shutil.rmtree(old)
        return path

    def all(self) -> list[Path]:
        """Return all checkpoints, oldest first."""
        return sorted(self.directory.glob("update-*"))

    def _free_name(self, updates: int) -> Path:
        """Return an unused name; after a restart one update may be saved more than once."""
        names = (self.directory / f"update-{updates:09d}.{edition:03d}" for edition in range(1000))
        return next(name for name in names if not name.exists())

    def latest(self) -> Path | None:
        """Return the newest checkpoint, or None."""
        return max(self.all(), default=None)

    def restore(
        self, learner: Resumable, find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...] | None:
        """Load the newest checkpoint into the learner; return None if there is no checkpoint.

        Return the ids of the trajectories that `find` no longer has. If the newest checkpoint is
        damaged, raise an error rather than silently use an older one: remove it to do that.
        """
        path = self.latest()
        return None if path is None else learner.load_state(read_checkpoint(path), find)


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a learner's state to a folder, atomically."""
    with atomic_directory(path) as unfinished:
        tensors: dict[str, Tensor] = {}
        tree = split(state, tensors)
        save_file(tensors, unfinished / TENSORS)
        (unfinished / STATE).write_text(json.dumps(tree), encoding="utf-8")
        files = {name: _fingerprint(unfinished / name) for name in (STATE, TENSORS)}
        manifest = {"format": FORMAT, "version": VERSION, "files": files}
        (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        for name in (STATE, TENSORS, MANIFEST, "."):
            _to_disk(unfinished / name)
    _to_disk(path.parent)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the state in a checkpoint; raise `CorruptCheckpoint` if any byte has changed."""
    _check_files(path, _manifest(path))
    try:
        tree = json.loads((path / STATE).read_text("utf-8"))
        state = join(tree, load_file(path / TENSORS))
    except (OSError, KeyError, TypeError, ValueError, RecursionError, SafetensorError) as error:
        raise _corrupt(path, f"its files do not fit together: {error!r}") from error
    if not isinstance(state, dict):
        raise _corrupt(path, f"{STATE} holds a {type(state).__name__}")
    return state


def _manifest(path: Path) -> dict[str, dict[str, Any]]:
    """Return size and checksum of each file."""
    try:
        manifest = json.loads((path / MANIFEST).read_text("utf-8"))
        name, version, files = manifest["format"], manifest["version"], manifest["files"]
        fingerprints = {each: dict(files[each]) for each in (STATE, TENSORS)}
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _corrupt(path, f"{MANIFEST} cannot be read: {error!r}") from error
    if (name, version) != (FORMAT, VERSION):
        raise _corrupt(
            path, f"it is a {name!r} of version {version!r}, this reads version {VERSION}"
        )
    return fingerprints


def _check_files(path: Path, wanted: dict[str, dict[str, Any]]) -> None:
    for name, fingerprint in wanted.items():
        try:
            found = _fingerprint(path / name)
        except OSError as error:
            raise _corrupt(path, f"{name} cannot be read: {error!r}") from error
        if found != fingerprint:
            raise _corrupt(path, f"{name} is {found}, and was written as {fingerprint}")


def _fingerprint(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "blake2b").hexdigest()
    return {"bytes": path.stat().st_size, "blake2b": digest}


def _to_disk(path: Path) -> None:
    """Call fsync on a file or a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _corrupt(path: Path, why: str) -> CorruptCheckpoint:
    beside = [each.name for each in sorted(path.parent.glob("update-*")) if each != path]
    older = f"remove it to continue from {beside[-1]}" if beside else "there is no other beside it"
    return CorruptCheckpoint(f"checkpoint {path}: {why}; {older}")


# The state as JSON and tensors --------------------------------------------------------------------


def split(tree: Any, tensors: dict[str, Tensor], path: str = "") -> Any:
    """Return the tree for JSON, and put copies of its tensors, on the CPU, into `tensors`."""
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    if isinstance(tree, Tensor):
        tensors[path] = tree.detach().to("cpu", copy=True).contiguous()
        return {TENSOR: path}
    if isinstance(tree, np.ndarray):
        tensors[path] = torch.from_numpy(tree.copy())
        return {ARRAY: path}
    if isinstance(tree, list | tuple):
        parts = [split(part, tensors, f"{path}/{place}") for place, part in enumerate(tree)]
        return parts if isinstance(tree, list) else {TUPLE: parts}
    if isinstance(tree, Mapping):
        pairs = [[key, split(part, tensors, f"{path}/{key}")] for key, part in tree.items()]
        plain = all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs)
        return dict(pairs) if plain else {ITEMS: pairs}
    raise TypeError(f"{path}: a {type(tree).__name__} has no place in a state")


def join(tree: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Undo `split`; raise KeyError, TypeError or ValueError if tree and tensors do not match."""
    if isinstance(tree, list):
        return [join(part, tensors) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        [(mark, inside)] = tree.items()
        if mark == TENSOR:
            return tensors[inside]
        if mark == ARRAY:
            return tensors[inside].numpy()
        if mark == TUPLE:
            return tuple(join(part, tensors) for part in inside)
        if mark == ITEMS:
            return {key: join(part, tensors) for key, part in inside}
    return {key: join(part, tensors) for key, part in tree.items()}
