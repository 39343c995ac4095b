"""Weights as a safetensors file, written one tensor at a time and verified by a digest.

The file is a plain safetensors file that other programs can read; nothing in it is ever executed.
Its name contains a digest of its content (SHA-256, which processors have instructions for: five
times as fast as BLAKE2b). A truncated, changed or renamed file raises `CorruptWeights`. PyTorch
tensors of any device and dtype can be written, and numpy arrays too. This package does not import
PyTorch; safetensors returns tensors of the framework that is asked for.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from distrl.errors import CorruptWeights, UsageError

if TYPE_CHECKING:
    from torch import Tensor

Framework = Literal["pt", "np"]
Weights = Mapping[str, "Tensor"] | Mapping[str, NDArray[Any]]
DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
DIGITS = 32  # hexadecimal digits of a digest


def write_weights(path: Path, weights: Weights, metadata: Mapping[str, str]) -> str:
    """Write the file and fsync it; return the digest of its content."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for piece in _pieces(weights, metadata):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()[:DIGITS]


def read_weights(path: Path, digest: str, framework: Framework) -> dict[str, Any]:
    """Verify the digest and return the tensors; raise `FileNotFoundError` if the file is gone."""
    read_digest(path, digest)
    return map_weights(path, framework)


def read_digest(path: Path, digest: str) -> None:
    """Raise `CorruptWeights` if the content of the file has another digest."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    if found != digest:
        raise CorruptWeights(
            f"weights {path}: {path.stat().st_size} bytes have the digest {found}, and were "
            f"written with {digest}; the file is damaged, have it published again"
        )


def map_weights(path: Path, framework: Framework) -> dict[str, Any]:
    """Return memory-mapped tensors, read from the file on use; the digest is not checked."""
    try:
        with safe_open(path, framework=framework) as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise CorruptWeights(f"weights {path}: {error}; have them published again") from error


def check_weights(content: bytes | memoryview, digest: str) -> None:
    """Raise `CorruptWeights` unless these are the bytes of the file with that digest."""
    found = hashlib.sha256(content).hexdigest()[:DIGITS]
    if found != digest:
        raise CorruptWeights(
            f"{len(content)} bytes of weights have the digest {found}, and were sent with "
            f"{digest}; they were damaged on the way, have them sent again"
        )


# The format: length of the header, header, tensors one after the other ----------------------------


def _pieces(weights: Weights, metadata: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in _order(weights):
        tensor = weights[name]
        start, end = end, end + tensor.nbytes
        shape = list(tensor.shape)
        header[name] = {"dtype": _dtype(name, tensor), "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name in _order(weights):
        yield from _content(weights[name])


def _order(weights: Weights) -> list[str]:
    """Sort by item size, largest first: every tensor is aligned, so it can be memory-mapped."""
    return sorted(weights, key=lambda name: (-weights[name].itemsize, name))


def _dtype(name: str, tensor: Tensor | NDArray[Any]) -> str:
    dtype = str(getattr(tensor.dtype, "name", tensor.dtype)).removeprefix("torch.")
    if dtype not in DTYPES:
        raise UsageError(f"tensor {name} is of {dtype}; safetensors have {', '.join(DTYPES)}")
    return DTYPES[dtype]


def _content(tensor: Tensor | NDArray[Any]) -> Iterator[bytes | memoryview]:
    if isinstance(tensor, np.ndarray):
        flat = np.ascontiguousarray(tensor, tensor.dtype.newbyteorder("<")).reshape(-1)
        yield flat.view(np.uint8).data
    elif tensor.nbytes:
        local = tensor.detach().cpu().contiguous()  # kept alive until the next piece is requested
        yield memoryview((ctypes.c_char * local.nbytes).from_address(local.data_ptr()))
