"""Where a model computes, and with how many threads."""

from __future__ import annotations

import torch

from distrl.errors import InvalidSetting


def require_device(name: str) -> None:
    """Refuse a name that is not `cpu` or a GPU that PyTorch sees, before a model is read."""
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
    """Whether PyTorch sees an Apple GPU."""
    return torch.backends.mps.is_available()


def gpu_names() -> str:
    """The GPUs that PyTorch sees here, by model; empty without any."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return ", ".join(torch.cuda.get_device_name(number) for number in range(count))


def use_threads(count: int | None) -> None:
    """Of this process, for a share of the cores. None: torch's default, all cores."""
    if count is not None:
        torch.set_num_threads(count)


def free_gpu_memory(device: str) -> int | None:
    """Bytes that are free on a CUDA device; None for other devices, or where there is none."""
    if not device.startswith("cuda") or not torch.cuda.is_available():
        return None
    return torch.cuda.mem_get_info(device)[0]


def gpu_memory() -> tuple[int, int] | None:
    """Bytes in use and in all on this process's GPU, by whomever; None: it uses none."""
    if not torch.cuda.is_available() or not torch.cuda.memory_allocated():
        return None  # to ask for more would begin to use it
    free, total = torch.cuda.mem_get_info()
    return total - free, total
