"""The protocol of every agent: decide the next action on each of a batch of observations.

A policy has no state of an episode: all that it may use is in the observation. One that reads the
view hierarchy says so by an attribute `reads_elements`; to read it takes a phone as long as a
picture, or longer, so it is not read for others. One that is slower than it could be says why by an
attribute `notice`. One that can begin with an observation before it is asked has a method `expect`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.records import Decision, Observation


class Policy(Protocol):
    """Decides for a batch of observations; the answers come in the same order."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]: ...


def reads_elements(policy: Policy) -> bool:
    """Does the policy use the elements of observations?"""
    return bool(getattr(policy, "reads_elements", False))


def expect(policy: Policy, observation: Observation) -> None:
    """Tell it what it will be asked to decide soon. Any thread may; no decision depends on it."""
    if (begin := getattr(policy, "expect", None)) is not None:
        begin(observation)


def notice(policy: Policy) -> str:
    """Why it is slower than it could be, for the user; empty: nothing is known."""
    return str(getattr(policy, "notice", ""))
