"""Models that read with one half and write with the other: T5 with pictures, our starter model.

The encoder gets every input that the builder made, once; the decoder gets what the encoder made of
it (`encoder_outputs`) and never the pixels themselves. Answers begin after
`decoder_start_token_id`; what the decoder makes of that token alone stands for the prompt.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from distrl.agent.architectures.architecture import ForwardResult, Tensors


class EncoderDecoder:
    """Implements `Architecture`."""

    def __init__(self, network: PreTrainedModel) -> None:
        self.network: Any = network
        self.device = network.device
        self.dtype = network.dtype
        self._text: Any = network.config.get_text_config(decoder=True)
        self._start: int = network.config.decoder_start_token_id

    @property
    def hidden_size(self) -> int:
        return int(self._text.hidden_size)

    @property
    def vocabulary_size(self) -> int:
        return int(self._text.vocab_size)

    def begin(self, inputs: Tensors, max_new_tokens: int) -> _Stream:
        return _Stream(self, inputs)

    def judge(self, inputs: Tensors, answers: Tensor) -> ForwardResult:
        rows, width = answers.shape
        heard = torch.cat([self.start(rows), answers[:, : max(width - 1, 0)].to(self.device)], 1)
        known = self.encoded(inputs)
        said = self.network(
            **known, decoder_input_ids=heard, use_cache=False, output_hidden_states=True
        )
        beginnings = said.decoder_hidden_states[-1][:, 0]
        return ForwardResult(beginnings, said.logits[:, :width], lambda logits: logits)

    def encoded(self, inputs: Tensors) -> dict[str, Any]:
        """What the decoder is given beside its tokens."""
        moved = {
            name: tensor.to(self.device, self.dtype if tensor.is_floating_point() else None)
            for name, tensor in inputs.items()
        }
        outputs = self.network.get_encoder()(**moved)
        return {"encoder_outputs": outputs, "attention_mask": moved["attention_mask"]}

    def start(self, rows: int) -> Tensor:  # [rows, 1]
        return torch.full((rows, 1), self._start, device=self.device)


class _Stream:
    """Implements `DecodingState` with a cache of keys and values."""

    def __init__(self, shape: EncoderDecoder, inputs: Tensors) -> None:
        self._network = shape.network
        self._known = shape.encoded(inputs)
        self._cache: Any = None
        self.logits = self._next(shape.start(inputs["input_ids"].shape[0]))

    def step(self, tokens: Tensor) -> None:
        self.logits = self._next(tokens.unsqueeze(1))

    def _next(self, tokens: Tensor) -> Tensor:  # [n, 1] -> [n, vocabulary]
        said = self._network(
            **self._known, decoder_input_ids=tokens, past_key_values=self._cache, use_cache=True
        )
        self._cache = said.past_key_values
        logits: Tensor = said.logits[:, -1]
        return logits
