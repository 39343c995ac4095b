"""Chooses the architecture that runs a model, and says whether its features may be cached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from transformers import PreTrainedModel

from distrl.agent.architectures.architecture import Architecture
from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.architectures.encoder_decoder import EncoderDecoder
from distrl.agent.architectures.packed_decoder import PackedDecoder, can_be_packed
from distrl.agent.architectures.soft_token_decoder import SoftTokenDecoder
from distrl.agent.families.language_pictures import LanguagePictureInputs
from distrl.agent.families.model_family import InputBuilder
from distrl.agent.families.qwen_vl import QwenInputs
from distrl.agent.screen_projector import ScreenProjector
from distrl.records import Screen


@dataclass(frozen=True, slots=True)
class FeatureSource:
    """Computes the image features of screens, for a model whose features may be cached."""

    architecture: PackedDecoder | SoftTokenDecoder
    builder: QwenInputs | LanguagePictureInputs

    def features(self, screens: Sequence[Screen]) -> list[Tensor]:
        return self.architecture.features(self.builder.pixels(screens))


def chosen_architecture(
    network: PreTrainedModel, stand_in: int, projector: ScreenProjector | None = None
) -> Architecture:
    """Wrap a model; `stand_in` replaces image tokens that a decoder-only model samples."""
    if network.config.is_encoder_decoder:
        return EncoderDecoder(network)
    if projector is not None:
        return SoftTokenDecoder(network, stand_in, projector)
    return (PackedDecoder if can_be_packed(network) else DecoderOnly)(network, stand_in)


def feature_source(architecture: Architecture, builder: InputBuilder) -> FeatureSource | None:
    """Return the source of cacheable image features; None if they may not be cached."""
    if isinstance(architecture, SoftTokenDecoder) and isinstance(builder, LanguagePictureInputs):
        return FeatureSource(architecture, builder)
    if isinstance(architecture, PackedDecoder) and isinstance(builder, QwenInputs):
        return FeatureSource(architecture, builder) if architecture.features_stay else None
    return None


def cacheable_encoder(architecture: Architecture) -> EncoderDecoder | None:
    """Return the encoder if its outputs may be cached; None if it is trained or there is none."""
    if isinstance(architecture, EncoderDecoder) and architecture.encodings_stay:
        return architecture
    return None
