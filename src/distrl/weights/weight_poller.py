"""A collector's look at the weight store: is there a newer version?

It is asked before every batch of decisions, so it looks at the disk a few times a second at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from distrl.errors import CorruptWeights
from distrl.weights.weight_store import WeightStore

if TYPE_CHECKING:
    from torch import Tensor

LOOK_SECONDS = 0.1


class WeightPoller:
    """Implements `WeightSource` by a weight store."""

    def __init__(
        self,
        store: WeightStore,
        look_seconds: float = LOOK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._look_seconds = look_seconds
        self._clock = clock
        self._looked = -float("inf")

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        now = self._clock()
        if now - self._looked < self._look_seconds:
            return None
        self._looked = now
        latest = self._store.latest_version()
        if latest is None or latest <= version:
            return None
        try:
            found = self._store.load()
        except CorruptWeights:  # listed in the store's damages; the next version will do
            return None
        return (found.weights, found.version) if found.version > version else None
