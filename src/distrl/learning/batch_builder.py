"""Batches of what the replay holds; what is costly to find about a trajectory is found once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.learning.batch import Batch, EarnedRewards, batch_of_draws, continuations_of
from distrl.learning.matched_screens import MatchedScreens
from distrl.learning.targets.rewards import RewardSettings
from distrl.replay.buffer.entries import Draw, Entry

SCREENS = 64  # that are known for each trajectory of the replay


@dataclass(frozen=True, slots=True)
class ReadyBatch:
    """Draws, and the batch that was made of them."""

    draws: list[Draw]
    batch: Batch


class BatchBuilder:
    """Makes batches, with the rewards of `settings`, of a replay of `capacity` trajectories.

    Advantages are measured where others went on from a step, and where `Draw.attempts` came by the
    same screen; a fork goes before a match. Any thread may ask.
    """

    def __init__(self, settings: RewardSettings, capacity: int) -> None:
        self._earned = EarnedRewards(settings, capacity)
        self._matched = MatchedScreens(settings.status_bar, SCREENS * capacity)

    def ready(self, draws: list[Draw]) -> ReadyBatch:
        """A batch to train on."""
        measured = [*self._matched.continuations(draws), *continuations_of(draws)]
        at_step = {(each.row, each.column): each for each in measured}
        return ReadyBatch(
            draws, batch_of_draws(draws, self._earned.of(draws), list(at_step.values()))
        )

    def rescored(self, entries: Sequence[Entry]) -> Batch:
        """A batch to be scored alone."""
        return batch_of_draws(entries, self._earned.of(entries))

    def forget(self) -> None:
        """The replay was filled anew: slots have other trajectories."""
        self._earned.forget()
