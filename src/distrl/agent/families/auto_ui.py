"""Auto-UI, the model of the DistRL paper: T5 with gated cross-attention to screenshots.

Transformers has no class for Auto-UI, so this is our own, as published: the image encoder of BLIP-2
makes one vector of each screenshot, a projection brings it to T5's width, the encoded words attend
to it (one head), and an elementwise sigmoid gate mixes the result into each word's state. The
decoder is T5's and gets no pictures.

With `image_tokens="patches"` the words attend to every patch of the picture instead of one vector.
The screens of one prompt are concatenated, and `screen_mask` says which of them are real.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    Blip2VisionConfig,
    Blip2VisionModel,
    GenerationMixin,
    PreTrainedConfig,
    PreTrainedModel,
    T5Config,
)
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput
from transformers.models.t5.modeling_t5 import T5Stack

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.model_family import ModelFamily, ModelInputs, ModelParts
from distrl.agent.families.pictures import OneSize, one_size
from distrl.agent.families.tokenizers import AnswerTokens, answer_tokens, padded, read_tokenizer
from distrl.agent.prompt import Prompt
from distrl.records import Screen


class AutoUiConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The configs of the text model and the image encoder; saved as config.json."""

    model_type = "auto_ui"
    sub_configs = {"text_config": T5Config, "vision_config": Blip2VisionConfig}  # noqa: RUF012

    def __init__(
        self,
        text_config: T5Config | dict[str, Any] | None = None,
        vision_config: Blip2VisionConfig | dict[str, Any] | None = None,
        image_tokens: Literal["pooled", "patches"] = "pooled",
        **rest: Any,
    ) -> None:
        text = text_config or {}
        vision = vision_config or {}
        self.text_config = text if isinstance(text, T5Config) else T5Config(**text)
        self.vision_config = (
            vision if isinstance(vision, Blip2VisionConfig) else Blip2VisionConfig(**vision)
        )
        self.image_tokens = image_tokens
        rest["is_encoder_decoder"] = True
        rest["tie_word_embeddings"] = True  # as in T5: encoder, decoder and head share a table
        for name in ("pad_token_id", "eos_token_id", "decoder_start_token_id"):
            rest.setdefault(name, getattr(self.text_config, name, None))
        if rest["decoder_start_token_id"] is None:
            rest["decoder_start_token_id"] = rest["pad_token_id"]  # as in T5
        super().__init__(**rest)


class AutoUiEncoder(nn.Module):
    """T5's encoder, whose word states are fused with image features."""

    main_input_name = "input_ids"

    def __init__(self, config: AutoUiConfig) -> None:
        super().__init__()
        width = config.text_config.d_model
        self.image_tokens = config.image_tokens
        self.text_model = t5_stack(config, decoder=False)
        self.vision_model = Blip2VisionModel(config.vision_config)
        self.image_dense = nn.Linear(config.vision_config.hidden_size, width)
        self.mha_layer = nn.MultiheadAttention(width, num_heads=1, batch_first=True)
        self.gate_dense = nn.Linear(2 * width, width)

    def forward(
        self,
        input_ids: Tensor | None = None,  # [n, t]
        attention_mask: Tensor | None = None,  # [n, t]
        pixel_values: Tensor | None = None,  # [n, screens, 3, height, width]
        screen_mask: Tensor | None = None,  # [n, screens]
        inputs_embeds: Tensor | None = None,
        **ignored: Any,
    ) -> BaseModelOutput:
        words: Any = self.text_model(
            input_ids=input_ids, attention_mask=attention_mask, inputs_embeds=inputs_embeds
        ).last_hidden_state
        if pixel_values is not None:
            words = self._fused(words, pixel_values, screen_mask)
        return BaseModelOutput(last_hidden_state=words)

    def _fused(self, words: Tensor, pixel_values: Tensor, screen_mask: Tensor | None) -> Tensor:
        rows, screens = pixel_values.shape[:2]
        seen = self.image_dense(self._features(pixel_values.flatten(0, 1)))  # [n·s, tokens, d]
        tokens = seen.shape[1]
        seen = seen.unflatten(0, (rows, screens)).flatten(1, 2)  # [n, s·tokens, d]
        there = torch.ones(rows, screens, dtype=torch.bool, device=words.device)
        there = there if screen_mask is None else screen_mask.to(words.device) != 0
        blind = ~there.any(
            1
        )  # a prompt without screens attends to blank ones; its gate is set to 0 below
        away = (~there & ~blind.unsqueeze(1)).repeat_interleave(tokens, dim=1)
        found, _ = self.mha_layer(words, seen, seen, key_padding_mask=away, need_weights=False)
        gate = torch.sigmoid(self.gate_dense(torch.cat([words, found], dim=-1)))
        gate = gate.masked_fill(blind.view(-1, 1, 1), 0.0)
        fused: Tensor = (1.0 - gate) * words + gate * found
        return fused

    def _features(self, pixels: Tensor) -> Tensor:  # [m, 3, height, width] -> [m, tokens, width]
        seen = self.vision_model(pixel_values=pixels)
        features: Tensor = (
            seen.pooler_output.unsqueeze(1)
            if self.image_tokens == "pooled"
            else seen.last_hidden_state
        )
        return features


class AutoUiForConditionalGeneration(PreTrainedModel, GenerationMixin):  # type: ignore[no-untyped-call]
    """T5 with a gate for pictures. `generate` encodes words and screens once."""

    config_class = AutoUiConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    input_modalities = ["image", "text"]  # noqa: RUF012
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _no_split_modules = ["T5Block", "Blip2EncoderLayer"]  # noqa: RUF012
    _tied_weights_keys = {  # noqa: RUF012
        "encoder.text_model.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
        "lm_head.weight": "shared.weight",
    }

    def __init__(self, config: AutoUiConfig) -> None:
        super().__init__(config)
        text = config.text_config
        self.shared: nn.Module = nn.Embedding(text.vocab_size, text.d_model)
        self.encoder = AutoUiEncoder(config)
        self.decoder = t5_stack(config, decoder=True)
        self.lm_head = nn.Linear(text.d_model, text.vocab_size, bias=False)
        self.post_init()  # type: ignore[no-untyped-call]

    def get_encoder(self, modality: str | None = None) -> nn.Module:
        return self.encoder

    def get_input_embeddings(self) -> nn.Module:
        return self.shared

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.shared = value
        self.encoder.text_model.set_input_embeddings(value)
        self.decoder.set_input_embeddings(value)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        pixel_values: Tensor | None = None,
        screen_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        past_key_values: Any = None,
        use_cache: bool | None = None,
        output_hidden_states: bool | None = None,
        **ignored: Any,
    ) -> Seq2SeqLMOutput:
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask, pixel_values, screen_mask)
        written = self.decoder(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=encoder_outputs[0],
            encoder_attention_mask=attention_mask,
            past_key_values=past_key_values,
            use_cache=use_cache,
            output_hidden_states=output_hidden_states,
        )
        states = written.last_hidden_state
        if getattr(self.config.text_config, "scale_decoder_outputs", False):
            states = states * self.config.text_config.d_model**-0.5  # T5 ties its embeddings
        return Seq2SeqLMOutput(
            logits=self.lm_head(states),
            past_key_values=written.past_key_values,
            decoder_hidden_states=written.hidden_states,
            encoder_last_hidden_state=encoder_outputs[0],
        )


def register_auto_ui() -> None:
    """Register the model with transformers' Auto classes; calling this twice is harmless."""
    AutoConfig.register("auto_ui", AutoUiConfig, exist_ok=True)
    AutoModelForImageTextToText.register(
        AutoUiConfig, AutoUiForConditionalGeneration, exist_ok=True
    )


def t5_stack(config: AutoUiConfig, *, decoder: bool) -> Any:
    """Build T5's encoder or decoder."""
    half: Any = T5Config(**config.text_config.to_dict())
    half.is_decoder = decoder
    half.use_cache = decoder
    if decoder:
        half.num_layers = half.num_decoder_layers
    return T5Stack(half)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class AutoUiInputs:
    """Implements `InputBuilder`. Prompts are padded on the right, as usual for an encoder."""

    answers: AnswerTokens
    pixels: OneSize

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.pixels.size

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        rows = [self._row(prompt) for prompt in prompts]
        input_ids, attention_mask = padded(rows, self.answers.pad_token_id, "right")
        tensors = {"input_ids": input_ids, "attention_mask": attention_mask}
        if any(prompt.screens for prompt in prompts):
            tensors["pixel_values"], tensors["screen_mask"] = self._screens(prompts)
        return ModelInputs(tensors, (self.pixels.size,) * len(prompts))

    def _row(self, prompt: Prompt) -> list[int]:
        text = f"{prompt.system}\n{prompt.text}" if prompt.system else prompt.text
        ids = self.answers.tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=True
        )
        return [*ids, self.answers.end_token_id]  # T5 was trained with an end token

    def _screens(self, prompts: Sequence[Prompt]) -> tuple[Tensor, Tensor]:
        prepared = self.pixels.of([screen for prompt in prompts for screen in prompt.screens])
        most = max(len(prompt.screens) for prompt in prompts)
        mask = torch.zeros(len(prompts), most, dtype=torch.int64)
        for number, prompt in enumerate(prompts):
            mask[number, : len(prompt.screens)] = 1
        pixels = prepared.new_zeros(len(prompts), most, *prepared.shape[1:])
        pixels[mask == 1] = prepared
        return pixels, mask


def auto_ui_inputs(parts: ModelParts) -> AutoUiInputs:
    return AutoUiInputs(answer_tokens(parts, read_tokenizer(parts)), one_size(parts))


AUTO_UI = ModelFamily(
    "Auto-UI (T5 with image features)",
    ("auto_ui",),
    "aitw",
    r"(encoder\.text_model|decoder)\..*\.(q|k|v|o)",
    auto_ui_inputs,
    register_auto_ui,
    sees=("screen",),
)
