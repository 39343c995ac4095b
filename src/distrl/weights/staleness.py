"""Limits of staleness: an episode whose trajectory would be too old on arrival is not started.

    staleness = learner version − version of the weights that acted

It counts published versions and is never below 0: a learner that restarted from a checkpoint may
receive trajectories of versions that it has not reached again; they count as fresh.

An episode takes minutes, so the decision is made before it starts. Trajectories in flight (being
played, or finished and queued) arrive before an episode that starts now. The learner draws from the
replay meanwhile, and publishes a version for each `draws_per_version` draws:

    to come   = ⌊(draws since the last version + draws due + draws per insert · in flight)
                 / draws per version⌋                         (`Pacing.expected_draws`)
    may_start   staleness now + to come ≤ at_start
    admits      staleness at its end    ≤ at_arrival

If episodes end in the order of their start, every admitted episode is within `at_start` at its end,
up to the tolerance of `Pacing`: the learner may be ahead by that many draws. `at_arrival` is for
episodes that took longer. It discards finished work, so it is the looser bound. Collectors call
`may_start`, the learner calls `admits`. Nothing here waits or keeps counters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from distrl.bounds import Bounds, check_bounds
from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class StalenessLimit:
    """The maximum staleness of a trajectory, in versions; None: no limit."""

    at_start: Annotated[
        int | None, Bounds(0, unit="versions expected at the end of an episode that starts")
    ] = 8
    at_arrival: Annotated[
        int | None, Bounds(0, unit="versions at the end of an episode; not below at_start")
    ] = 32

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.at_arrival is not None and (
            self.at_start is None or self.at_start > self.at_arrival
        ):
            raise InvalidSetting(
                f"staleness.at_start={self.at_start!r} is above at_arrival={self.at_arrival!r}: "
                "episodes would be started only to be thrown away; lower the first or raise the "
                "second"
            )

    def may_start(self, learner_version: int, weight_version: int, to_come: int) -> bool:
        """Return whether an episode may start if `to_come` versions come before its end."""
        expected = staleness(learner_version, weight_version) + to_come
        return self.at_start is None or expected <= self.at_start

    def admits(self, learner_version: int, trajectory_version: int) -> bool:
        """Return whether a trajectory that has arrived may be trained on."""
        late = staleness(learner_version, trajectory_version)
        return self.at_arrival is None or late <= self.at_arrival


def staleness(learner_version: int, trajectory_version: int) -> int:
    """Return the number of versions published since the trajectory's own; 0 or more."""
    return max(0, learner_version - trajectory_version)


def versions_to_come(
    in_flight: int,
    *,
    draws_due: float,  # before the next insert
    draws_per_insert: float,
    draws_per_version: int,
    draws_since_version: int = 0,  # below 0 during warm-up, whose draws count for no version
) -> int:
    """Return how many versions are published until all trajectories in flight have arrived."""
    draws = draws_since_version + draws_due + draws_per_insert * in_flight
    return max(0, math.floor(draws / draws_per_version))


def max_in_flight(
    versions: int,
    *,
    draws_due: float,
    draws_per_insert: float,
    draws_per_version: int,
    draws_since_version: int = 0,
) -> int:
    """Invert `versions_to_come`: the largest `in_flight` with at most `versions` versions to come.

    Below 0 if there is none: `versions` is below 0, or the draws due alone publish more.
    """
    if versions < 0:
        return -1
    to_come = partial(
        versions_to_come,
        draws_due=draws_due,
        draws_per_insert=draws_per_insert,
        draws_per_version=draws_per_version,
        draws_since_version=draws_since_version,
    )
    draws = (versions + 1) * draws_per_version - draws_since_version - draws_due
    room = max(-1, math.ceil(draws / draws_per_insert) - 1)
    if to_come(room + 1) <= versions:  # the two formulas round differently
        return room + 1
    return room - 1 if room >= 0 and to_come(room) > versions else room
