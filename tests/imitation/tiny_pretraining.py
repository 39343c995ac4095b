"""Pretraining for tests: a very small model that learns on a CPU, and settings to match."""

from __future__ import annotations

from distrl.agent.starter.building import new_model
from distrl.agent.starter.model import StarterModel
from distrl.imitation.imitation import ImitationSettings
from phonesim.drawing.icons import ICONS

SIZES = {
    "width": 32,
    "heads": 2,
    "reader_width": 16,
    "reader_layers": 1,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "max_words": 24,
    "max_items": 48,
    "max_ink": 192,
}
SMALL = ImitationSettings(
    steps=3,
    batch=4,
    learning_rate=1e-2,
    warm_up=2,
    reservoir=64,
    fill=4,
    processes=1,
    validation_set=4,
    validate_every=2,
    seed=1,
)


def new_pupil(seed: int) -> StarterModel:
    return new_model(ICONS, seed, **SIZES)
