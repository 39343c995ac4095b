"""Starter models: new ones with random weights, the one shipped with DistRL, and their family."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForImageTextToText

from distrl.agent.families.model_family import ModelFamily
from distrl.agent.starter.configuration import StarterConfig
from distrl.agent.starter.inputs import PAST_ACTIONS, starter_inputs
from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.vocabulary import CHARACTERS, signs, tokens
from distrl.errors import NotAModel

SHIPPED = Path(__file__).parent / "weights"


def new_config(icons: Iterable[str], **sizes: Any) -> StarterConfig:
    """Return a config with our vocabulary, signs for these icons, and the given sizes."""
    numbers = {token: number for number, token in enumerate(tokens())}
    return StarterConfig(
        signs=list(signs(tuple(sorted(icons)))),
        first_character=numbers[CHARACTERS[0]],
        characters=CHARACTERS,
        first_place=numbers["<0,0>"],
        vocab_size=len(numbers),
        **sizes,
    )


def new_model(icons: Iterable[str], seed: int, **sizes: Any) -> StarterModel:
    """Build a model with random weights; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return StarterModel(new_config(icons, **sizes))


def shipped_directory(directory: Path = SHIPPED) -> Path:
    """Return the directory of the shipped starter model; raise `NotAModel` if it is missing."""
    if not directory.is_dir():
        raise NotAModel(
            "the starter model is not in this installation; install DistRL from a release or a "
            "whole clone, or train it with `distrl imitate`"
        )
    return directory


def register() -> None:
    """Register the model with transformers' Auto classes; calling this twice is harmless."""
    AutoConfig.register(StarterConfig.model_type, StarterConfig, exist_ok=True)
    AutoModelForImageTextToText.register(StarterConfig, StarterModel, exist_ok=True)


STARTER_FAMILY = ModelFamily(
    "our starter",
    ("distrl_starter",),
    "compact",
    r".*layers\.\d+\..*\.(q_proj|k_proj|v_proj|o_proj|up_proj|down_proj)",
    starter_inputs,
    register,
    past_actions=PAST_ACTIONS,
    frozen=r"encoder\..*",  # it already reads screens well; training changes the decoder
    sees=("screen",),
)
