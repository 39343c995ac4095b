"""The losses of imitation.

`action`: minus the log-probability of the demonstrated answer. If a tap on any of several places is
right, their probabilities are summed: −log Σ p(place). `ink`, `starts`, `signs`: is there ink at
this place of the screen, does an item begin here, which sign is it. These train the screen reader
directly: a reader trained only through the action loss never begins to read (docs/log.md). They
are 0 for a model whose encoder is frozen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.screen_reader import Opinions

MAX_SIGNS = 640  # per screen; one in a few hundred has more, and the rest are ignored
PLACE_AT = 1  # index of the place in the answer to tap or hold: <tap><12,34><end>


@dataclass(frozen=True, slots=True)
class ImitationLosses:
    """Differentiable losses, each a mean over the batch; and two measures of accuracy."""

    action: Tensor
    ink: Tensor
    starts: Tensor
    signs: Tensor
    right_actions: Tensor  # [n], bool: every token of the answer, or an equal place
    right_signs: Tensor

    @property
    def total(self) -> Tensor:
        return self.action + self.ink + self.starts + self.signs


def imitation_losses(model: StarterModel, batch: dict[str, Tensor]) -> ImitationLosses:
    """Compute the losses. All shapes depend only on the batch size, for use in a CUDA graph."""
    prompt, answer = batch["prompt"].long(), batch["answer"].long()
    opinions: Opinions | None = None
    if any(parameter.requires_grad for parameter in model.encoder.parameters()):
        encoded, screen = model.encoder.read(prompt, batch["pixels"])
        opinions = screen.opinions
    else:
        encoded = model.encoder(prompt, pixel_values=batch["pixels"])
    begun = functional.pad(answer[:, :-1], (1, 0), value=int(model.config.decoder_start_token_id))
    logits: Any = model.decode(encoded, begun).logits
    log_probs: Tensor = logits.float().log_softmax(-1)
    cells = unpack_bits(batch["cells"])
    mask = answer != model.config.pad_token_id
    surprise, right = answer_surprise(log_probs, answer, mask, cells, model.config.first_place)
    action = (surprise * mask).sum(1).mean()
    if opinions is None:
        nothing = torch.zeros_like(action)
        return ImitationLosses(action, nothing, nothing, nothing, right, nothing)
    ink, starts, signs, right_signs = _reading(model, opinions, batch["signs"].flatten(1).long())
    return ImitationLosses(action, ink, starts, signs, right, right_signs)


def unpack_bits(packed: Tensor) -> Tensor:
    """Unpack bytes [n, k] to bool [n, 8 · k], the highest bit first, as numpy packs them."""
    shifts = torch.arange(7, -1, -1, device=packed.device)
    return ((packed.unsqueeze(-1) >> shifts) & 1).flatten(1).bool()


def answer_surprise(
    log_probs: Tensor, answer: Tensor, mask: Tensor, cells: Tensor, first_place: int
) -> tuple[Tensor, Tensor]:
    """Return −log p of every token, with p summed over equally right places, and whether the most
    likely answer is right.
    """
    surprise = -log_probs.gather(-1, answer.unsqueeze(-1)).squeeze(-1)
    best = log_probs.argmax(-1)
    right = (best == answer) | ~mask
    several = cells.any(1)
    on_places = log_probs[:, PLACE_AT, first_place:].masked_fill(~cells, -torch.inf)
    together = -on_places.where(several.unsqueeze(1), 0.0).logsumexp(-1)
    place = torch.where(several, together, surprise[:, PLACE_AT])
    chosen = (best[:, PLACE_AT] - first_place).clamp(min=0)
    hit = cells.gather(1, chosen.unsqueeze(1)).squeeze(1) & (best[:, PLACE_AT] >= first_place)
    right_place = torch.where(several, hit, right[:, PLACE_AT])
    columns = torch.arange(answer.shape[1], device=answer.device) == PLACE_AT
    surprise = torch.where(columns, place.unsqueeze(1), surprise)
    right = torch.where(columns, right_place.unsqueeze(1), right)
    return surprise, right.all(1)


def _reading(
    model: StarterModel, screen: Opinions, signs: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    there, begins = signs != 0, signs < 0
    ink = functional.binary_cross_entropy_with_logits(
        screen.ink_logits, there.float(), reduction="sum"
    )
    starts = functional.binary_cross_entropy_with_logits(
        screen.start_logits, begins.float(), reduction="sum"
    )
    spots = there.float().topk(MAX_SIGNS, dim=1).indices
    which = signs.abs().gather(1, spots)  # 0 where there are fewer
    reader = model.encoder.screen_reader
    width = screen.places.shape[-1]
    logits = reader.sign_logits(screen.places.gather(1, spots.unsqueeze(-1).expand(-1, -1, width)))
    count = (which > 0).sum().clamp(min=1)
    wrong = functional.cross_entropy(
        logits.flatten(0, 1), which.flatten(), ignore_index=0, reduction="sum"
    )
    right = ((logits.argmax(-1) == which) & (which > 0)).sum() / count
    ink = ink / there.sum().clamp(min=1)
    return ink, starts / begins.sum().clamp(min=1), wrong / count, right
