"""How long a device has been at work since its reset, and whether it has failed.

After a failure only a reset helps, and everything else says so again. One of these stands behind
every device that waits for something real.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from distrl.errors import DeviceError, DeviceNotReady


class DeviceWork:
    """From one reset to the next: `begin`, `ready` once it went well, then work and checks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready = False
        self.failure: DeviceError | None = None
        self.seconds = 0.0

    def begin(self) -> None:
        self.end()
        self.seconds = 0.0

    def end(self) -> None:
        """Closed: it needs a reset, and nothing has failed."""
        self.ready, self.failure = False, None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Stops the time, and remembers a failure."""
        begun = time.perf_counter()
        try:
            yield
        except DeviceError as error:
            self.failure = error
            raise
        finally:
            self.seconds += time.perf_counter() - begun

    def check(self) -> None:
        """It may go on: reset, and not failed since."""
        if self.failure is not None:
            raise type(self.failure)(f"{self.failure} (it has failed and was not reset since)")
        if not self.ready:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
