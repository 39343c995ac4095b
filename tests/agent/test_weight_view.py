"""Tensors that lie in the bytes of a weight file, wherever those bytes are."""

from __future__ import annotations

import json
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from distrl.agent.weight_view import view_weights
from distrl.errors import CorruptWeights
from distrl.weights.weight_file import write_weights

WEIGHTS = {
    "double": torch.linspace(0.0, 1.0, 5, dtype=torch.float64),
    "brain": torch.linspace(-1.0, 1.0, 6).to(torch.bfloat16).reshape(2, 3),
    "small": torch.linspace(-1.0, 1.0, 3).to(torch.float8_e4m3fn),
    "sign": torch.tensor([True, False, True]),
    "number": torch.tensor(7, dtype=torch.int64),
    "nothing": torch.zeros(0, 4),
}


def content_of(path: Path) -> NDArray[np.uint8]:
    """As Ray gives it: not to be written to."""
    return np.frombuffer(path.read_bytes(), np.uint8)


def safetensors(header: dict[str, Any], tensors: bytes = b"") -> NDArray[np.uint8]:
    text = json.dumps(header).encode()
    return np.frombuffer(len(text).to_bytes(8, "little") + text + tensors, np.uint8)


def raw(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.reshape(-1).view(torch.uint8)


def test_every_kind_of_tensor_is_as_it_was_written(tmp_path: Path) -> None:
    write_weights(tmp_path / "file", WEIGHTS, {"version": "1"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTorch warns of memory that is read-only
        found = view_weights(content_of(tmp_path / "file"))
    assert found.keys() == WEIGHTS.keys()
    for name, tensor in WEIGHTS.items():
        assert (found[name].dtype, found[name].shape) == (tensor.dtype, tensor.shape)
        assert torch.equal(raw(found[name]), raw(tensor))


def test_nothing_is_copied_and_the_bytes_live_as_long_as_any_tensor(tmp_path: Path) -> None:
    write_weights(tmp_path / "file", WEIGHTS, {})
    content = content_of(tmp_path / "file")
    begin, end = content.ctypes.data, content.ctypes.data + len(content)
    alive = weakref.ref(content)
    found = view_weights(content)
    del content
    assert all(begin < each.data_ptr() < end for each in found.values() if each.numel())
    last = found.pop("brain")
    found.clear()
    assert alive() is not None
    assert torch.equal(last, WEIGHTS["brain"])
    del last
    assert alive() is None


@pytest.mark.parametrize(
    "content",
    [
        np.zeros(0, np.uint8),
        np.full(20, 255, np.uint8),  # a header longer than any file
        np.frombuffer((4).to_bytes(8, "little") + b"[1]!", np.uint8),
        safetensors({"layer": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"1234567"),
        safetensors({"layer": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, b"12345678"),
        safetensors({"layer": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}, b"1234"),
        safetensors({"layer": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}, b"1234"),
        safetensors({"layer": {"dtype": "I8", "shape": [-1, -4], "data_offsets": [0, 4]}}, b"1234"),
        safetensors({"layer": {"dtype": "F32", "shape": "2", "data_offsets": [0, 8]}}, b"12345678"),
        safetensors({"layer": 3}),
    ],
)
def test_bytes_that_are_no_such_file_are_refused(content: NDArray[np.uint8]) -> None:
    with pytest.raises(CorruptWeights, match="no safetensors file"):
        view_weights(content)
