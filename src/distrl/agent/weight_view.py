"""Zero-copy PyTorch tensors over the bytes of a safetensors file in memory.

`safetensors.torch.load` would copy every tensor, and `safe_open` needs a file. Each tensor keeps
the array alive. Tensors must not be written to, which PyTorch cannot enforce, having no read-only
tensors: policies copy them into their own (`load_weights`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.errors import CorruptWeights
from distrl.weights.weight_file import DTYPES

TYPES: dict[str, torch.dtype] = {code: getattr(torch, name) for name, code in DTYPES.items()}
MALFORMED = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError,
)  # what a header that is not one leads to  # fmt: skip


def view_weights(content: NDArray[np.uint8]) -> dict[str, Tensor]:
    """Return a file's tensors by name; raise `CorruptWeights` if it is malformed. No digest is
    checked.
    """
    try:
        header, start = _header(content)
        writable: Any = _Writable(content)
        tensors = np.asarray(writable)[start:]
        return {name: _view(tensors, entry) for name, entry in header.items()}
    except MALFORMED as error:
        raise CorruptWeights(
            f"{len(content)} bytes of weights are no safetensors file: {error!r}; have them "
            "published again"
        ) from error


def _header(content: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """Return the file's entry for each tensor, and the offset at which the data begins."""
    length = int.from_bytes(content[:8].tobytes(), "little")
    start = 8 + length
    if start > len(content):
        raise ValueError(f"a header of {length} bytes does not fit")
    header = json.loads(content[8:start].tobytes())
    header.pop("__metadata__", None)
    return header, start


def _view(tensors: NDArray[np.uint8], entry: Mapping[str, Any]) -> Tensor:
    dtype, shape, (begin, end) = TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or begin < 0 or end > len(tensors) or end - begin != size:
        raise ValueError(f"{shape} of {dtype} at {begin} to {end} of {len(tensors)} bytes")
    if not size:
        return torch.empty(shape, dtype=dtype)
    return torch.from_numpy(tensors[begin:end]).view(dtype).reshape(shape)


class _Writable:
    """An array interface that claims to be writable, since PyTorch warns of read-only arrays.

    It holds the array itself: a slice may keep only the array's base alive, and the owner releases
    the memory when the array is freed.
    """

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array
        described = array.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], False)}
