"""What the starter's critic could read at each step, with the outcome of the episode, on disk.

The starter plays templates of each family on the simulated phone. There are few templates, so that
each comes several times, as in training. Collections alternate between demonstrated templates and
undemonstrated ones, on which it is trained by reward. Kept for every step: the state that the
critic reads today, the encoder's states pooled over the screen and over the words of the prompt,
the instruction, and the step number. The encodings are those of the decisions, so no screen is
encoded twice.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.agent.architectures.encoder_decoder import EncoderDecoder
from distrl.agent.critic import bag_of_words
from distrl.agent.loading import open_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.episodes.evaluation import evaluation_tasks, play
from distrl.records import CORE_FAMILIES, Decision, Observation, Split, Trajectory
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import template_names

Floats = NDArray[np.float32]
PHONES = 16
TEMPLATES = 12  # of each family and split
SPLITS: tuple[Split, ...] = ("train", "undemonstrated")
WORD_SLOTS = 512  # hash slots for the words of instructions


@dataclass(frozen=True, slots=True)
class CriticData:
    """N steps of some trajectories, in any order."""

    trajectory: NDArray[np.int64]  # [N]
    template: NDArray[np.str_]  # [N]
    step: Floats  # [N], from 0
    limit: Floats  # step limit of the task
    success: Floats  # 1 if the trajectory succeeded
    state: Floats  # [N, width]: of the decoder, before its first word
    screen: Floats  # mean and maximum over the items on the screen
    prompt: Floats  # the same over the words of the prompt
    words: Floats  # bag of words of the instruction

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **{name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def load(cls, path: Path) -> CriticData:
        with np.load(path, allow_pickle=False) as kept:
            return cls(**{name: kept[name] for name in cls.__slots__})


class _Reading:
    """A policy that keeps, for every observation, what a critic could read."""

    def __init__(self, policy: VlmPolicy) -> None:
        self._policy = policy
        self._latest: tuple[Tensor, ...] = ()
        self._read: dict[str, tuple[Floats, Floats, Floats]] = {}  # by screen and prompt
        policy.share = self._take

    def _take(self, prompts: Sequence[object], encoded: tuple[Tensor, ...]) -> None:
        self._latest = encoded

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        decisions = self._policy.decide(observations)
        architecture = self._policy.architecture
        assert isinstance(architecture, EncoderDecoder)
        nothing = torch.zeros((len(observations), 0), dtype=torch.long)
        with torch.inference_mode():
            states = architecture.forward_encoded(self._latest, nothing).prompt_states
            hidden, mask, _, cells = self._latest
            items = cells.shape[1]
            on_screen = _pooled(hidden[:, :items], mask[:, :items])
            in_words = _pooled(hidden[:, items:], mask[:, items:])
        for row, observation in enumerate(observations):
            read = (states[row].numpy(), on_screen[row].numpy(), in_words[row].numpy())
            self._read[_key(observation)] = read
        return decisions

    def of(self, observation: Observation) -> tuple[Floats, Floats, Floats]:
        return self._read[_key(observation)]


def _key(observation: Observation) -> str:
    return f"{observation.instruction}/{len(observation.past_actions)}/{observation.screen.address}"


def _pooled(states: Tensor, mask: Tensor) -> Tensor:  # [n, k, width], [n, k] -> [n, 2·width]
    real = mask.unsqueeze(-1)
    mean = (states * real).sum(1) / real.sum(1).clamp(min=1)
    return torch.cat([mean, states.masked_fill(~real, -1e4).amax(1)], 1)


def collect(trajectories: int, seed: int = 0) -> CriticData:
    """Play and return what a critic could have read; the seed also selects the split."""
    split = SPLITS[seed % len(SPLITS)]
    reading = _Reading(open_policy("starter", VlmSettings(device="cpu")))
    phones = [SimulatedDevice(f"critic-{number}") for number in range(PHONES)]
    tasks = islice(evaluation_tasks(split, only=chosen_templates(split), seed=seed), trajectories)
    rows: list[dict[str, object]] = []
    for number, each in enumerate(play(tasks, lambda *_: reading, phones)):
        rows += _rows(number, each, reading)
    return CriticData(**{name: _column(rows, name) for name in CriticData.__slots__})


def chosen_templates(split: Split) -> list[str]:
    """Return a fixed random sample of the split's templates, the same in every collection."""
    rng = random.Random("critic_data")
    names = [template_names(split, family) for family in CORE_FAMILIES]
    return [name for each in names for name in rng.sample(each, min(TEMPLATES, len(each)))]


def _rows(number: int, trajectory: Trajectory, reading: _Reading) -> Iterator[dict[str, object]]:
    task = trajectory.task
    for step in range(len(trajectory.decisions)):
        *past, screen = trajectory.screens[: step + 1]
        done = tuple(decision.action for decision in trajectory.decisions[:step])
        seen = Observation(task.instruction, screen, done, tuple(past))
        state, on_screen, in_words = reading.of(seen)
        yield {
            "trajectory": number,
            "template": task.template,
            "step": np.float32(step),
            "limit": np.float32(task.step_limit),
            "success": np.float32(trajectory.success),
            "state": state,
            "screen": on_screen,
            "prompt": in_words,
            "words": bag_of_words(task.instruction, WORD_SLOTS),
        }


def _column(rows: Sequence[dict[str, object]], name: str) -> Any:
    return np.array([row[name] for row in rows])


def joined(parts: Sequence[CriticData]) -> CriticData:
    """Concatenate collections; trajectory numbers are shifted to stay unique."""
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in CriticData.__slots__
    }
    counts = np.cumsum([0, *(1 + int(part.trajectory.max()) for part in parts[:-1])])
    lengths = [len(part.trajectory) for part in parts]
    columns["trajectory"] = columns["trajectory"] + np.repeat(counts, lengths)
    return CriticData(**columns)
