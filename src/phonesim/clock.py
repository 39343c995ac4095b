"""Device time: virtual, scaled or real, behind one small protocol.

A simulated device never reads the time of day: it asks its clock to sleep for some seconds, and is
told how many passed. On a virtual clock that is exactly what it asked for, without waiting; on a
scaled one it is measured, so that a machine that cannot keep up shows it. Each device has its own
clock.
"""

from __future__ import annotations

import math
import time
from typing import Protocol

from distrl.errors import InvalidSetting


class Clock(Protocol):
    """A source of device time."""

    @property
    def blocking(self) -> bool:
        """Whether `sleep` waits."""
        ...

    @property
    def now(self) -> float:
        """Device seconds since the clock was made."""
        ...

    def sleep(self, seconds: float) -> float:
        """Let device time pass, and return the device seconds that really passed."""
        ...


class VirtualClock:
    """Implements `Clock` without waiting: it only adds up the seconds."""

    __slots__ = ("_now",)
    blocking = False

    def __init__(self) -> None:
        self._now = 0.0

    @property
    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> float:
        _check_seconds(seconds)
        self._now += seconds
        return seconds


class ScaledClock:
    """Implements `Clock` by measured time that runs `speed` times as fast as real time."""

    __slots__ = ("_start", "speed")
    blocking = True

    def __init__(self, speed: float) -> None:
        if not (speed > 0.0 and math.isfinite(speed)):
            raise InvalidSetting(
                f"clock speed={speed!r}; give device seconds per real second, more than 0"
            )
        self.speed = speed
        self._start = time.monotonic()

    @property
    def now(self) -> float:
        return (time.monotonic() - self._start) * self.speed

    def sleep(self, seconds: float) -> float:
        _check_seconds(seconds)
        begun = time.monotonic()
        time.sleep(seconds / self.speed)
        return (time.monotonic() - begun) * self.speed


class RealClock(ScaledClock):
    """Implements `Clock` by real time."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(1.0)


def _check_seconds(seconds: float) -> None:
    if not (seconds >= 0.0 and math.isfinite(seconds)):
        raise ValueError(f"a clock cannot sleep for {seconds!r} seconds")
