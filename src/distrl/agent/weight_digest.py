"""A digest of weights, computed where they are: the same on a GPU and on the CPU.

Names, shapes, types and small tensors enter byte by byte. A large tensor enters as the sums of
`COLUMNS` interleaved columns of its words, as integers that wrap around: exact in any order of
addition, read once at the speed of memory, with nothing but the sums copied to the CPU. It is a
checksum against weights that were lost, mixed up or left behind, not against an adversary: words
that trade places within a column go unseen. (A cryptographic hash of all bytes would copy a large
model off its GPU at every version.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

COLUMNS = 4096
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by bytes of a number


def weight_digest(weights: Mapping[str, Tensor]) -> str:
    """Differs, as good as certainly, where any weight, name, shape or type does."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(weights):
        tensor = weights[name].detach()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        words = tensor.contiguous().flatten().view(WORDS[tensor.element_size()])
        even = len(words) // COLUMNS * COLUMNS
        sums = words[:even].view(-1, COLUMNS).sum(0, dtype=torch.int64)
        digest.update(sums.cpu().numpy().tobytes())
        digest.update(words[even:].cpu().numpy().tobytes())
    return digest.hexdigest()
