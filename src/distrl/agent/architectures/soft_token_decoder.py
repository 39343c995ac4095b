"""A language model that gets screens as soft tokens: projected vectors in place of embeddings.

An item of a screen is marked in a prompt by the token id `vocabulary_size`, one past the last; its
embedding is the projector's output. No answer has that id, so no sampled token can be taken for a
picture. Embeddings are always looked up here, with pictures or without; when a policy is built,
`check_language_model` compares the logits with those of the model's own forward pass.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from distrl.agent.architectures.architecture import Tensors
from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.architectures.packed_decoder import FEATURES
from distrl.agent.screen_projector import ScreenProjector

PIXELS = "pixel_values"


class SoftTokenDecoder(DecoderOnly):
    """A decoder-only model whose prompts contain items of screens."""

    def __init__(self, network: PreTrainedModel, stand_in: int, projector: ScreenProjector) -> None:
        super().__init__(network, stand_in)
        self._embeddings: Any = network.get_input_embeddings()
        self._projector = projector

    def features(self, pictures: Tensors) -> list[Tensor]:  # each [items, features]
        """Return the items that the frozen reader finds on screens; they may be cached."""
        found: list[Tensor] = self._projector.reader(pictures[PIXELS])
        return found

    def states(self, tensors: Tensors, **options: Any) -> Tensor:  # [n, t, hidden]
        given = dict(tensors)
        ids, items = given.pop("input_ids").to(self.device), given.pop(FEATURES, None)
        if PIXELS in given:
            items = torch.cat(self.features({PIXELS: given.pop(PIXELS)}))
        places = ids == self.vocabulary_size
        embedded = self._embeddings(ids.masked_fill(places, 0))
        if items is not None:
            soft = self._projector(items.to(self.device)).to(embedded.dtype)
            embedded = embedded.masked_scatter(places.unsqueeze(-1), soft)
        return super().states({"inputs_embeds": embedded, **given}, **options)
