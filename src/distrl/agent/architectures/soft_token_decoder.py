"""A language model that is given screens as soft tokens: vectors in place of embeddings.

Where a prompt has the token after the last of the vocabulary there is an item of a screen, and the
projector says what the model hears. No answer has that token, so nothing that is sampled can be
taken for a picture. Embeddings are always looked up here, with a picture or without one; when a
policy is built, `check_language_model` compares that with what the model does by itself.
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
    """Reads prompts with items of screens in them."""

    def __init__(self, network: PreTrainedModel, stand_in: int, projector: ScreenProjector) -> None:
        super().__init__(network, stand_in)
        self._embeddings: Any = network.get_input_embeddings()
        self._projector = projector

    def features(self, pictures: Tensors) -> list[Tensor]:  # each [items, features]
        """What the reader finds on some screens; it never learns, so that may be kept."""
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
