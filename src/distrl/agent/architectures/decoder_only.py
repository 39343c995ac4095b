"""Decoder-only (vision-)language models: Qwen-VL, SmolVLM, Gemma, InternVL …

Prompts are padded on the left and answers on the right, so that all answers of a batch begin in the
same column. Positions are computed here, once, on the CPU, and passed to the model: a count of the
real tokens, or the model's own `get_rope_index` where positions have three axes (Qwen-VL). The
model's state from the last batch (`rope_deltas`) is never relied upon.

Two things that a plain forward pass over prompt and answer would get wrong:
- Token types (`mm_token_type_ids`, `token_type_ids`) are extended over the answer: it is text.
- A model may sample an image token. As an input it would be taken for a patch of a picture, for
  which there are no pixels; so it is replaced by `stand_in`, when sampling and when scoring.

Prompts that begin with the same tokens can reuse the keys and values of these (`read_prefix`). The
prefix comes first in a row and the padding after it, so that rows are as long as without a prefix.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from distrl.agent.architectures.architecture import (
    Architecture,
    DecodingState,
    ForwardResult,
    PrefixStates,
    Tensors,
)

PLACEHOLDERS = ("image_token_id", "video_token_id", "audio_token_id", "image_token_index")
TOKEN_TYPES = ("mm_token_type_ids", "token_type_ids")
BY_LENGTH = ("dynamic", "longrope")  # RoPE types that depend on the length of the sequence


class DecoderOnly(Architecture):
    """A model that reads prompts and writes answers in one sequence of tokens."""

    def __init__(self, network: PreTrainedModel, stand_in: int) -> None:
        text = network.config.get_text_config()
        super().__init__(network, text)
        self.trunk: Any = getattr(network, "model", None) or network.base_model
        self._softcap = getattr(text, "final_logit_softcapping", None)
        self._stand_in = stand_in  # replaces image tokens that the model sampled
        found = (getattr(network.config, name, None) for name in PLACEHOLDERS)
        self._placeholders = {token for token in found if isinstance(token, int)}

    def begin(
        self, inputs: Tensors, max_new_tokens: int, prefix: PrefixStates | None = None
    ) -> DecodingState:
        """`prefix` has the states of the first tokens of every prompt, to be reused."""
        return _Decoding(self, inputs, max_new_tokens, prefix)

    @property
    def can_share_prefix(self) -> bool:
        """Whether each token attends to all before it, with RoPE independent of the length."""
        text = self.network.config.get_text_config()
        kinds = getattr(text, "layer_types", None) or ("full_attention",)
        rotary: Any = getattr(text, "rope_parameters", None)
        windows = set(kinds) != {"full_attention"} or getattr(text, "sliding_window", None)
        return bool(rotary) and rotary.get("rope_type") not in BY_LENGTH and not windows

    def read_prefix(self, tokens: Tensor) -> PrefixStates:  # [t]
        """Compute the states of the first tokens of prompts, among which there is no picture."""
        cache = DynamicCache(config=self.network.config)
        self.states(_prompt(tokens), past_key_values=cache, use_cache=True)
        layers: list[Any] = cache.layers
        return PrefixStates(
            torch.cat([each.keys for each in layers]), torch.cat([each.values for each in layers])
        )

    def forward(self, inputs: Tensors, answers: Tensor) -> ForwardResult:
        width = answers.shape[1]
        heard = answers[:, : max(width - 1, 0)]  # nothing is predicted from the last token
        prompt = inputs["input_ids"].shape[1]
        positions, after = self.positions(inputs)
        whole = dict(inputs)
        whole["input_ids"] = torch.cat([inputs["input_ids"], self.heard(heard)], dim=1)
        whole["attention_mask"] = _extended(inputs["attention_mask"], heard.shape[1], 1)
        for name in TOKEN_TYPES:
            if name in inputs:
                whole[name] = _extended(inputs[name], heard.shape[1], 0)
        further = after.unsqueeze(1) + torch.arange(heard.shape[1])
        further = further.expand(*positions.shape[:-1], -1)
        whole["position_ids"] = torch.cat([positions, further], dim=-1)
        states = self.states(whole, use_cache=False)[:, prompt - 1 :]
        return ForwardResult(states[:, 0], states[:, :width], self.project)

    def states(self, tensors: Tensors, **options: Any) -> Tensor:  # [n, t, hidden]
        """Return the last hidden states, after the final norm."""
        states: Tensor = self.trunk(**self.moved(tensors), **options).last_hidden_state
        return states

    def project(self, states: Tensor) -> Tensor:  # [m, hidden] -> [m, vocabulary]
        """Do what the model's own `forward` does after its trunk."""
        logits: Tensor = self.network.lm_head(states)
        softcap = self._softcap
        return logits if softcap is None else torch.tanh(logits / softcap) * softcap

    def heard(self, tokens: Tensor) -> Tensor:
        """Return sampled tokens as inputs, with image tokens replaced."""
        for placeholder in self._placeholders:
            tokens = tokens.masked_fill(tokens == placeholder, self._stand_in)
        return tokens

    def positions(self, inputs: Tensors) -> tuple[Tensor, Tensor]:  # [n, t] or [3, n, t]; [n]
        """Return the positions of the prompts' tokens, and that of each answer's first token."""
        mask = inputs["attention_mask"]
        if hasattr(self.trunk, "get_rope_index") and "image_grid_thw" in inputs:
            positions, _ = self.trunk.get_rope_index(
                inputs["input_ids"],
                mm_token_type_ids=inputs["mm_token_type_ids"],
                image_grid_thw=inputs["image_grid_thw"],
                attention_mask=mask,
            )
            return positions, positions.amax(dim=(0, 2)) + 1
        counted = mask.long().cumsum(-1)
        return (counted - 1).clamp(min=0), counted[:, -1]


class _Decoding:
    """Implements `DecodingState` with a cache of keys and values."""

    def __init__(
        self,
        architecture: DecoderOnly,
        inputs: Tensors,
        max_new_tokens: int,
        prefix: PrefixStates | None,
    ) -> None:
        positions, after = architecture.positions(inputs)
        self._architecture = architecture
        self._after = after.to(architecture.device).unsqueeze(1)  # [n, 1]
        self._length = inputs["input_ids"].shape[1]
        self._cache = DynamicCache(config=architecture.network.config)
        inputs = {**inputs, "position_ids": positions}
        if prefix is not None:
            inputs = _without_first(inputs, len(prefix))
            for layer, kept in enumerate(zip(prefix.keys, prefix.values, strict=True)):
                rows = (each.expand(len(after), -1, -1, -1) for each in kept)
                self._cache.update(*rows, layer)
        self._mask = _extended(inputs["attention_mask"], max_new_tokens, 1).to(architecture.device)
        self.logits = self._next(inputs)

    def step(self, tokens: Tensor) -> None:
        self._length += 1
        inputs = {
            "input_ids": self._architecture.heard(tokens).unsqueeze(1),
            "attention_mask": self._mask[:, : self._length],
            "position_ids": self._after,
        }
        self._after = self._after + 1
        self.logits = self._next(inputs)

    def keep(self, rows: Tensor) -> None:
        self._cache.batch_select_indices(rows)
        self._after, self._mask = self._after[rows], self._mask[rows]

    def _next(self, inputs: Tensors) -> Tensor:
        states = self._architecture.states(inputs, past_key_values=self._cache, use_cache=True)
        return self._architecture.project(states[:, -1])


def _prompt(tokens: Tensor) -> dict[str, Tensor]:  # [t]
    """Return the inputs for one prompt without pictures, as a batch of one."""
    places = torch.arange(len(tokens)).unsqueeze(0)
    return {
        "input_ids": tokens.unsqueeze(0),
        "attention_mask": torch.ones_like(places),
        "position_ids": places,
    }


def _without_first(inputs: Tensors, count: int) -> dict[str, Tensor]:
    """Remove the first tokens of every prompt; in the mask they come before the padding."""
    mask = inputs["attention_mask"]
    width = mask.shape[1] - count
    places = torch.arange(width).expand(len(mask), -1)  # [n, width]
    padding = (mask == 0).sum(dim=1, keepdim=True)
    places = places + count * (places >= padding)  # columns of the original row that are kept
    left = {
        name: inputs[name].gather(-1, places.expand(*inputs[name].shape[:-1], -1))
        for name in ("input_ids", "attention_mask", "position_ids", *TOKEN_TYPES)
        if name in inputs
    }
    left["attention_mask"] = torch.nn.functional.pad(left["attention_mask"], (count, 0), value=1)
    return {**inputs, **left}


def _extended(tensor: Tensor, width: int, value: int) -> Tensor:  # [n, t] -> [n, t + width]
    return torch.nn.functional.pad(tensor, (0, width), value=value)
