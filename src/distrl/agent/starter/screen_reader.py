"""Reads a screen: finds words, icons and controls, and spells them out.

A small convolutional network predicts three things for every place of the screen (10 rows × 3
columns of pixels): is there ink (a letter, an icon, a control), does an item begin here, and which
sign is it. The most likely beginnings become the screen's items, in reading order. A word is then
spelled by going right from its beginning: the n-th ink is its n-th letter, until a space. So any
word can be read, seen in training or not. Features are set to zero where the picture is uniform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from distrl.agent.starter.configuration import StarterConfig

ACROSS, DOWN = 3, 10  # width and height of a place in pixels
MARGIN = 3  # pixels to the left and right of a place that the first convolution covers
FLAT = 12  # brightness levels (of 255): a place that varies less is empty
SPACE = 1  # the sign that ends a word


@dataclass(frozen=True, slots=True)
class Opinions:
    """The reader's features and logits at every place, for the imitation losses."""

    places: Tensor  # [n, rows · columns, reader_width]
    ink_logits: Tensor  # [n, rows · columns]
    start_logits: Tensor  # [n, rows · columns]


@dataclass(frozen=True, slots=True)
class ReadScreen:
    """The items of a batch of screens."""

    rows: Tensor  # [n, items]
    columns: Tensor  # [n, items], in places
    certainty: Tensor  # [n, items]
    letters: Tensor  # [n, items, letters, letter_width]
    features: Tensor  # [n, items, reader_width]
    opinions: Opinions


class ScreenReader(nn.Module):
    """Maps pixels to the items of a screen, with their spellings."""

    def __init__(self, config: StarterConfig) -> None:
        super().__init__()
        width = config.reader_width
        self.config = config
        self.look = nn.Conv2d(
            3, width, (DOWN, ACROSS + 2 * MARGIN), stride=(DOWN, ACROSS), padding=(0, MARGIN)
        )
        self.layers = nn.ModuleList(
            nn.Conv2d(width, width, 3, padding=1) for _ in range(config.reader_layers)
        )
        self.norm = nn.LayerNorm(width)
        self.marks = nn.Linear(width, 2)  # ink, beginning
        self.signs = nn.Linear(width, len(config.signs) + 1)

    def forward(self, pixels: Tensor, sign_table: Tensor) -> ReadScreen:
        """`pixels` [n, height, width, 3] uint8; `sign_table` [signs + 1, letter_width]."""
        places, columns = self.see(pixels)
        marks = self.marks(places).float()
        ink, starts = marks[..., 0], marks[..., 1]
        with torch.no_grad():
            items = _highest(starts, self.config.max_items).sort(dim=1).values
            inky, probabilities = self._spell(places, ink)
        letters = self._letters(items, ink.detach(), inky, probabilities, columns, sign_table)
        features = self.norm(_at(places, items))
        return ReadScreen(
            rows=items // columns,
            columns=items % columns,
            certainty=starts.detach().gather(1, items).sigmoid(),
            letters=letters,
            features=features,
            opinions=Opinions(places, ink, starts),
        )

    def see(self, pixels: Tensor) -> tuple[Tensor, int]:
        """Return features of all places [n, rows · columns, reader_width] and the column count."""
        lively = lively_places(pixels).unsqueeze(1)
        picture = pixels.permute(0, 3, 1, 2).to(self.look.weight.dtype) / 127.5 - 1.0
        # With TF32, cuDNN uses one algorithm for every batch size. Without it, some sizes use an
        # FFT and others do not, and log-probabilities from sampling and from scoring differed by
        # 0.09 on an H200; with TF32 by 1e-5, in a third of the time.
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=True):
            seen = functional.gelu(self.look(picture)) * lively
            for layer in self.layers:
                seen = (seen + functional.gelu(layer(seen))) * lively
        return seen.permute(0, 2, 3, 1).flatten(1, 2), seen.shape[3]

    def _spell(self, places: Tensor, ink: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places with most ink [n, ink] and sign probabilities [n, ink, signs + 1]."""
        inky = _highest(ink, min(self.config.max_ink, ink.shape[1]))
        return inky, self.sign_logits(_at(places, inky)).softmax(-1)

    def sign_logits(self, places: Tensor) -> Tensor:
        """Return the logits of signs at places with these features [..., reader_width]."""
        logits: Tensor = self.signs(self.norm(places)).float()
        return logits

    def _letters(
        self,
        items: Tensor,
        ink: Tensor,
        inky: Tensor,
        probabilities: Tensor,
        columns: int,
        sign_table: Tensor,
    ) -> Tensor:  # [n, items, letters, letter_width]
        """Return the expected letter embeddings of each item: the n-th ink is its n-th letter."""
        letter_width = sign_table.shape[1]
        values = torch.zeros(*ink.shape, letter_width, device=ink.device)
        spots = inky.unsqueeze(-1).expand(-1, -1, letter_width)
        values = values.scatter(1, spots, (probabilities @ sign_table.float()).float())
        spaces = torch.zeros_like(ink).scatter(1, inky, probabilities[..., SPACE])
        steps = torch.arange(self.config.strip, device=items.device)
        strip = items.unsqueeze(-1) + steps  # [n, items, strip]
        inside = (items % columns).unsqueeze(-1) + steps < columns
        strip = strip.clamp(max=ink.shape[1] - 1)
        count, long = items.shape[1], self.config.strip
        flat = strip.flatten(1)
        here = (ink.sigmoid().gather(1, flat)).view(-1, count, long) * inside
        here[..., 0] = 1.0  # an item's beginning counts as ink, whatever its logit
        space = spaces.gather(1, flat).view(-1, count, long) * here
        space[..., 0] = 0.0
        alive = torch.cumprod(1.0 - space, dim=-1)
        number = torch.cumsum(here, dim=-1) - 1.0
        slots = torch.arange(self.config.letters, device=items.device)
        near = (1.0 - (number.unsqueeze(2) - slots.view(1, 1, -1, 1)).abs()).clamp(min=0.0)
        share = near * (here * alive).unsqueeze(2)  # [n, items, letters, strip]
        found = values.gather(1, flat.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
        return share @ found.view(-1, count, long, values.shape[-1])


def _highest(values: Tensor, count: int) -> Tensor:  # [n, count]
    """Return the indices of the highest values; of equal ones the first. All flat places are equal,
    and `topk` on a GPU picks any of them: scoring would read a screen differently from sampling.
    """
    later = torch.arange(values.shape[1], device=values.device, dtype=torch.float64)
    return (values.detach().double() - 1e-9 * later).topk(count, dim=1).indices


def _at(places: Tensor, chosen: Tensor) -> Tensor:  # [n, chosen, width]
    return places.gather(1, chosen.unsqueeze(-1).expand(-1, -1, places.shape[-1]))


def lively_places(pixels: Tensor) -> Tensor:  # [n, rows, columns], bool
    """Return where the picture varies, and places beside such a place (inside a box, say)."""
    count, height, width, _ = pixels.shape
    blocks = pixels.view(count, height // DOWN, DOWN, width // ACROSS, ACROSS, 3)
    high, low = blocks.amax((2, 4)), blocks.amin((2, 4))  # [n, rows, columns, 3]
    for _ in range(MARGIN // ACROSS):
        high, low = _widened(high, torch.maximum), _widened(low, torch.minimum)
    varied = (high - low > FLAT).any(-1)
    reach = functional.max_pool2d(varied.float().unsqueeze(1), (1, 5), 1, (0, 2))
    return reach.squeeze(1) > 0


def _widened(values: Tensor, join: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combine each column with its two neighbours by `join`."""
    wide = values.clone()
    wide[:, :, 1:] = join(wide[:, :, 1:], values[:, :, :-1])
    wide[:, :, :-1] = join(wide[:, :, :-1], values[:, :, 1:])
    return wide
