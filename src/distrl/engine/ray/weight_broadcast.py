"""Weights through Ray's object store: one copy per node and version, fetched before it is needed.

The learner publishes to its `WeightStore` first and then puts the bytes of that file into the
object store. Ray drops them when the learner dies; it puts them there again when it is back. The
reply to a heartbeat tells a collector of a version; a thread fetches it while devices play on (the
first on a node checks it, all map the same memory: `node_weights`), and the policy batcher finds
the tensors ready between two decisions. When the policy has loaded them, the receiver releases
them, so that the object store of a node keeps no version that everybody has.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import ray
from ray.exceptions import RayError

from distrl.engine.ray.node_weights import NodeWeights
from distrl.errors import CorruptWeights
from distrl.weights.weight_store import WeightStore

if TYPE_CHECKING:
    from torch import Tensor

FETCH_SECONDS = 120.0  # then the next offer is tried


@dataclass(frozen=True, slots=True)
class WeightRef:
    """A version that can be fetched. The tuple keeps Ray from resolving the reference."""

    version: int
    digest: str
    content: tuple[ray.ObjectRef[Any]]  # the bytes, as an array


class WeightBroadcast:
    """Implements `Publisher`: writes to the store, and offers the file to all nodes."""

    def __init__(self, store: WeightStore) -> None:
        self._store = store
        self._offer: WeightRef | None = None

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._store.publish(weights, version)
        self.send_latest()

    def send_latest(self) -> None:
        """Offer the newest version of the store, if there is one."""
        packed = self._store.packed()
        if packed is not None and (self._offer is None or packed.version > self._offer.version):
            content = ray.put(np.frombuffer(packed.content, np.uint8))
            self._offer = WeightRef(packed.version, packed.digest, (content,))

    def newer_than(self, version: int) -> WeightRef | None:
        """Return what a process with that version should fetch; None if it has the newest."""
        offer = self._offer
        return offer if offer is not None and offer.version > version else None


class WeightReceiver:
    """Implements `WeightSource` from offers; `version` is the newest that was fetched."""

    def __init__(self) -> None:
        self.version = -1
        self._newest: tuple[Mapping[str, Tensor], int] | None = None
        self._offer: WeightRef | None = None
        self._changed = threading.Condition()

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        """Return newer weights, if any; release those that the one policy which asks has."""
        with self._changed:
            if self._newest is not None and self._newest[1] <= version:
                self._newest = None
            return self._newest

    def offer(self, offer: WeightRef | None) -> None:
        """Pass an offer, if there is one, to the thread in `fetch_all`."""
        if offer is not None:
            with self._changed:
                self._offer = offer
                self._changed.notify_all()

    def fetch_all(self, goes_on: Callable[[], bool]) -> None:
        """Fetch each newest offer as it comes, while `goes_on()` is true."""
        while goes_on():
            with self._changed:
                self._changed.wait_for(lambda: self._offer is not None, timeout=0.1)
                offer, self._offer = self._offer, None
            if offer is not None and offer.version > self.version:
                self.fetch(offer)

    def fetch(self, offer: WeightRef) -> None:
        """Fetch one; do nothing if its owner has died or a byte is wrong: the next one follows."""
        with contextlib.suppress(RayError, CorruptWeights):
            weights = _node_weights().load(
                offer.digest,
                offer.content[0].hex(),
                lambda: ray.get(offer.content[0], timeout=FETCH_SECONDS),
            )
            with self._changed:
                self._newest, self.version = (weights, offer.version), offer.version

    def close(self) -> None:
        """Remove what was kept for the collectors of this node, at the end of the run."""
        _node_weights().close()


def _node_weights() -> NodeWeights:
    return NodeWeights(ray.get_runtime_context().get_node_id())
