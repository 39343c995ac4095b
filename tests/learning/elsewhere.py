"""A second device for machines that have none: tensors that refuse to meet those of the CPU.

`Elsewhere` is a tensor on the CPU that behaves as one on a GPU does in the one respect that matters
here: an operation on it and a plain tensor is an error, with the exceptions that torch makes
(numbers, tensors without dimensions, indices). `x.to(elsewhere)` goes there, `.cpu()` comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import torch
from benchmarks.tabular_policy import TabularPolicy
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.records import Observation

MAY_MEET = {"to", "__getitem__", "__get__", "__set__"}


class Elsewhere(Tensor):
    """A tensor on a device that is not there."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        name, named = func.__name__, kwargs or {}
        with torch._C.DisableTorchFunctionSubclass():
            if name == "cpu":
                return args[0].as_subclass(Tensor)
            if name == "to" and isinstance(args[1], Tensor):
                return func(*args, **named).as_subclass(type(args[1]))
            if name not in MAY_MEET:  # an index may be anywhere
                meeting = (args[0], args[2]) if name == "__setitem__" else (args, named)
                _check_one_device(name, [each for each in _tensors(meeting) if each.dim()])
        return super().__torch_function__(func, types, args, named)  # type: ignore[no-untyped-call]


def _check_one_device(name: str, met: Sequence[Tensor]) -> None:
    if len({isinstance(each, Elsewhere) for each in met}) > 1:
        raise RuntimeError(f"{name}: tensors on two devices, the CPU and elsewhere")


def _tensors(tree: Any) -> Iterator[Tensor]:
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, list | tuple):
        for each in tree:
            yield from _tensors(each)
    elif isinstance(tree, dict):
        yield from _tensors(list(tree.values()))


class PolicyElsewhere(TabularPolicy):
    """A table whose every answer is elsewhere."""

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        scores = super().score(observations, answers)
        return Scores(
            *(getattr(scores, each.name).as_subclass(Elsewhere) for each in fields(scores))
        )

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:
        return super().value_logits(observations).as_subclass(Elsewhere)

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:
        return super().instruction_logits(instructions).as_subclass(Elsewhere)
