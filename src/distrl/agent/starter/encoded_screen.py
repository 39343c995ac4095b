"""What the encoder makes of a screen and a prompt, and a memory of it.

Training by reinforcement moves the decoder alone: the encoder reads the same screen and prompt the
same way every time, and reading is most of the work. So a learner that draws a step again need not
read again. The least recently used go first; a step takes about 320 kB, wherever the model
computes. Without training every screen is seen once, and nothing is kept.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

FIELDS = ("last_hidden_state", "memory_mask", "letters", "cells")
Kept = tuple[Tensor, ...]  # the fields of one row


@dataclass(frozen=True, slots=True)
class EncodedScreen:
    """What the decoder works from: the states of items and words, and how they are spelled."""

    last_hidden_state: Tensor  # [n, items + words, width]
    memory_mask: Tensor  # [n, items + words], bool
    letters: Tensor  # [n, items + words, letters, letter_width]
    cells: Tensor  # [n, items]: the place of each item


Encode = Callable[[Tensor, Tensor], EncodedScreen]  # prompts [n, length] and pixels [n, …]


class EncodingMemory:
    """The last steps that were encoded, for an encoder that no longer learns."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._known: OrderedDict[bytes, Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def recall(self, prompts: Tensor, pixels: Tensor, encode: Encode) -> EncodedScreen:
        """Every row of a batch, each new one encoded now."""
        keys = [_digest(*row) for row in zip(prompts, pixels, strict=True)]
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        here = {key: self._known[key] for key in keys if key in self._known}
        if new:
            rows = list(new.values())
            fresh = encode(prompts[rows], pixels[rows])
            single = zip(*(getattr(fresh, name) for name in FIELDS), strict=True)
            # Copies: a part of a batch would keep the whole batch.
            owned = (tuple(part.detach().clone() for part in parts) for parts in single)
            here |= dict(zip(new, owned, strict=True))
        for key in keys:
            self._known[key] = here[key]
            self._known.move_to_end(key)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        states, mask, letters, cells = (
            torch.stack(parts) for parts in zip(*(here[key] for key in keys), strict=True)
        )
        return EncodedScreen(states, mask, letters, cells)


def _digest(prompt: Tensor, pixels: Tensor) -> bytes:
    """The same for the same prompt, however far it was padded (with 0)."""
    words = prompt[: int(prompt.count_nonzero())].to("cpu", torch.int32)
    digest = hashlib.blake2b(words.numpy().tobytes(), digest_size=16)
    digest.update(pixels.cpu().numpy().tobytes())
    return digest.digest()
