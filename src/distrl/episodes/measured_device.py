"""A device whose time is taken: how long it was at work, by what it did.

Seconds are real ones, whatever clock the device lives by: what counts is whether it was kept busy.
Another thread may ask at any time; work under way counts up to now.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Generic, Literal, Self, TypeVar

from distrl.devices.device import Device
from distrl.hierarchy import Element
from distrl.records import Action, Screen

D = TypeVar("D", bound=Device)
Work = Literal["reset", "act"]
WORKS: tuple[Work, ...] = ("reset", "act")


class MeasuredDevice(Generic[D]):
    """Implements `Device` by another one, and stops the time of its work."""

    def __init__(self, device: D) -> None:
        self.device = device
        self._spent: dict[Work, float] = dict.fromkeys(WORKS, 0.0)
        self._under_way: tuple[Work, float] | None = None

    def spent(self) -> dict[Work, float]:
        """Seconds at work so far."""
        spent, under_way = dict(self._spent), self._under_way
        if under_way is not None:
            work, begun = under_way
            spent[work] += time.perf_counter() - begun
        return spent

    @contextmanager
    def _at(self, work: Work) -> Iterator[None]:
        begun = time.perf_counter()
        self._under_way = work, begun
        try:
            yield
        finally:
            self._under_way = None
            self._spent[work] += time.perf_counter() - begun

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
