"""A tree of states, split into what JSON can say and the tensors that it cannot.

States are dicts, lists and tuples of numbers, texts, None, tensors and arrays, as `state_dict`
methods give them. `split` takes the tensors out, each under the path that leads to it, and leaves a
tree for JSON that remembers where they were; `join` is the way back and gives an equal tree: keys
that are numbers stay numbers, tuples stay tuples, arrays stay arrays, floats keep every bit. No
pickle is involved, so that a file can hold wrong numbers, but never code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

TENSOR, ARRAY, TUPLE, ITEMS = "$tensor", "$array", "$tuple", "$items"  # one-key dicts in the JSON


def split(tree: Any, tensors: dict[str, Tensor], path: str = "") -> Any:
    """The tree for JSON. Copies of its tensors, on the CPU, are put into `tensors`."""
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    if isinstance(tree, Tensor):
        tensors[path] = tree.detach().to("cpu", copy=True).contiguous()
        return {TENSOR: path}
    if isinstance(tree, np.ndarray):
        tensors[path] = torch.from_numpy(tree.copy())
        return {ARRAY: path}
    if isinstance(tree, list | tuple):
        parts = [split(part, tensors, f"{path}/{place}") for place, part in enumerate(tree)]
        return parts if isinstance(tree, list) else {TUPLE: parts}
    if isinstance(tree, Mapping):
        pairs = [[key, split(part, tensors, f"{path}/{key}")] for key, part in tree.items()]
        plain = all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs)
        return dict(pairs) if plain else {ITEMS: pairs}
    raise TypeError(f"{path}: a {type(tree).__name__} has no place in a state")


def join(tree: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The tree that was split; raises KeyError, TypeError or ValueError if they do not fit."""
    if isinstance(tree, list):
        return [join(part, tensors) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        [(mark, inside)] = tree.items()
        if mark == TENSOR:
            return tensors[inside]
        if mark == ARRAY:
            return tensors[inside].numpy()
        if mark == TUPLE:
            return tuple(join(part, tensors) for part in inside)
        if mark == ITEMS:
            return {key: join(part, tensors) for key, part in inside}
    return {key: join(part, tensors) for key, part in tree.items()}
