"""A digest of weights, computed on their device: the same on a GPU and on the CPU.

Names, shapes, dtypes and small tensors are hashed byte by byte. A large tensor is hashed as the
sums of `COLUMNS` interleaved columns of its words, as integers that wrap around. Such sums are
exact in any order of addition, and the tensor is read once at memory bandwidth. Only the sums are
copied to the CPU, those of all tensors of a device at once, since each copy waits for the GPU. It
is a checksum against weights that were lost, mixed up or left stale, not against an adversary:
words swapped within a column go undetected. (A cryptographic hash of all bytes would copy a large
model off its GPU at every version.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

COLUMNS = 4096
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by itemsize


def weight_digest(weights: Mapping[str, Tensor]) -> str:
    """Return a digest that almost certainly changes with any weight, name, shape or dtype."""
    named = sorted(weights.items())
    parts = [_sums(tensor.detach()) for _, tensor in named]
    copied = _on_cpu([sums for sums, _ in parts]).view(-1, COLUMNS).numpy()
    rests = [rest for _, rest in parts]
    bytes_left = _on_cpu([*rests, torch.empty(0, dtype=torch.uint8)]).numpy().tobytes()
    digest, at = hashlib.blake2b(digest_size=16), 0
    for (name, tensor), columns, rest in zip(named, copied, rests, strict=True):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(columns.tobytes())
        digest.update(bytes_left[at : (at := at + len(rest))])
    return digest.hexdigest()


def _on_cpu(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate tensors on the CPU, with one copy from each device."""
    if not tensors:
        return torch.empty(0, dtype=torch.int64)
    places: dict[torch.device, list[int]] = {}
    for place, tensor in enumerate(tensors):
        places.setdefault(tensor.device, []).append(place)
    found = list(tensors)
    for several in places.values():
        lengths = [len(tensors[place]) for place in several]
        copied = torch.cat([tensors[place] for place in several]).cpu()
        for place, tensor in zip(several, torch.split(copied, lengths), strict=True):
            found[place] = tensor
    return torch.cat(found)


def _sums(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sums of all columns, and the bytes of the words that fill no row."""
    words = tensor.contiguous().flatten().view(WORDS[tensor.element_size()])
    even = len(words) // COLUMNS * COLUMNS
    sums = words[:even].view(-1, COLUMNS).sum(0, dtype=torch.int64)
    return sums, words[even:].view(torch.uint8)
