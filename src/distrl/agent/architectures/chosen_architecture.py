"""Which architecture a model is run with, and whether what it makes of pictures may be kept."""

from __future__ import annotations

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

KeptPictures = tuple[PackedDecoder | SoftTokenDecoder, QwenInputs | LanguagePictureInputs]


def chosen_architecture(
    network: PreTrainedModel, stand_in: int, projector: ScreenProjector | None = None
) -> Architecture:
    """`stand_in`: the token that a decoder hears where it sampled an image token."""
    if network.config.is_encoder_decoder:
        return EncoderDecoder(network)
    if projector is not None:
        return SoftTokenDecoder(network, stand_in, projector)
    return (PackedDecoder if can_be_packed(network) else DecoderOnly)(network, stand_in)


def kept_pictures(architecture: Architecture, builder: InputBuilder) -> KeptPictures | None:
    """Where the features of screens may be kept: who computes them, and from what."""
    if isinstance(architecture, SoftTokenDecoder) and isinstance(builder, LanguagePictureInputs):
        return architecture, builder
    if isinstance(architecture, PackedDecoder) and isinstance(builder, QwenInputs):
        return (architecture, builder) if architecture.features_stay else None
    return None
