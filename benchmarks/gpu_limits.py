"""Relate the decision rates of `benchmarks.policy` to the limits of an H200, computed on a CPU.

The starter, by arithmetic: torch's FlopCounterMode counts the operations of its decisions. Its
convolutions run in TF32 on a GPU and the rest in float32, so the limit is the time that both take
at the vendor's peak rates. Qwen, by bandwidth: after the first token, each further token reads the
weights of the language model once for the whole batch; keys, values and activations are not
counted, so this share is a lower bound. Peaks are those of NVIDIA's data sheet of the H200 SXM,
without sparsity; for another GPU nothing is computed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch.utils.flop_counter import FlopCounterMode

from benchmarks.random_qwen import random_qwen
from distrl.agent.vlm_policy import VlmPolicy
from distrl.records import Observation

GPU = "NVIDIA H200"
TF32, FLOAT32 = 494.5e12, 67e12  # operations a second
BANDWIDTH = 4.8e12  # bytes a second
BFLOAT16 = 2  # bytes
STARTER, QWEN = "gpu_decisions_per_s_starter_b256", "gpu_decisions_per_s_qwen_3b_b32"
PREFILL = "gpu_prefill_share_qwen_3b_b32"


def count_operations(policy: VlmPolicy, observed: Sequence[Observation]) -> dict[str, float]:
    """Count the operations of a decision: all, and those of its convolutions."""
    with FlopCounterMode(display=False) as counter:
        policy.decide(observed)
    parts = {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
    return {
        "starter_flop_per_decision": sum(parts.values()) / len(observed),
        "starter_convolution_flop_per_decision": parts["aten.convolution"] / len(observed),
    }


def language_weights() -> int:
    """Count the random Qwen's weights that a token passes through, including its output layer."""
    with tempfile.TemporaryDirectory() as directory:
        network: Any = random_qwen(Path(directory), "meta").model
    return sum(each.numel() for each in network.model.language_model.parameters())


def limit_shares(
    figures: Mapping[str, Any], operations: Mapping[str, float], weights: int, answer: int
) -> dict[str, float]:
    """Return the figures' shares of the GPU's limits; skip missing figures and those of other GPUs.

    `answer`: tokens of each of Qwen's answers.
    """
    found = dict(operations)
    if figures.get("gpu") != GPU:
        return found
    whole = operations["starter_flop_per_decision"]
    convolutions = operations["starter_convolution_flop_per_decision"]
    limit = 1.0 / (convolutions / TF32 + (whole - convolutions) / FLOAT32)
    if STARTER in figures:
        found["gpu_limit_decisions_per_s_starter"] = limit
        found["gpu_limit_share_starter_b256"] = figures[STARTER] / limit
    if QWEN in figures and PREFILL in figures:
        decoding = (1.0 - figures[PREFILL]) * 32 / figures[QWEN]  # seconds of a batch
        least = (answer - 1) * weights * BFLOAT16 / BANDWIDTH
        found["gpu_bandwidth_share_qwen_3b_b32"] = least / decoding
    return found
