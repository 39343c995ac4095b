"""Divides the room for episodes in flight among the environments of a run, by their devices.

The bound on staleness says how many episodes may be in flight (`Pace.rooms`). Without shares, a
fast environment would take every place as soon as it is free, and a slow one, whose collector
learns of it later, would never start: nothing would be learned there. Each gets a share in
proportion to its devices, and at least one place while there is any. Since shares are rounded up,
together they may exceed the bound by less than one episode for each environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.messages import Pace


@dataclass(frozen=True, slots=True)
class RoomShares:
    """The shares of one run; without environments, all collectors share the whole room."""

    environments: Mapping[int, str] = field(default_factory=dict)  # of collectors, by number
    devices: Mapping[str, int] = field(default_factory=dict)  # by environment

    @classmethod
    def of(cls, config: TrainingConfig) -> Self:
        if not config.environments:
            return cls()
        numbers = range(config.collector_count)
        return cls(
            {number: config.of_collector(number)[0].environment for number in numbers},
            {name: each.devices.count for name, each in config.by_environment().items()},
        )

    def pace_of(self, number: int, pace: Pace, others: Mapping[int, int], waiting: int) -> Pace:
        """Return the pace for one collector. `others`: episodes in flight at each of the others;
        `waiting`: trajectories that the learner has yet to take.

        Joined collectors, whose environment is not known here, use the whole room.
        """
        own = self.environments.get(number)
        if own is None:
            return replace(pace, elsewhere=waiting + sum(others.values()))
        near = sum(n for at, n in others.items() if self.environments.get(at) == own)
        joined = sum(n for at, n in others.items() if at not in self.environments)
        return replace(
            pace,
            rooms=tuple(self._part(own, room + 1) - 1 for room in pace.rooms),
            elsewhere=near + self._part(own, waiting + joined),
        )

    def _part(self, environment: str, count: int) -> int:
        """Return the environment's share of a count, rounded up."""
        return -(-count * self.devices[environment] // sum(self.devices.values()))
