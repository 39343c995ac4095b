"""Image input for a language model: a frozen screen reader, and a small projector that is trained.

The reader finds items on a screen (`starter.item_reader`); the projector turns each into a vector
as wide as the model's embeddings, a soft token. At first it turns every item, whatever it is, into
the embedding of one known token, a line break: the last layer begins with weights of zero and that
embedding as its bias. So the model reads its usual prompt after some empty lines, and what a
picture adds comes by training alone. Always in float32: steps of an optimiser are too small for
half precision.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from distrl.agent.starter.item_reader import ItemReader


class ScreenProjector(nn.Module):
    """Soft tokens of items. All but `reader` is trained."""

    def __init__(self, reader: ItemReader, start: Tensor, seed: int = 0) -> None:
        """`start` [hidden]: the embedding that every soft token begins as."""
        super().__init__()
        self.reader = reader
        hidden = len(start)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)  # not those of the GPUs as well
            self.norm = nn.LayerNorm(reader.width)
            self.up_proj = nn.Linear(reader.width, hidden)
            self.down_proj = nn.Linear(hidden, hidden)
        nn.init.zeros_(self.down_proj.weight)
        with torch.no_grad():
            self.down_proj.bias.copy_(start)

    def forward(self, items: Tensor) -> Tensor:  # [items, width] -> [items, hidden]
        soft: Tensor = self.down_proj(nn.functional.gelu(self.up_proj(self.norm(items))))
        return soft
