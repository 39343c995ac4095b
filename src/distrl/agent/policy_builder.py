"""Builds a policy around a model: dtype and device of weights, adapters, critic, prompts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from distrl.agent.architectures.packed_decoder import can_be_packed
from distrl.agent.checkpointing import enable_checkpointing
from distrl.agent.critic import Critic
from distrl.agent.dialects.dialect import Dialect
from distrl.agent.families.language import LANGUAGE, check_language_model
from distrl.agent.families.language_pictures import LanguagePictureInputs
from distrl.agent.families.model_family import InputBuilder, Letterboxes
from distrl.agent.lora import attach_lora
from distrl.agent.model_directory import OpenedModel, open_model
from distrl.agent.prompt import Prompter, no_letterbox
from distrl.agent.screen_projector import ScreenProjector
from distrl.agent.starter.building import shipped_directory
from distrl.agent.starter.item_reader import ItemReader
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import InvalidSetting


def vlm_policy(
    opened: OpenedModel, dialect: Dialect, settings: VlmSettings | None = None
) -> VlmPolicy:
    """Build a policy around a model that was just opened; the model is changed in place."""
    settings = settings or VlmSettings()
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
    if settings.gradient_checkpointing == "on":
        enable_checkpointing(network)
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
            letterbox=builder.letterbox if isinstance(builder, Letterboxes) else no_letterbox,
            sees=opened.sees,
        ),
        settings.sampling,
        directory=opened.directory,
        lora=lora,
        projector=_projector(network, builder, settings),
        cache_bytes=settings.cache_megabytes << 20,
        may_checkpoint=settings.gradient_checkpointing == "auto",
        seed=settings.seed,
    )
    if opened.family is LANGUAGE:
        check_language_model(network, policy.architecture)
    return policy


def set_weight_type(network: nn.Module, dtype: torch.dtype) -> None:
    """Cast parameters but not buffers: RoPE frequencies are useless in half precision."""
    for parameter in network.parameters():
        parameter.data = parameter.data.to(dtype)


def _projector(
    network: Any, builder: InputBuilder, settings: VlmSettings
) -> ScreenProjector | None:
    """Build the screen projector of a language model with image input; None for other models."""
    if not isinstance(builder, LanguagePictureInputs):
        return None
    starter: Any = open_model(shipped_directory()).model
    embeddings = network.get_input_embeddings()
    with torch.no_grad():
        start = embeddings(torch.tensor(builder.start_token_id, device=network.device))
    projector = ScreenProjector(ItemReader(starter.encoder), start.float().cpu(), settings.seed)
    return projector.to(settings.device)


def _compile_vision(network: Any) -> None:
    if not can_be_packed(network):
        raise InvalidSetting(
            f"policy.compile_vision=True: for Qwen-VL alone, this is a {type(network).__name__}"
        )
    for block in network.model.visual.blocks:
        block.compile(dynamic=True)
