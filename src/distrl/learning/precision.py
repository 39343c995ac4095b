"""The numbers that a model computes in: full precision, or bf16 where a GPU has units for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from distrl.learning.learner_settings import Precision


def autocast(precision: Precision, device: torch.device) -> AbstractContextManager[object]:
    """Passes through the model inside of it compute as `precision` says; weights stay as wide."""
    if precision == "full":
        return nullcontext()
    # No cache: it would hand weights that were narrowed for a survey, or before the optimiser
    # moved, to a later pass of the same update, which then has no gradient or an old one.
    return torch.autocast(device.type, dtype=torch.bfloat16, cache_enabled=False)
