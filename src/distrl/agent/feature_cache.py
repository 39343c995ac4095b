"""A cache of a frozen vision tower's features of screens.

With LoRA on the language model the vision tower is frozen, so a screen has the same features in
every step, epoch and attempt that it is part of. The key is the screen's address, so that the
pixels of a cached screen are neither unpacked nor copied. The cache is on the model's device,
bounded in bytes, and evicts the least recently used first. (`encoding_cache` holds whole encodings,
whose rows have one shape.)

It is thread-safe: the next batch's features are computed while a step uses the current ones.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import torch
from torch import Tensor

from distrl.agent.families.pictures import at_once
from distrl.records import Screen

Compute = Callable[[Sequence[Screen]], list[Tensor]]  # features of each screen
AT_ONCE = 32  # pictures per chunk: the CPU prepares the next chunk while a GPU computes one


class FeatureCache:
    """Features by the address of a screen."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.nbytes = 0
        self.found = 0  # cache hits, in screens
        self.computed = 0
        self._computed_bytes = 0
        self._prefetched: frozenset[str] = frozenset()  # addresses of the last `add_missing`
        self._kept: OrderedDict[str, Tensor] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()  # not held while features are computed

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, screens: Sequence[Screen], compute: Compute) -> Tensor | None:
        """Return the features of screens, concatenated; compute each missing one once.

        Return None if there are no screens.
        """
        addresses = _addresses(screens)
        wanted = dict(zip(addresses, screens, strict=True))
        known = self._known(wanted)
        new = {address: each for address, each in wanted.items() if address not in known}
        with self._lock:
            self.found += len(screens) - len(new)
        for fresh in self._computed(new, compute):
            known |= fresh
        with self._lock:
            for address in wanted:
                self._keep(address, known[address])
        return torch.cat([known[address] for address in addresses]) if screens else None

    def add_missing(self, screens: Sequence[Screen], compute: Compute) -> None:
        """Prefetch features of the next batch: as many as fit beside those of the last call.

        Those that the last call prefetched are still in use, by every pass of the current step.
        """
        wanted = dict(zip(_addresses(screens), screens, strict=True))
        with self._lock:
            in_use, self._prefetched = self._prefetched, frozenset(wanted)
        self._known(in_use)  # mark as recently used: evicted after what neither batch needs
        known = self._known(wanted)
        new = [address for address in wanted if address not in known]
        while new and (room := self._room(wanted.keys(), in_use)) > 0:
            some = {address: wanted[address] for address in new[: min(room, AT_ONCE)]}
            del new[: len(some)]
            for fresh in self._computed(some, compute):
                with self._lock:
                    for address, features in fresh.items():
                        self._keep(address, features)

    def _room(self, wanted: Set[str], in_use: Set[str]) -> int:
        """Return how many more screens fit without evicting cached ones of `wanted` and `in_use`;
        missing ones of `in_use` count, too. Before any size is known, return `AT_ONCE`.
        """
        with self._lock:
            if not self._computed_bytes:
                return AT_ONCE if self.max_bytes else 0
            mean = self._computed_bytes / self.computed
            kept = [self._kept[each].nbytes for each in wanted | in_use if each in self._kept]
            to_come = sum(each not in self._kept for each in in_use - wanted)
            return int((self.max_bytes - sum(kept) - to_come * mean) / mean)

    def _known(self, wanted: Iterable[str]) -> dict[str, Tensor]:
        """Return those of `wanted` that are cached, and mark them as most recently used."""
        with self._lock:
            known = {each: self._kept[each] for each in wanted if each in self._kept}
            for address in known:
                self._kept.move_to_end(address)
            return known

    def _computed(
        self, screens: Mapping[str, Screen], compute: Compute
    ) -> Iterator[dict[str, Tensor]]:
        """Yield the features of these screens, computed in chunks of `AT_ONCE`."""
        addresses = list(screens)
        for first in range(0, len(addresses), AT_ONCE):
            some = addresses[first : first + AT_ONCE]
            with torch.inference_mode(False), torch.no_grad():  # usable in autograd later
                fresh = [each.clone() for each in compute([screens[name] for name in some])]
            with self._lock:
                self.computed += len(some)
                self._computed_bytes += sum(each.nbytes for each in fresh)
            yield dict(zip(some, fresh, strict=True))

    def _keep(self, address: str, features: Tensor) -> None:
        if address in self._kept:
            self._kept.move_to_end(address)
            return
        self._kept[address] = features
        self.nbytes += features.nbytes
        while self.nbytes > self.max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.nbytes -= oldest.nbytes


def _addresses(screens: Sequence[Screen]) -> list[str]:
    """Return addresses, in parallel: one of a screen that was never packed is hashed, 1 ms each."""
    found = [""] * len(screens)

    def name(place: int) -> None:
        found[place] = screens[place].address

    at_once(name, range(len(screens)))
    return found
