"""The starter's screen reader for other models: the surest items of a screen, as rows of numbers.

An item is a word, an icon or a control. Its row says how it is spelled, what it looks like, how
sure the reader is that something begins there, and where that is. The reader's weights stay as they
are, in float32 whatever the other model is in, and screens are read one at a time: which of two
items comes first can depend on rounding, and rounding on the batch.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor, nn

from distrl.agent.starter.model import CELL, WAVES, Encoder, waves
from distrl.agent.starter.screen_reader import ACROSS, ReadScreen, ScreenReader
from distrl.agent.weight_digest import weight_digest

ITEMS = 64  # of a screen, at most; in reading order


class ItemReader(nn.Module):
    """From pixels to rows of numbers. `width` is how many each row has."""

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
        """Of the reader's weights: rows of another reader mean something else."""
        return weight_digest(self.state_dict())

    @torch.no_grad()
    def forward(self, pixels: Tensor) -> list[Tensor]:  # each [items, width]
        """`pixels` [n, height, width, 3] uint8, anywhere."""
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
