"""Policies on tiny models of every family, and observations that differ in all that matters."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from tests.agent.tiny_models import BUILDERS, tiny_model

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.model_directory import open_model
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.records import Back, Observation, Screen, Tap, Unreadable

FAMILIES = tuple(BUILDERS)
DECODERS = tuple(family for family in FAMILIES if family != "auto_ui")
SHARP = SamplingSettings(temperature=0.3, max_new_tokens=7)  # far from uniform, far from certain


def tiny_policy(family: str, **settings: Any) -> VlmPolicy:
    chosen = VlmSettings(past_screens=1, sampling=SHARP)
    return vlm_policy(
        open_model(tiny_model(family)), COMPACT, dataclasses.replace(chosen, **settings)
    )


def screen(seed: int, height: int = 210, width: int = 160) -> Screen:
    noise = np.random.default_rng(seed)
    return Screen(noise.integers(0, 255, (height, width, 3), dtype=np.uint8))


def observations() -> list[Observation]:
    """Prompts of three lengths, with one picture and with two, of two sizes."""
    return [
        Observation("Open the clock", screen(1), ()),
        Observation(
            "Add a note called Milk, eggs and more than was said before",
            screen(2),
            (Tap(0.2, 0.3), Unreadable("<|image_pad|>", "no such answer")),
            (screen(3), screen(4)),
        ),
        Observation("Back", screen(5, 180, 180), (Back(),), (screen(6),)),
    ]


def forced_log_probs(policy: VlmPolicy, answers: list[tuple[int, ...]]) -> list[list[float]]:
    """What a model that says these tokens one by one thinks of each as it is said."""
    prompts = [policy.prompter.write(each) for each in observations()]
    said: list[list[float]] = [[] for _ in answers]
    with torch.no_grad():
        decoding = policy.architecture.begin(policy.builder.build(prompts).tensors, len(answers[0]))
        for place in range(len(answers[0])):
            logits = decoding.logits.float() / policy.sampling.temperature
            distribution = torch.log_softmax(logits, dim=-1)
            tokens = torch.tensor([answer[place] for answer in answers])
            for row, token in enumerate(tokens.tolist()):
                said[row].append(float(distribution[row, token]))
            if place + 1 < len(answers[0]):
                decoding.step(tokens)
    return said
