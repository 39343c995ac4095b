"""How old the weights behind an episode may be: refuse to start what would come too late.

    staleness = learner version − version of the weights that acted

It counts published versions and is never below 0: a learner that came back from a checkpoint may
meet trajectories of versions that it has yet to reach again; those are as good as new.

An episode costs minutes, so the decision belongs before it starts. What is in flight (running, or
done and waiting) comes in before an episode that starts now. By then the learner makes so many
draws, and publishes a version for each `draws_per_version` of them:

    to come   = ⌊(draws since the last version + draws due + draws per insert · in flight)
                 / draws per version⌋                         (`Pacing.expected_draws`)
    may_start   staleness now + to come ≤ at_start
    admits      staleness at its end    ≤ at_arrival

Where episodes end in the order of their start, all that was let start is within `at_start` at its
end, give or take the tolerance of the pacing: by that many draws the learner may be ahead of its
pay. The second bound is for what took longer than that; it drops work that was paid for, so it is
the looser one. Collectors ask `may_start`, the learner asks `admits`. Nothing here waits or counts.
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
    """The most versions that a trajectory may be behind; None: any number."""

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
        """May an episode start with these weights, if so many versions come before its end?"""
        expected = staleness(learner_version, weight_version) + to_come
        return self.at_start is None or expected <= self.at_start

    def admits(self, learner_version: int, trajectory_version: int) -> bool:
        """May a trajectory that has arrived be learned from?"""
        late = staleness(learner_version, trajectory_version)
        return self.at_arrival is None or late <= self.at_arrival


def staleness(learner_version: int, trajectory_version: int) -> int:
    """Versions that were published since the trajectory's own; 0 or more."""
    return max(0, learner_version - trajectory_version)


def versions_to_come(
    in_flight: int,
    *,
    draws_due: float,  # before the next insert
    draws_per_insert: float,
    draws_per_version: int,
    draws_since_version: int = 0,  # below 0 where draws are left that count for no version
) -> int:
    """How many versions are published while all that is in flight comes in; 0 or more."""
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
    """The inverse of `versions_to_come`: the most in flight for which no more than that many come.

    Below 0 where none may be: `versions` is below 0, or the draws due already suffice for more.
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
