"""Device time: virtual, scaled or real, behind one small protocol.

A simulated device never reads the time of day: it asks its clock to let some seconds pass, and is
told how many did. On a virtual clock that is exactly what was asked and costs nothing; on a scaled
one it is measured, so that a machine that cannot keep up shows it. Each device has its own clock.
"""

from __future__ import annotations

import math
import time
from typing import Protocol

from distrl.errors import InvalidSetting


class Clock(Protocol):
    """Time as a device lives through it."""

    @property
    def blocking(self) -> bool:
        """Whether `sleep` waits."""
        ...

    @property
    def now(self) -> float:
        """Device seconds since the clock was made."""
        ...

    def sleep(self, seconds: float) -> float:
        """Let device time pass; the seconds that really did come back."""
        ...


class VirtualClock:
    """Time that is only accounted: an hour passes at once."""

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
    """Time that runs `speed` times as fast as real time, and is measured."""

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
    """Real time."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(1.0)


def _check_seconds(seconds: float) -> None:
    if not (seconds >= 0.0 and math.isfinite(seconds)):
        raise ValueError(f"a clock cannot sleep for {seconds!r} seconds")
