"""A `Device` that measures how many real seconds another one spends on resets and on actions.

`Device.seconds` is the device time of one episode, by the device's own clock (simulated phones have
a virtual one); this is wall time since the start, which says whether the device was kept busy.
Another thread may read it at any time; a call in progress counts up to now.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Literal, Self, TypeVar

from distrl.devices.device import Device
from distrl.hierarchy import Element
from distrl.records import Action, Screen

D = TypeVar("D", bound=Device)
Work = Literal["reset", "act"]
WORKS: tuple[Work, ...] = ("reset", "act")


class MeasuredDevice(Generic[D]):
    """Implements `Device` by another one, and times its calls by `clock`."""

    def __init__(self, device: D, clock: Callable[[], float] = time.perf_counter) -> None:
        self.device = device
        self._clock = clock
        self._spent: dict[Work, float] = dict.fromkeys(WORKS, 0.0)
        self._under_way: tuple[Work, float] | None = None

    def spent(self) -> dict[Work, float]:
        """Seconds so far, by kind of work."""
        spent, under_way = dict(self._spent), self._under_way
        if under_way is not None:
            work, begun = under_way
            spent[work] += self._clock() - begun
        return spent

    @contextmanager
    def _at(self, work: Work) -> Iterator[None]:
        begun = self._clock()
        self._under_way = work, begun
        try:
            yield
        finally:
            self._under_way = None
            self._spent[work] += self._clock() - begun

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def seconds(self) -> float:
        return self.device.seconds

    def reset(self, seed: int) -> None:
        with self._at("reset"):
            self.device.reset(seed)

    def screen(self) -> Screen:
        with self._at("act"):
            return self.device.screen()

    def perform(self, action: Action) -> Screen:
        with self._at("act"):
            return self.device.perform(action)

    def elements(self) -> tuple[Element, ...]:
        with self._at("act"):
            return self.device.elements()

    def close(self) -> None:
        self.device.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
