"""The protocol of every policy: decide the next action for each of a batch of observations.

A policy keeps no state of an episode: everything it may use is in the observation. Optional parts
of the protocol: an attribute `reads_elements`, True if the policy reads the view hierarchy (reading
it takes a phone as long as a picture, or longer, so it is skipped for other policies); an attribute
`notice`, the reason if the policy is slower than it could be; a method `expect`, to prefetch the
inputs for an observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.records import Decision, Observation


class Policy(Protocol):
    """Decides for a batch of observations; the answers come in the same order."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]: ...


def reads_elements(policy: Policy) -> bool:
    """Return whether the policy uses the elements of observations."""
    return bool(getattr(policy, "reads_elements", False))


def expect(policy: Policy, observation: Observation) -> None:
    """Announce an observation to be decided soon. Thread-safe; it does not affect decisions."""
    if (begin := getattr(policy, "expect", None)) is not None:
        begin(observation)


def notice(policy: Policy) -> str:
    """Return, for the user, why the policy is slower than it could be; "" if nothing is known."""
    return str(getattr(policy, "notice", ""))
