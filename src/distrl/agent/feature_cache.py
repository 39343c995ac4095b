"""What a frozen vision tower made of screens, kept for the next time they are seen.

Under LoRA on the language model the vision tower never learns, so a screen has the same features in
every step, epoch and attempt that it is part of. They are known by the screen's address, so that
the pixels of a known screen are neither unpacked nor copied. Bounded in bytes, on the model's
device; the least recently used go first. (`encoding_cache` keeps whole encodings, of one shape.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from distrl.agent.families.pictures import at_once
from distrl.records import Screen

Compute = Callable[[Sequence[Screen]], list[Tensor]]  # features of each screen
AT_ONCE = 32  # pictures: on a GPU the next ones are prepared while some are computed


class FeatureCache:
    """Features by the address of a screen."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.nbytes = 0
        self.found = 0  # screens that were known
        self.computed = 0
        self._kept: OrderedDict[str, Tensor] = OrderedDict()  # least recently used first

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, screens: Sequence[Screen], compute: Compute) -> Tensor | None:
        """The features of some screens, one after another; each unknown one is computed once.

        None for no screens at all.
        """
        addresses = _addresses(screens)
        wanted = dict(zip(addresses, screens, strict=True))
        known = {each: self._kept[each] for each in wanted if each in self._kept}
        new = [address for address in wanted if address not in known]
        self.found += len(screens) - len(new)
        self.computed += len(new)
        for first in range(0, len(new), AT_ONCE):
            some = new[first : first + AT_ONCE]
            with torch.inference_mode(False), torch.no_grad():  # gradients may pass by them later
                fresh = compute([wanted[address] for address in some])
                known |= zip(some, (each.clone() for each in fresh), strict=True)
        for address in wanted:
            self._keep(address, known[address])
        return torch.cat([known[address] for address in addresses]) if screens else None

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
    """Several at a time: a screen that was never packed is hashed for its address, 1 ms each."""
    found = [""] * len(screens)

    def name(place: int) -> None:
        found[place] = screens[place].address

    at_once(name, range(len(screens)))
    return found
