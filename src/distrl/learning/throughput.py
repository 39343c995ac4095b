"""The learner's throughput: tokens through the model, and model FLOP/s as a share of the peak.

A policy that counts its work (`CountedPolicy`) reports the tokens that went through its model and
the operations that they took, by the usual estimate: for each token 2·P forward through P
parameters, and 4·P more backward (fewer where only adapters are trained). Products inside the
attention and everything outside the model are not counted, so the share errs downwards. The peak is
the maker's for bf16 without sparsity, whatever the model computes in.

A policy that does not count, or a device that is not in the table (such as a CPU), has None in
place of a figure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

PEAK_FLOPS = {  # per second; the longest name that fits counts
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
    """Counters of a policy, since its start; optional beside `TrainablePolicy`."""

    @property
    def forward_tokens(self) -> int:
        """Pictures, prompts and answers that went through the model without a gradient."""
        ...

    @property
    def training_tokens(self) -> int:
        """Those that went through with a gradient."""
        ...

    @property
    def flops(self) -> float:
        """The operations that both took."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """What went through a model."""

    tokens: int
    flops: float


def work_of(policy: object) -> Work | None:
    """The work of a policy so far; None if it does not count."""
    if not isinstance(policy, CountedPolicy):
        return None
    return Work(policy.forward_tokens + policy.training_tokens, policy.flops)


def work_since(before: Work | None, policy: object) -> Work | None:
    """The work of a policy since an earlier `work_of`."""
    now = work_of(policy)
    if before is None or now is None:
        return None
    return Work(now.tokens - before.tokens, now.flops - before.flops)


def peak_flops(device: torch.device) -> float | None:
    """The peak FLOP/s of a device; None if not known."""
    return peak_of(torch.cuda.get_device_name(device)) if device.type == "cuda" else None


def peak_of(name: str) -> float | None:
    """By the name that the driver gives it, such as "NVIDIA H100 80GB HBM3"."""
    words = set(re.split(r"[ -]", name))
    fitting = [known for known in PEAK_FLOPS if words.issuperset(known.split())]
    return PEAK_FLOPS[max(fitting, key=len)] if fitting else None
