"""How a policy gets newer weights: from a `WeightSource`, between two batches of decisions.

`WeightPoller` is the source of collectors that see the learner's weight store on disk; Ray's is
`engine.ray.weight_broadcast`. Only the thread that decides calls these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from distrl.errors import CorruptWeights
from distrl.weights.weight_store import WeightStore

if TYPE_CHECKING:
    from torch import Tensor

POLL_SECONDS = 0.1


class WeightSource(Protocol):
    """Where new weights come from.

    It is asked before every batch of decisions: return None at once if there is nothing newer, and
    fetch large weights in advance rather than here.
    """

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None: ...


class WeightPoller:
    """Implements `WeightSource` by a weight store, read every `poll_seconds` at most."""

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
        except CorruptWeights:  # listed in the store's damages; the next version will do
            return None
        return (found.weights, found.version) if found.version > version else None


class UpdatablePolicy(Protocol):
    """A policy that can load weights; its decisions carry the version."""

    @property
    def weight_version(self) -> int: ...

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None: ...


class WeightUpdater:
    """Keeps one policy up to date. Versions only grow."""

    def __init__(self, policy: UpdatablePolicy, source: WeightSource) -> None:
        self._policy = policy
        self._source = source
        self._newer: tuple[Mapping[str, Tensor], int] | None = None

    @property
    def version(self) -> int:
        return self._policy.weight_version

    @property
    def due(self) -> bool:
        """Were newer weights found that the policy has not loaded yet?"""
        return self._newer is not None

    def look(self) -> bool:
        """Ask the source for newer weights, unless some are due already."""
        if self._newer is None:
            self._newer = self._source.newer_than(self.version)
        return self.due

    def apply(self) -> None:
        """Load the newest weights; after a long wait they may be newer than those that were due."""
        if self._newer is None:
            return
        weights, version = self._source.newer_than(self._newer[1]) or self._newer
        self._newer = None
        self._policy.load_weights(weights, version)
