"""Image input for a language model: a frozen screen reader and a small trained projector.

The reader finds items on a screen (`starter.item_reader`); the projector turns each into a vector
as wide as the model's embeddings, a soft token. Before training it turns every item into the
embedding of one known token, a line break: the last layer begins with weights of zero and that
embedding as its bias. So the model at first reads its usual prompt after some empty lines, and
learns to use pictures by training alone. Weights are always in float32: optimiser steps are too
small for half precision.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from distrl.agent.starter.item_reader import ItemReader


class ScreenProjector(nn.Module):
    """A projector of items to soft tokens. All of it but `reader` is trained."""

    def __init__(self, reader: ItemReader, start: Tensor, seed: int = 0) -> None:
        """`start` [hidden]: the embedding that every soft token has before training."""
        super().__init__()
        self.reader = reader
        hidden = len(start)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)  # the CPU's only, not the GPUs' generators
            self.norm = nn.LayerNorm(reader.width)
            self.up_proj = nn.Linear(reader.width, hidden)
            self.down_proj = nn.Linear(hidden, hidden)
        nn.init.zeros_(self.down_proj.weight)
        with torch.no_grad():
            self.down_proj.bias.copy_(start)

    def forward(self, items: Tensor) -> Tensor:  # [items, width] -> [items, hidden]
        soft: Tensor = self.down_proj(nn.functional.gelu(self.up_proj(self.norm(items))))
        return soft
