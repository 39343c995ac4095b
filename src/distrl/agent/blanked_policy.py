"""A policy with its eyes or its ears shut, to see what it really uses.

A model that reads both the screen and the instruction does badly without either; one that has only
learned habits does not mind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from distrl.agent.policy import Policy
from distrl.records import Decision, Observation, Screen

Blank = Literal["screen", "instruction"]
BLANKS: tuple[Blank, ...] = ("screen", "instruction")


class BlankedPolicy:
    """Lets a policy decide on black screens, or without an instruction."""

    def __init__(self, policy: Policy, blank: Blank) -> None:
        self._policy = policy
        self._blank = blank

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return self._policy.decide([self._blanked(observation) for observation in observations])

    def _blanked(self, observation: Observation) -> Observation:
        if self._blank == "instruction":
            return replace(observation, instruction="")
        past = tuple(_black(screen) for screen in observation.past_screens)
        return replace(observation, screen=_black(observation.screen), past_screens=past)


def _black(screen: Screen) -> Screen:
    return Screen(np.zeros_like(screen.pixels))
