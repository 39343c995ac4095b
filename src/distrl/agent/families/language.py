"""Causal language models, without image input: they read the elements of a screen instead.

The family covers every `model_type` that `AutoModelForCausalLM` knows and that is not an
image-text-to-text model: Llama and SmolLM, Qwen, Mistral, Phi, Gemma's text models and so on. Our
logits must equal the model's own, in a batch and alone. `check_language_model` compares them on a
few tokens when a policy is built, since some models scale their logits, or keep a state that
padding would disturb. With `both` they get a screen projector (`language_pictures`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
)

from distrl.agent.architectures.architecture import Architecture
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import NO_MARKS, ChatFormat, chat_format
from distrl.agent.families.decoder_inputs import NO_PICTURE, PromptRows
from distrl.agent.families.language_pictures import LanguagePictureInputs, language_picture_inputs
from distrl.agent.families.model_family import ModelFamily, ModelInputs, ModelParts
from distrl.agent.families.tokenizers import AnswerTokens, answer_tokens, padded, read_tokenizer
from distrl.agent.prompt import Prompt, full_size
from distrl.errors import UnknownModelFamily
from distrl.records import Screen

PROBE = 5  # tokens of the first test prompt; the second has one less, and padding
TOLERANCE = 1e-3  # relative to the largest logit


@dataclass(frozen=True, slots=True)
class LanguageInputs:
    """Implements `InputBuilder`, for prompts without pictures."""

    chat: ChatFormat
    answers: AnswerTokens
    rows: PromptRows

    def seen_size(self, screen: Screen) -> ImageSize:
        return full_size(screen)

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        rows = self.rows.of([self.chat.text(prompt) for prompt in prompts])
        input_ids, attention_mask = padded(rows, self.answers.pad_token_id, "left")
        tensors = {"input_ids": input_ids, "attention_mask": attention_mask}
        return ModelInputs(tensors, (NO_PICTURE,) * len(prompts))


def language_inputs(parts: ModelParts) -> LanguageInputs | LanguagePictureInputs:
    if parts.sees == "both":
        return language_picture_inputs(parts)
    tokenizer = read_tokenizer(parts)
    chat = chat_format(parts.directory, tokenizer, NO_MARKS)
    return LanguageInputs(chat, answer_tokens(parts, tokenizer), PromptRows(tokenizer))


@torch.no_grad()
def check_language_model(network: PreTrainedModel, architecture: Architecture) -> None:
    """Raise `UnknownModelFamily` if the model's own logits differ from ours, padded or not."""
    tokens = torch.arange(PROBE).unsqueeze(0).expand(2, -1) + 3
    mask = torch.ones_like(tokens)
    mask[1, 0] = 0
    kind, advice = type(network).__name__, "Take a model like Llama, Qwen, Mistral or SmolLM"
    try:
        begun = {"input_ids": tokens[:, :-1], "attention_mask": mask[:, :-1]}
        decoding = architecture.begin(begun, 1)
        decoding.step(tokens[:, -1].to(network.device))
        ours = decoding.logits.float()
    except (TypeError, AttributeError, ValueError) as error:
        raise UnknownModelFamily(f"a {kind} is no plain decoder ({error}). {advice}") from error
    alone = [tokens[0:1], tokens[1:2, 1:]]
    own = torch.cat([network(input_ids=each.to(network.device)).logits[:, -1] for each in alone])
    apart = float((ours - own.float()).abs().max())
    if not apart <= TOLERANCE * max(1.0, float(own.abs().max())):
        raise UnknownModelFamily(
            f"a {kind} computes other logits than a plain decoder with a padded prompt "
            f"({apart:.2g} apart): it scales them, or keeps a state. {advice}"
        )


TARGETS = r".*\.(q_proj|k_proj|v_proj|o_proj|qkv_proj|query_key_value)"
MODEL_TYPES = tuple(
    sorted(set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) - set(MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES))
)
LANGUAGE = ModelFamily(
    "causal language models",
    MODEL_TYPES,
    "elements",
    TARGETS,
    language_inputs,
    sees=("elements", "both"),
    past_actions=6,
)
