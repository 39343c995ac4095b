"""The start model of a run as a frozen reference policy for a KL penalty.

It is the model (and adapter) that the config names, never a checkpoint of the run, so that a
resumed run keeps its first reference. If training adds new LoRA adapters and nothing else, the
start model is the same network with its adapters disabled and costs no memory. Otherwise it is a
second, frozen copy of the weights on the policy's device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from distrl.agent.export_directory import trained_directory
from distrl.agent.trainable_policy import Scores
from distrl.agent.vlm_policy import VlmPolicy
from distrl.records import Observation


@dataclass(frozen=True, slots=True)
class WithoutAdapters:
    """A policy's network with its LoRA adapters disabled while it scores."""

    policy: VlmPolicy

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        with torch.no_grad(), _adapters_disabled(self.policy.network):
            return self.policy.score(observations, answers)


def start_policy(
    policy: VlmPolicy,
    model: str | Path,  # the model that the policy was opened from
    adapter: Path | None,  # the adapter that training began with
    reopen: Callable[[], VlmPolicy],
) -> VlmPolicy | WithoutAdapters:
    """Return the policy that training began with, for scoring only."""
    new_adapters = adapter is None and trained_directory(model) is None
    if policy.lora is not None and new_adapters and policy.projector is None:
        return WithoutAdapters(policy)
    frozen = reopen()
    frozen.network.requires_grad_(False)
    frozen.critic.requires_grad_(False)
    if frozen.projector is not None:
        frozen.projector.requires_grad_(False)
    return frozen


@contextmanager
def _adapters_disabled(network: nn.Module) -> Iterator[None]:
    from peft.tuners.tuners_utils import BaseTunerLayer

    layers = [module for module in network.modules() if isinstance(module, BaseTunerLayer)]
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)
