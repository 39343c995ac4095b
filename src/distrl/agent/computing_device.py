"""Where a model computes: `cpu`, or a GPU that PyTorch sees; anything else is refused by name."""

from __future__ import annotations

import torch

from distrl.errors import InvalidSetting


def require_device(name: str) -> None:
    """Before a model is read: can it go there at all?"""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InvalidSetting(f'policy.device="{name}"; give cpu, cuda, cuda:1, …') from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InvalidSetting(
            f'policy.device="{name}": PyTorch {torch.__version__} sees {torch.cuda.device_count()} '
            "GPUs here; take cpu, or see what `distrl doctor` says of this machine"
        )
