"""How many threads a process computes with: a share of the cores, where it is not alone on them."""

from __future__ import annotations

import torch


def use_threads(count: int | None) -> None:
    """For every model in this process. None: as torch has it, all cores or OMP_NUM_THREADS."""
    if count is not None:
        torch.set_num_threads(count)
