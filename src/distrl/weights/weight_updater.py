"""The collector's end of the way that weights take: is there something newer, and take it.

Only the thread that decides calls this, between two decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class WeightSource(Protocol):
    """Where new weights come from.

    It is asked before every batch of decisions: say None at once if there is nothing newer, and
    fetch large weights beforehand rather than here.
    """

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None: ...


class UpdatablePolicy(Protocol):
    """A policy that can take over weights; its decisions carry the version."""

    @property
    def weight_version(self) -> int: ...

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None: ...


class WeightUpdater:
    """Brings one policy up to date. Versions only grow."""

    def __init__(self, policy: UpdatablePolicy, source: WeightSource) -> None:
        self._policy = policy
        self._source = source
        self._newer: tuple[Mapping[str, Tensor], int] | None = None

    @property
    def version(self) -> int:
        return self._policy.weight_version

    @property
    def due(self) -> bool:
        """Were newer weights seen that the policy has not got yet?"""
        return self._newer is not None

    def look(self) -> bool:
        """See whether there is something newer."""
        if self._newer is None:
            self._newer = self._source.newer_than(self.version)
        return self.due

    def apply(self) -> None:
        """Take over the newest there is; after a long wait that is newer than what was seen."""
        if self._newer is None:
            return
        weights, version = self._source.newer_than(self._newer[1]) or self._newer
        self._newer = None
        self._policy.load_weights(weights, version)
