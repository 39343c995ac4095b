"""Rate limiter between learner and collectors: keeps the ratio of draws to inserts.

Counted in trajectories since the start:

    owed = samples_per_insert · (inserted − minimum_fill) − sampled

is the number of draws that the inserts so far have paid for and that are still to be made. The
learner may sample n once the replay has been filled, unless it is too far ahead. Collectors may
insert n while the replay is filling, and later unless the learner is too far behind:

    may_sample(n)   inserted ≥ minimum_fill   and   owed − n ≥ −tolerance
    may_insert(n)   inserted < minimum_fill   or   owed + n · samples_per_insert ≤ tolerance

The tolerance is the error buffer of Reverb's SampleToInsertRatio: |owed| stays within it, so that
draws per insert approach `samples_per_insert` however fast either side is. With an infinite
tolerance neither side waits once the replay is filled. The two sides would deadlock if
2 · tolerance < samples at once + inserts at once · samples_per_insert; such a tolerance raises an
error as soon as these numbers are known. The learner calls `may_sample` and `may_insert` first and
`on_sample` and `on_insert` afterwards; nothing here blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, check_bounds
from distrl.errors import CorruptSnapshot, InvalidSetting


class Pacing:
    """Counts draws and inserts, and says which of them may go on."""

    def __init__(
        self, samples_per_insert: float, minimum_fill: int = 1, tolerance: float = math.inf
    ) -> None:
        if not (math.isfinite(samples_per_insert) and samples_per_insert > 0.0):
            raise InvalidSetting(
                f"samples_per_insert={samples_per_insert!r}; give a finite number above 0"
            )
        if minimum_fill < 1:
            raise InvalidSetting(
                f"minimum_fill={minimum_fill!r}; there must be 1 trajectory to draw from"
            )
        self.samples_per_insert = samples_per_insert
        self.minimum_fill = minimum_fill
        self.tolerance = tolerance
        self.inserted = 0
        self.sampled = 0
        self._samples_at_once = 1  # the largest number requested so far
        self._inserts_at_once = 1
        self._admit(samples=1, inserts=1)

    @property
    def owed(self) -> float:
        """Draws that the inserts so far have paid for, minus the draws made."""
        return self.samples_per_insert * (self.inserted - self.minimum_fill) - self.sampled

    @property
    def ratio(self) -> float:
        """Draws made for each insert since the replay was filled; 0 before that."""
        paying = self.inserted - self.minimum_fill
        return self.sampled / paying if paying > 0 else 0.0

    def expected_draws(self) -> tuple[float, float]:
        """Return the draws expected before the next insert, and those for each insert after it.

        The first is below 0 while the replay is filling, or if the learner is ahead. With an
        infinite tolerance no draws are owed: the learner is expected to keep its ratio so far.
        """
        if math.isfinite(self.tolerance):
            return self.owed, self.samples_per_insert
        per_insert = self.ratio or self.samples_per_insert
        return per_insert * min(0, self.inserted - self.minimum_fill), per_insert

    def may_sample(self, n: int = 1) -> bool:
        self._admit(samples=n, inserts=self._inserts_at_once)
        return self.inserted >= self.minimum_fill and self.owed - n >= -self.tolerance

    def may_insert(self, n: int = 1) -> bool:
        self._admit(samples=self._samples_at_once, inserts=n)
        filling = self.inserted < self.minimum_fill
        return filling or self.owed + n * self.samples_per_insert <= self.tolerance

    def on_sample(self, n: int = 1) -> None:
        self.sampled += n

    def on_insert(self, n: int = 1) -> None:
        self.inserted += n

    def state_dict(self) -> dict[str, int]:
        return {"inserted": self.inserted, "sampled": self.sampled}

    def load_state(self, state: dict[str, int]) -> None:
        if set(state) != {"inserted", "sampled"} or min(state.values()) < 0:
            raise CorruptSnapshot(f"{state} is no state of a pacing; it has inserted and sampled")
        self.inserted, self.sampled = state["inserted"], state["sampled"]

    def _admit(self, samples: int, inserts: int) -> None:
        """Raise `InvalidSetting` if the two sides could deadlock.

        Neither can move when tolerance − inserts · ratio < owed < samples − tolerance.
        """
        samples = max(samples, self._samples_at_once)
        inserts = max(inserts, self._inserts_at_once)
        least = (samples + inserts * self.samples_per_insert) / 2
        if not self.tolerance >= least:  # also refuses NaN
            raise InvalidSetting(
                f"tolerance={self.tolerance!r} is too small for {samples} samples and {inserts} "
                f"inserts at once with samples_per_insert={self.samples_per_insert:g}: both sides "
                f"could wait for each other for ever; give {least:g} or more"
            )
        self._samples_at_once, self._inserts_at_once = samples, inserts


@dataclass(frozen=True, slots=True)
class PacingSettings:
    """Settings of `Pacing`; see the module's docstring."""

    samples_per_insert: Annotated[float, Bounds(0.001, 1e6, "draws per trajectory")] = 4.0
    minimum_fill: Annotated[int, Bounds(1, unit="trajectories before the first update")] = 16
    tolerance: Annotated[
        float | None, Bounds(0.5, math.inf, "draws ahead or behind; none: two batches, inf: any")
    ] = None

    def __post_init__(self) -> None:
        check_bounds(self)
        self.new(batch_trajectories=1)

    def new(self, batch_trajectories: int) -> Pacing:
        """Return the pacing of a learner with batches of that size."""
        least = (batch_trajectories + self.samples_per_insert) / 2  # less could deadlock
        tolerance = self.tolerance or max(2.0 * batch_trajectories, least)
        return Pacing(self.samples_per_insert, self.minimum_fill, tolerance)
