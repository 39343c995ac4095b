"""What every agent can do: look at the screens of some phones and decide what to do on each.

Decisions are made for many devices at once, so that a model can batch them. A policy keeps no
memory of an episode: all that it may use stands in the observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.records import Decision, Observation


class Policy(Protocol):
    """Decides for a batch of observations; the answers come in the same order."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]: ...
