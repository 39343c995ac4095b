"""A very small starter model with random weights, and what to show it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from distrl.agent.starter.building import new_model
from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.vocabulary import build_tokenizer

ICONS = ("home", "search")
SIZES = {
    "width": 32,
    "heads": 2,
    "reader_width": 12,
    "reader_layers": 1,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "letters": 6,
    "letter_width": 4,
    "max_words": 14,
    "max_items": 20,
    "max_ink": 90,
    "strip": 24,
}
TOKENIZER = build_tokenizer()


@cache
def tiny_starter() -> StarterModel:
    """Random, but not shy: every weight matters to what comes out."""
    return _lively(new_model(ICONS, seed=3, **SIZES))


def _lively(model: StarterModel) -> StarterModel:
    rng = torch.Generator().manual_seed(4)
    with torch.no_grad():
        reader: Any = model.encoder.screen_reader
        reader.marks.bias.zero_()  # it sees ink and beginnings everywhere
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=rng))
    model.train(False)
    return model


@cache
def starter_directory() -> Path:
    """The same model on disk, as any user's would be."""
    directory = Path(tempfile.mkdtemp(prefix="tiny-starter-"))
    tiny_starter().save_pretrained(directory)
    TOKENIZER.save_pretrained(directory)
    return directory


def screens(count: int, seed: int = 1) -> Tensor:  # [count, 720, 360, 3]
    """Coarse noise, different for every screen."""
    rng = torch.Generator().manual_seed(seed)
    coarse = torch.randint(0, 256, (count, 72, 60, 3), generator=rng, dtype=torch.uint8)
    return coarse.repeat_interleave(10, 1).repeat_interleave(6, 2)


def tokens_of(text: str) -> list[int]:
    ids: list[int] = TOKENIZER.encode(text, add_special_tokens=False)
    return ids


def padded(texts: Sequence[str], width: int | None = None) -> Tensor:  # [n, width]
    rows = [tokens_of(text) for text in texts]
    width = width or max(1, *map(len, rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])
