"""The fuzz target of `make fuzz`: a reader of foreign bytes, and whole examples to mutate.

The reader may return anything and raise errors of ours (`DistrlError`). Any other error that it
raises is a crash: see `benchmarks.fuzz`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from distrl.errors import DistrlError


@dataclass(frozen=True, slots=True)
class Target:
    """A reader and its examples; `share` is its weight in the number of inputs."""

    name: str
    examples: Sequence[bytes]
    read: Callable[[bytes], object]
    share: float = 1.0
    whole: bool = True  # the first example must be read without an error


def run_target(target: Target, data: bytes) -> DistrlError | None:
    """Read one input. Return an error of ours, and let any other error through."""
    try:
        target.read(data)
    except DistrlError as error:
        return error
    return None
