"""A policy around a model: weights in their type and place, adapters, critic, prompts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from distrl.agent.architectures.packed_decoder import can_be_packed
from distrl.agent.critic import Critic
from distrl.agent.dialects.dialect import Dialect
from distrl.agent.families.language import LANGUAGE, check_language_model
from distrl.agent.families.model_family import ModelFamily
from distrl.agent.lora import attach_lora
from distrl.agent.model_directory import OpenedModel
from distrl.agent.prompt import Prompter, Sees
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import InvalidSetting


def vlm_policy(
    opened: OpenedModel,
    dialect: Dialect,
    settings: VlmSettings | None = None,
    sees: Sees | None = None,
) -> VlmPolicy:
    """A policy around a model that was just opened; the model is changed in place.

    `sees`: what it is given of a screen; None: what is usual for its family.
    """
    settings = settings or VlmSettings()
    sees = checked_sees(opened.family, sees)
    network: Any = opened.model
    builder, lora = opened.input_builder, settings.lora
    set_weight_type(network, getattr(torch, settings.weights))
    network.to(settings.device)
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not re.fullmatch(opened.family.frozen or "", name))
    if lora is not None:
        lora = replace(lora, targets=lora.targets or opened.family.adapter_targets)
        attach_lora(network, lora, settings.seed)
    network.eval()
    if settings.gradient_checkpointing:
        _enable_checkpointing(network)
    if settings.compile_vision:
        _compile_vision(network)
    critic = Critic(network.config.get_text_config().hidden_size, settings.critic, settings.seed)
    policy = VlmPolicy(
        network,
        critic.to(settings.device),
        builder,
        Prompter(
            dialect,
            opened.family.past_actions if settings.past_actions is None else settings.past_actions,
            settings.past_screens,
            seen_size=builder.seen_size,
            sees=sees,
        ),
        settings.sampling,
        directory=opened.directory,
        lora=lora,
        cache_bytes=settings.cache_megabytes << 20,
        seed=settings.seed,
    )
    if opened.family is LANGUAGE:
        check_language_model(network, policy.architecture)
    return policy


def checked_sees(family: ModelFamily, sees: Sees | None) -> Sees:
    """What models of a family are given of a screen."""
    if sees is not None and sees not in family.sees:
        raise InvalidSetting(
            f"agent.sees={sees!r} with a model of {family.name}, which can be given "
            f"{' or '.join(family.sees)}; leave agent.sees out, or take another model"
        )
    return sees or family.sees[0]


def set_weight_type(network: nn.Module, dtype: torch.dtype) -> None:
    """The weights alone: frequencies of positions are buffers, and useless in half precision."""
    for parameter in network.parameters():
        parameter.data = parameter.data.to(dtype)


def _compile_vision(network: Any) -> None:
    if not can_be_packed(network):
        raise InvalidSetting(
            f"policy.compile_vision=True: for Qwen-VL alone, this is a {type(network).__name__}"
        )
    for block in network.model.visual.blocks:
        block.compile(dynamic=True)


def _enable_checkpointing(network: Any) -> None:
    if not network.supports_gradient_checkpointing:
        raise InvalidSetting(
            f"policy.gradient_checkpointing=True: a {type(network).__name__} cannot do that; "
            "take smaller micro-batches instead"
        )
    network.gradient_checkpointing_enable({"use_reentrant": False})
    # It also makes embeddings ask for gradients, which this kind of checkpointing does not need.
    network.disable_input_require_grads()
