"""What `make fuzz` feeds: a reader of a stranger's bytes, and whole examples to begin from.

The reader may return whatever it likes and raise errors of ours (`DistrlError`). Anything else that
it raises is a crash: `benchmarks.fuzz`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from distrl.errors import DistrlError


@dataclass(frozen=True, slots=True)
class Target:
    """`share` is its part of the inputs, in proportion to the others'."""

    name: str
    examples: Sequence[bytes]
    read: Callable[[bytes], object]
    share: float = 1.0
    whole: bool = True  # the first example is read without an error


def run_target(target: Target, data: bytes) -> DistrlError | None:
    """Read one input; returns an error of ours, and lets any other through."""
    try:
        target.read(data)
    except DistrlError as error:
        return error
    return None
