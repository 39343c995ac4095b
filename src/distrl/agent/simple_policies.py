"""Baseline policies: one constant action, random actions, and a policy with blanked input."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from distrl import records as r
from distrl.agent.policy import Policy, reads_elements


@dataclass(frozen=True, slots=True)
class ConstantPolicy:
    """Takes the same action for every observation."""

    action: r.Action

    def decide(self, observations: Sequence[r.Observation]) -> list[r.Decision]:
        return [r.Decision(self.action)] * len(observations)


KEYS: dict[str, r.Action] = {
    "back": r.Back(), "home": r.Home(), "enter": r.Enter(), "wait": r.Wait(),
}  # fmt: skip


class MonkeyPolicy:
    """Takes random actions: mostly taps, some swipes, keys and texts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"monkey/{seed}")

    def decide(self, observations: Sequence[r.Observation]) -> list[r.Decision]:
        return [r.Decision(self.act()) for _ in observations]

    def act(self) -> r.Action:
        draw = self._random
        kind = draw.choices(
            ("tap", "swipe", "hold", "type", "back", "home", "enter", "wait"),
            (70, 14, 4, 4, 4, 1, 2, 1),
        )[0]
        match kind:
            case "tap":
                return r.Tap(draw.random(), draw.random())
            case "swipe":
                seconds = draw.uniform(0.1, 1.0)
                points = (draw.random(), draw.random(), draw.random(), draw.random())
                return r.Swipe(*points, seconds)
            case "hold":
                return r.LongPress(draw.random(), draw.random())
            case "type":
                return r.TypeText("".join(draw.choices(string.ascii_lowercase + " ", k=6)))
            case _:
                return KEYS[kind]


Blank = Literal["screen", "instruction"]
BLANKS: tuple[Blank, ...] = ("screen", "instruction")


@dataclass(frozen=True, slots=True)
class BlankedPolicy:
    """Runs another policy on black screens or without the instruction, to measure what it uses.

    A model that uses both inputs gets worse without either; one that ignores them does not.
    """

    policy: Policy
    blank: Blank

    @property
    def reads_elements(self) -> bool:
        return reads_elements(self.policy)

    def decide(self, observations: Sequence[r.Observation]) -> list[r.Decision]:
        return self.policy.decide([self._blanked(observation) for observation in observations])

    def _blanked(self, observation: r.Observation) -> r.Observation:
        if self.blank == "instruction":
            return replace(observation, instruction="")
        return blank_screens(observation)


def blank_screens(observation: r.Observation) -> r.Observation:
    """Return the observation with black screens and without elements."""
    past = tuple(_black(screen) for screen in observation.past_screens)
    screen = _black(observation.screen)
    return replace(observation, screen=screen, past_screens=past, elements=(), touched=())


def _black(screen: r.Screen) -> r.Screen:
    return r.Screen(np.zeros_like(screen.pixels))
