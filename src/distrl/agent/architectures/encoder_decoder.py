"""Encoder-decoder models: T5 with pictures, our starter model.

The encoder gets every input that the builder made, once; the decoder gets the encoder's outputs
(`encoder_outputs`) and never the pixels themselves. Answers begin after `decoder_start_token_id`;
the decoder's state at that token is the state of the prompt.

If the encoder is frozen and can convert its outputs to tensors with rows of one shape for every
prompt (`as_parts`, `from_parts`), `encode` and `forward_encoded` split `forward` in two steps, so
that the outputs can be cached.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from distrl.agent.architectures.architecture import (
    Architecture,
    DecodingState,
    ForwardResult,
    Tensors,
)


class EncoderDecoder(Architecture):
    """A model that reads prompts with an encoder and writes answers with a decoder."""

    def __init__(self, network: PreTrainedModel) -> None:
        super().__init__(network, network.config.get_text_config(decoder=True))
        self._start: int = network.config.decoder_start_token_id
        self._graphs: dict[int, Any] = {}  # by `max_new_tokens`

    @property
    def encodings_stay(self) -> bool:
        """Whether the encoder's outputs may be cached: it is frozen and has `as_parts`."""
        encoder = self.network.get_encoder()
        learns = any(parameter.requires_grad for parameter in encoder.parameters())
        return hasattr(encoder, "as_parts") and not learns

    def begin(self, inputs: Tensors, max_new_tokens: int) -> _Decoding:
        return _Decoding(self, self.encoded(inputs), len(inputs["input_ids"]))

    def begin_encoded(self, encoded: tuple[Tensor, ...], max_new_tokens: int) -> DecodingState:
        """As `begin`, from cached encodings; on a GPU with CUDA graphs if the network has them."""
        known, rows = self._known(encoded), len(encoded[0])
        make_graphs = getattr(self.network, "decoding_graphs", None)
        if self.device.type != "cuda" or make_graphs is None or torch.is_autocast_enabled():
            return _Decoding(self, known, rows)
        if max_new_tokens not in self._graphs:
            self._graphs = {max_new_tokens: make_graphs(max_new_tokens)}
        state: DecodingState = self._graphs[max_new_tokens].begin(
            known["encoder_outputs"], self.start(rows).squeeze(1)
        )
        return state

    def forward(self, inputs: Tensors, answers: Tensor) -> ForwardResult:
        return self._forward(self.encoded(inputs), answers)

    @torch.no_grad()
    def encode(self, inputs: Tensors) -> tuple[Tensor, ...]:  # each [n, …]
        parts: tuple[Tensor, ...] = self.network.get_encoder().as_parts(
            self.encoded(inputs)["encoder_outputs"]
        )
        return parts

    def forward_encoded(self, encoded: tuple[Tensor, ...], answers: Tensor) -> ForwardResult:
        return self._forward(self._known(encoded), answers)

    def _known(self, encoded: tuple[Tensor, ...]) -> dict[str, Any]:
        return {"encoder_outputs": self.network.get_encoder().from_parts(encoded)}

    def _forward(self, known: dict[str, Any], answers: Tensor) -> ForwardResult:
        rows, width = answers.shape
        heard = torch.cat([self.start(rows), answers[:, : max(width - 1, 0)].to(self.device)], 1)
        output = self.network(
            **known, decoder_input_ids=heard, use_cache=False, output_hidden_states=True
        )
        prompt_states = output.decoder_hidden_states[-1][:, 0]
        return ForwardResult(prompt_states, output.logits[:, :width], lambda logits: logits)

    def encoded(self, inputs: Tensors) -> dict[str, Any]:
        """Run the encoder; return what the decoder gets besides its tokens."""
        moved = self.moved(inputs)
        outputs = self.network.get_encoder()(**moved)
        return {"encoder_outputs": outputs, "attention_mask": moved["attention_mask"]}

    def start(self, rows: int) -> Tensor:  # [rows, 1]
        return torch.full((rows, 1), self._start, device=self.device)


class _Decoding:
    """Implements `DecodingState` with a cache of keys and values."""

    def __init__(self, architecture: EncoderDecoder, known: dict[str, Any], rows: int) -> None:
        self._network = architecture.network
        self._known = known
        self._cache: Any = None
        self.logits = self._next(architecture.start(rows))

    def step(self, tokens: Tensor) -> None:
        self.logits = self._next(tokens.unsqueeze(1))

    def keep(self, rows: Tensor) -> None:
        self._known = {name: _rows_of(value, rows) for name, value in self._known.items()}
        if hasattr(self._cache, "batch_select_indices"):  # a cache of transformers
            self._cache.batch_select_indices(rows)
        else:
            self._cache = self._cache.rows(rows)

    def _next(self, tokens: Tensor) -> Tensor:  # [n, 1] -> [n, vocabulary]
        output = self._network(
            **self._known, decoder_input_ids=tokens, past_key_values=self._cache, use_cache=True
        )
        self._cache = output.past_key_values
        logits: Tensor = output.logits[:, -1]
        return logits


def _rows_of(value: Any, rows: Tensor) -> Any:
    """Select rows of a tensor, or of an encoder's outputs."""
    if isinstance(value, Tensor):
        return value[rows]
    if hasattr(value, "rows"):
        return value.rows(rows)
    return type(value)(**{name: _rows_of(part, rows) for name, part in value.items()})
