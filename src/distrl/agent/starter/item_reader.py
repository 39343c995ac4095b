"""The starter's screen reader for other models: a screen's most certain items as feature vectors.

An item is a word, an icon or a control. Its vector holds its spelling, its visual features, the
reader's certainty that an item begins there, and its position. The reader's weights are frozen and
in float32, whatever the other model's dtype. Screens are read one at a time: which of two items
comes first can depend on rounding, and rounding depends on the batch.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor, nn

from distrl.agent.starter.model import CELL, WAVES, Encoder, waves
from distrl.agent.starter.screen_reader import ACROSS, ReadScreen, ScreenReader
from distrl.agent.weight_digest import weight_digest

ITEMS = 64  # items per screen at most; they are in reading order


class ItemReader(nn.Module):
    """Maps pixels to item vectors of length `width`."""

    sign_table: Tensor

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        config = encoder.config
        self.screen_reader: ScreenReader = encoder.screen_reader
        table = encoder.letter_table.weight.detach() * encoder.something
        self.register_buffer("sign_table", table.clone())
        self.width = config.letters * config.letter_width + config.reader_width + 1 + 4 * WAVES
        self.requires_grad_(False)

    @cached_property
    def digest(self) -> str:
        """Digest of the reader's weights: vectors of another reader are not compatible."""
        return weight_digest(self.state_dict())

    @torch.no_grad()
    def forward(self, pixels: Tensor) -> list[Tensor]:  # each [items, width]
        """Read `pixels` [n, height, width, 3], uint8, on any torch device."""
        device = self.sign_table.device
        with torch.autocast(device.type, enabled=False):
            return [self._rows(each.unsqueeze(0).to(device)) for each in pixels]

    def _rows(self, pixels: Tensor) -> Tensor:  # [items, width]
        read: ReadScreen = self.screen_reader(pixels, self.sign_table)
        place = waves((read.columns * ACROSS + ACROSS / 2) / CELL, read.rows.float() + 0.5)
        certainty = read.certainty.unsqueeze(-1)
        rows = torch.cat((read.letters.flatten(2), read.features, certainty, place), dim=-1)[0]
        surest = read.certainty[0].sort(descending=True, stable=True).indices[:ITEMS]
        return rows[surest.sort().values]
