"""How hard the learner's device works: tokens through the model, and the share of its peak.

A policy that counts its own work tells how many tokens have gone through its model and how many
operations that took, by the usual reckoning: for each token 2·P forward through P parameters, and
4·P more on the way back (fewer where only adapters are trained). Products inside the attention and
all that is outside the model count for nothing, so the share errs downwards. The peak is the
maker's for bf16 without sparsity, whatever the model computes in.

Nothing is made up: a policy that does not count, or a device that is not in the table (a CPU among
them), has None in place of a figure.
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
    """What a policy can tell beside `TrainablePolicy`; all of it since its start."""

    @property
    def forward_tokens(self) -> int:
        """Pictures, prompts and answers that went through the model without a gradient."""
        ...

    @property
    def training_tokens(self) -> int:
        """And with one."""
        ...

    @property
    def flops(self) -> float:
        """The operations that they took."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """What went through a model."""

    tokens: int
    flops: float


def work_of(policy: object) -> Work | None:
    """All that a policy has done so far; None if it does not count."""
    if not isinstance(policy, CountedPolicy):
        return None
    return Work(policy.forward_tokens + policy.training_tokens, policy.flops)


def work_since(before: Work | None, policy: object) -> Work | None:
    """What a policy has done since `work_of` said so."""
    now = work_of(policy)
    if before is None or now is None:
        return None
    return Work(now.tokens - before.tokens, now.flops - before.flops)


def peak_flops(device: torch.device) -> float | None:
    """What a device could do in a second at best; None if that is not known."""
    return peak_of(torch.cuda.get_device_name(device)) if device.type == "cuda" else None


def peak_of(name: str) -> float | None:
    """By the name that the driver gives it, such as "NVIDIA H100 80GB HBM3"."""
    words = set(re.split(r"[ -]", name))
    fitting = [known for known in PEAK_FLOPS if words.issuperset(known.split())]
    return PEAK_FLOPS[max(fitting, key=len)] if fitting else None
