"""The torch device that a model computes on, its memory, and the number of CPU threads."""

from __future__ import annotations

import torch

from distrl.errors import InvalidSetting


def require_device(name: str) -> None:
    """Raise `InvalidSetting` if `name` is no torch device, or a GPU that PyTorch does not see."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InvalidSetting(f'policy.device="{name}"; give cpu, cuda, cuda:1, …') from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InvalidSetting(
            f'policy.device="{name}": PyTorch {torch.__version__} sees {torch.cuda.device_count()} '
            "GPUs here; take cpu, or see what `distrl doctor` says of this machine"
        )
    if device.type == "mps" and not has_mps():
        raise InvalidSetting(
            f'policy.device="{name}": PyTorch {torch.__version__} sees no Apple GPU here; take '
            "cpu, or see what `distrl doctor` says of this machine"
        )


def has_mps() -> bool:
    """Return whether PyTorch sees an Apple GPU."""
    return torch.backends.mps.is_available()


def gpu_names() -> str:
    """Return the names of the GPUs that PyTorch sees here, or "" if there is none."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return ", ".join(torch.cuda.get_device_name(number) for number in range(count))


def use_threads(count: int | None) -> None:
    """Set this process's number of torch threads; None keeps torch's default, all cores."""
    if count is not None:
        torch.set_num_threads(count)


def free_gpu_memory(device: str) -> int | None:
    """Return the free bytes of a CUDA device; None for other devices or without CUDA."""
    if not device.startswith("cuda") or not torch.cuda.is_available():
        return None
    return torch.cuda.mem_get_info(device)[0]


def gpu_memory() -> tuple[int, int] | None:
    """Return bytes in use (by all processes) and in total of this process's GPU; None if unused."""
    if not torch.cuda.is_available() or not torch.cuda.memory_allocated():
        return None  # `mem_get_info` would create a CUDA context
    free, total = torch.cuda.mem_get_info()
    return total - free, total
