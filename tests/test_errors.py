"""The error tree as it is drawn is the tree as it is."""

from __future__ import annotations

import inspect
import re

from distrl import errors
from distrl.errors import DistrlError, InfrastructureError, StorageError, UsageError, WorldError


def drawn() -> dict[str, str]:
    """Each error of the picture and the one that it hangs on; four characters are a level."""
    parents, path = {}, ["DistrlError"]
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^((?:│   |    )*)(?:├── |└── )(\w+)", line)
        if found:
            depth = len(found[1]) // 4 + 1
            path = [*path[:depth], found[2]]
            parents[found[2]] = path[depth - 1]
    return parents


def test_the_picture_is_the_tree() -> None:
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    real = {
        kind.__name__: kind.__bases__[0].__name__ for kind in classes if kind is not DistrlError
    }
    assert drawn() == real


def test_the_families_are_apart() -> None:
    for one, other in ((UsageError, WorldError), (WorldError, InfrastructureError)):
        assert not issubclass(one, other)
        assert not issubclass(other, one)


def test_a_full_disk_is_told_from_a_broken_one() -> None:
    full = errors.storage_error(OSError(28, "No space left on device"), "writing x")
    broken = errors.storage_error(OSError(5, "Input/output error"), "writing x")
    assert isinstance(full, errors.StorageFull)
    assert type(broken) is StorageError
    assert str(broken).startswith("writing x: Input/output error; see that")
