"""Whether a device may be used: the part of the `Device` contract that real devices share.

It counts device time since the last reset began, and remembers a failure: from then on every use
raises it again, and only a reset helps. `AndroidDevice` and `BrowserDevice` keep one each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from distrl.errors import DeviceError, DeviceNotReady


@dataclass(slots=True)
class OperatingState:
    """Of the device with that name. `ready`: it was reset, or attached to, and not closed since."""

    name: str
    seconds: float = 0.0
    ready: bool = False
    failure: DeviceError | None = None

    def begin_reset(self) -> None:
        """Not ready, no failure, and no time spent."""
        self.seconds, self.ready, self.failure = 0.0, False, None

    def close(self) -> None:
        """Forget the failure; the time spent stays to be read."""
        self.ready, self.failure = False, None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count the time, and remember a failure."""
        begun = time.perf_counter()
        try:
            yield
        except DeviceError as error:
            self.failure = error
            raise
        finally:
            self.seconds += time.perf_counter() - begun

    def check(self) -> None:
        """Raise unless the device was reset and has not failed since."""
        if self.failure is not None:
            raise type(self.failure)(f"{self.failure} (it has failed and was not reset since)")
        if not self.ready:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
