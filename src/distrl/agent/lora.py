"""LoRA: small trainable low-rank additions to some layers of a frozen model.

The adapters are PEFT's, so that anything that reads PEFT directories reads ours. They are seeded,
start as no change at all (B = 0), and are kept in float32 whatever the model's dtype: optimiser
steps are too small for half precision. They have no dropout: the log-probability of an answer must
be the same every time it is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import torch
from torch import Tensor, nn

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.errors import InvalidSetting, NotInstalled

if TYPE_CHECKING:  # every command imports the settings here; most load no model
    from peft import LoraConfig
    from transformers import PreTrainedModel


ADAPTER = "default"  # PEFT's name for a model's only adapter


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Which layers get adapters, and their rank and scale."""

    rank: Annotated[int, Bounds(1, 10**5, "(rank of the addition)")] = 16
    alpha: Annotated[int, Bounds(1, 10**5, "(the addition is scaled by alpha / rank)")] = 32
    targets: Annotated[
        str,
        Meaning("a regular expression for whole names of modules; empty: the language model's"),
    ] = ""

    def __post_init__(self) -> None:
        check_bounds(self)
        try:
            re.compile(self.targets)
        except re.error as error:
            raise InvalidSetting(
                f"lora.targets={self.targets!r} is no regular expression: {error}"
            ) from error


def attach_lora(model: PreTrainedModel, settings: LoraSettings, seed: int = 0) -> None:
    """Freeze the model and add trainable adapters to it, in place."""
    config = peft_config(settings)
    from peft import inject_adapter_in_model

    _check_targets(model, settings.targets)
    model.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # the CPU's only, not the GPUs' generators
        inject_adapter_in_model(config, model)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()


class AdaptedLayers:
    """The adapted layers of a model, computed in the model's own dtype, and merged for sampling.

    PEFT computes adapters in their own dtype: with a model in half precision each layer would copy
    its input to float32 first. For sampling, the adapters are merged into copies of the weights
    (`merged`), so that they cost nothing there. In half precision merging rounds once more: the
    log-probabilities of sampling and scoring then differ by about as much as between two batches.
    """

    def __init__(self, network: PreTrainedModel) -> None:
        from peft.tuners.lora import Linear

        self._layers: list[Any] = [each for each in network.modules() if isinstance(each, Linear)]
        self._merged_at: tuple[int, ...] | None = None
        for layer in self._layers:
            layer.merged_weight, layer.acts = None, False
            layer.forward = partial(_adapted, layer)

    @contextmanager
    def merged(self) -> Iterator[None]:
        """Compute with merged weights; merge again if the adapters have changed."""
        self._merge()
        for layer in self._layers:
            layer.acts = True
        try:
            yield
        finally:
            for layer in self._layers:
                layer.acts = False

    def _merge(self) -> None:
        now = tuple(part._version for layer in self._layers for part in _low_rank(layer))
        if now == self._merged_at:
            return
        with torch.inference_mode(False), torch.no_grad():
            for layer in self._layers:
                weight, (down, up) = layer.base_layer.weight, _low_rank(layer)
                if layer.merged_weight is None:
                    layer.merged_weight = torch.empty_like(weight)
                addition = layer.scaling[ADAPTER] * (up.float() @ down.float())
                layer.merged_weight.copy_(weight.float() + addition)  # in place for CUDA graphs
        self._merged_at = now


def _low_rank(layer: Any) -> tuple[Tensor, Tensor]:
    return layer.lora_A[ADAPTER].weight, layer.lora_B[ADAPTER].weight


def _adapted(layer: Any, states: Tensor) -> Tensor:
    base = layer.base_layer
    if layer.disable_adapters:  # as reference policy for a KL penalty
        without: Tensor = base(states)
        return without
    if layer.acts:
        return nn.functional.linear(states, layer.merged_weight, base.bias)
    down, up = (part.to(states.dtype) for part in _low_rank(layer))
    addition = nn.functional.linear(nn.functional.linear(states, down), up)
    found: Tensor = base(states) + addition * layer.scaling[ADAPTER]
    return found


def peft_config(settings: LoraSettings) -> LoraConfig:
    """Convert the settings to a PEFT `LoraConfig`; raise `NotInstalled` without PEFT."""
    try:
        from peft import LoraConfig
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"adapters need the package {error.name!r}: pip install 'distrl[learn]', or train the "
            "whole model (lora: null)"
        ) from error

    return LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=settings.targets)


def _check_targets(model: PreTrainedModel, targets: str) -> None:
    linear = [name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    if not any(re.fullmatch(targets, name) for name in linear):
        raise InvalidSetting(
            f"lora.targets={targets!r} matches none of the {len(linear)} linear layers of this "
            f"model, such as {', '.join(linear[-3:])}; the expression must match a whole name"
        )
