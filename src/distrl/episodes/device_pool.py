"""The devices of a collector: which are free and healthy, which are quarantined, which are spares.

A device that fails `quarantine_after` times in a row is not used for `quarantine_seconds`. The
first fault after that quarantines it for twice as long, up to a limit; an episode without a fault
resets the count. A spare replaces it meanwhile. If all devices fail, that is not an error here: the
collector waits for the first quarantine to end, and its report says so.

Quarantines use no clock: the caller (`EpisodeScheduler`) passes the time. Not thread-safe.
"""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from distrl.bounds import Bounds, check_bounds
from distrl.devices.device import Device
from distrl.episodes.episode import WORKS, Work
from distrl.episodes.stage_timer import StageTimer
from distrl.errors import InvalidSetting

D = TypeVar("D", bound=Device)


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """When a device is quarantined, and for how long."""

    quarantine_after: Annotated[int, Bounds(1, unit="faults in a row")] = 3
    quarantine_seconds: Annotated[float, Bounds(0.0, 1e9, "seconds; doubled each time")] = 30.0
    max_quarantine_seconds: Annotated[float, Bounds(0.0, 1e9, "seconds")] = 1800.0

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.quarantine_seconds > self.max_quarantine_seconds:
            raise InvalidSetting(
                f"quarantine_seconds={self.quarantine_seconds!r}, max_quarantine_seconds="
                f"{self.max_quarantine_seconds!r}; give finite seconds, the first no longer"
            )


@dataclass(slots=True)
class _Health:
    faults_in_a_row: int = 0
    quarantines_in_a_row: int = 0
    ready_from: float = -math.inf


@dataclass(slots=True)
class _Place(Generic[D]):
    index: int
    device: D
    timer: StageTimer[Work]
    health: _Health = field(default_factory=_Health)


class DevicePool(Generic[D]):
    """`slots` devices that play at once, and spares for those that fail."""

    def __init__(
        self,
        devices: Sequence[D],
        spares: Sequence[D] = (),
        settings: HealthSettings | None = None,
        clock: Callable[[], float] = time.perf_counter,  # measures the devices' work
    ) -> None:
        self.settings = settings or HealthSettings()
        self.slots = len(devices)
        self._places = {
            each.name: _Place(index, each, StageTimer(WORKS, clock))
            for index, each in enumerate((*devices, *spares))
        }
        self._names = list(self._places)
        self._free = list(range(len(self._names)))  # indices that are not in use, in order
        self.quarantines = 0  # since the start
        if not devices or len(self._places) < len(devices) + len(spares):
            names = [each.name for each in (*devices, *spares)]
            raise InvalidSetting(
                f"{len(devices)} devices and {len(spares)} spares called {', '.join(names)}; give "
                "one device or more, each with a name of its own"
            )

    def __len__(self) -> int:
        """The number of devices, spares included."""
        return len(self._places)

    @property
    def devices(self) -> list[D]:
        return [place.device for place in self._places.values()]

    @property
    def blocking(self) -> bool:
        """Whether a device may block, so that each needs a thread."""
        return any(place.device.blocking for place in self._places.values())

    def spent(self) -> dict[str, dict[Work, float]]:
        """Return the seconds at work, by device and kind of work."""
        return {name: place.timer.spent() for name, place in self._places.items()}

    def ready(self, now: float) -> list[str]:
        """Return the names of devices that are free and not quarantined, spares last."""
        free = [self._names[index] for index in self._free]
        return [name for name in free if self._places[name].health.ready_from <= now]

    def take(self, name: str) -> tuple[D, StageTimer[Work]]:
        place = self._places[name]
        self._free.remove(place.index)
        return place.device, place.timer

    def give_back(self, name: str, now: float, *, fault: bool | None) -> None:
        """Return a device to the pool. `fault`: whether it failed; None if that is unknown."""
        place = self._places[name]
        bisect.insort(self._free, place.index)
        if fault:
            self._on_fault(place.health, now)
        elif fault is False:
            place.health = _Health()

    def _on_fault(self, health: _Health, now: float) -> None:
        health.faults_in_a_row += 1
        if health.quarantines_in_a_row or health.faults_in_a_row >= self.settings.quarantine_after:
            seconds = self.settings.quarantine_seconds * 2.0**health.quarantines_in_a_row
            health.ready_from = now + min(seconds, self.settings.max_quarantine_seconds)
            health.quarantines_in_a_row = min(health.quarantines_in_a_row + 1, 64)
            self.quarantines += 1

    def quarantined(self, now: float) -> tuple[str, ...]:
        return tuple(name for name, p in self._places.items() if p.health.ready_from > now)

    def next_release(self, now: float) -> float | None:
        """Return when the first quarantine ends; None if no device is quarantined."""
        return min(
            (self._places[name].health.ready_from for name in self.quarantined(now)), default=None
        )
