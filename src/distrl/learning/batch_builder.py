"""Builds batches from replay draws; caches what is costly to compute about a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.learning.batch import Batch, EarnedRewards, batch_of_draws, continuations_of
from distrl.learning.matched_screens import MatchedScreens
from distrl.learning.targets.rewards import RewardSettings
from distrl.replay.buffer.entries import Draw, Entry

SCREENS = 64  # cached screen digests for each trajectory of the replay


@dataclass(frozen=True, slots=True)
class ReadyBatch:
    """Draws, and the batch that was built from them."""

    draws: list[Draw]
    batch: Batch


class BatchBuilder:
    """Builds batches with the rewards of `settings` from a replay of `capacity` trajectories.

    Adds measured continuations where other trajectories continued from a step (forks), and where
    `Draw.attempts` showed the same screen. Where a step has both, the fork is used. Thread-safe.
    """

    def __init__(self, settings: RewardSettings, capacity: int) -> None:
        self._earned = EarnedRewards(settings, capacity)
        self._matched = MatchedScreens(settings.status_bar, SCREENS * capacity)

    def ready(self, draws: list[Draw]) -> ReadyBatch:
        """Build a batch to train on."""
        measured = [*self._matched.continuations(draws), *continuations_of(draws)]
        at_step = {(each.row, each.column): each for each in measured}
        return ReadyBatch(
            draws, batch_of_draws(draws, self._earned.of(draws), list(at_step.values()))
        )

    def rescored(self, entries: Sequence[Entry]) -> Batch:
        """Build a batch that is only scored."""
        return batch_of_draws(entries, self._earned.of(entries))

    def forget(self) -> None:
        """Clear the cached rewards; needed when the replay was filled anew."""
        self._earned.forget()
