"""The learner's throughput: tokens through the model, and model FLOP/s as a share of the peak.

A policy that counts its work (`CountedPolicy`) reports the tokens that went through its model and
their FLOPs, by the usual estimate: for each token 2·P forward through P parameters, and 4·P more
backward (fewer if only adapters are trained). Attention scores and everything outside the model are
not counted, so the share is a lower bound. The peak is the manufacturer's figure for dense bf16,
whatever precision the model computes in.

The figures are None for a policy that does not count, or a device that is not in the table (such
as a CPU).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

PEAK_FLOPS = {  # per second, by device name; the longest matching name is used
    "A10": 125e12,
    "A100": 312e12,
    "L4": 121e12,
    "L40S": 362e12,
    "H100": 989.5e12,
    "H100 PCIe": 756.5e12,
    "H100 NVL": 835.5e12,
    "H200": 989.5e12,
    "H200 NVL": 835.5e12,
    "GH200": 989.5e12,
    "B200": 2250e12,
}


@runtime_checkable
class CountedPolicy(Protocol):
    """A policy that counts its work since its start; optional beside `TrainablePolicy`."""

    @property
    def forward_tokens(self) -> int:
        """Tokens (pictures, prompts, answers) that went through the model without a gradient."""
        ...

    @property
    def training_tokens(self) -> int:
        """Tokens that went through the model with a gradient."""
        ...

    @property
    def flops(self) -> float:
        """Floating-point operations of both."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """Tokens that went through a model, and their FLOPs."""

    tokens: int
    flops: float


def work_of(policy: object) -> Work | None:
    """Return the work of a policy so far; None if it does not count."""
    if not isinstance(policy, CountedPolicy):
        return None
    return Work(policy.forward_tokens + policy.training_tokens, policy.flops)


def work_since(before: Work | None, policy: object) -> Work | None:
    """Return the work of a policy since an earlier `work_of`."""
    now = work_of(policy)
    if before is None or now is None:
        return None
    return Work(now.tokens - before.tokens, now.flops - before.flops)


def peak_flops(device: torch.device) -> float | None:
    """Return the peak FLOP/s of a device; None if not known."""
    return peak_of(torch.cuda.get_device_name(device)) if device.type == "cuda" else None


def peak_of(name: str) -> float | None:
    """Look the peak up by the driver's device name, such as "NVIDIA H100 80GB HBM3"."""
    words = set(re.split(r"[ -]", name))
    fitting = [known for known in PEAK_FLOPS if words.issuperset(known.split())]
    return PEAK_FLOPS[max(fitting, key=len)] if fitting else None
