"""The state behind the `Device` contract that all real devices share: ready, failed, device time.

It counts device time since the last reset began. It also remembers a failure: every later use
raises the failure again, until a reset. Each `AndroidDevice` and `BrowserDevice` owns one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from distrl.errors import DeviceError, DeviceNotReady


@dataclass(slots=True)
class OperatingState:
    """The state of the device `name`. `ready`: reset or attached to, and not closed since."""

    name: str
    seconds: float = 0.0
    ready: bool = False
    failure: DeviceError | None = None

    def begin_reset(self) -> None:
        """Set the state to not ready, with no failure and no device time."""
        self.seconds, self.ready, self.failure = 0.0, False, None

    def close(self) -> None:
        """Mark the device as not ready and clear its failure; keep `seconds` readable."""
        self.ready, self.failure = False, None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Add the time in the block to `seconds`, and remember a `DeviceError` that it raises."""
        begun = time.perf_counter()
        try:
            yield
        except DeviceError as error:
            self.failure = error
            raise
        finally:
            self.seconds += time.perf_counter() - begun

    def check(self) -> None:
        """Raise unless the device was reset and has not failed since then."""
        if self.failure is not None:
            raise type(self.failure)(f"{self.failure} (it has failed and was not reset since)")
        if not self.ready:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
