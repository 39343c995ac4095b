"""A thread for each device that plays at once; whatever breaks in one reaches whoever waits for it.

An error that a thread does not expect is a mistake of ours: it is kept, the owner is told, and
`raise_failure` raises it where it can be seen. Nothing is swallowed. The threads are daemons: one
that hangs in a device for ever does not keep the process from ending.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class DeviceThreads:
    """Runs `work` in so many threads, and calls `on_end` as each of them ends."""

    def __init__(
        self, name: str, count: int, work: Callable[[], None], on_end: Callable[[], None]
    ) -> None:
        self._work = work
        self._on_end = on_end
        self._failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}/device-{number}", daemon=True)
            for number in range(count)
        ]
        self._running = count
        self._lock = threading.Lock()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    @property
    def working(self) -> bool:
        """Does any thread still work, and did none break?"""
        return self._running > 0 and not self._failures

    def join(self, seconds: float) -> tuple[str, ...]:
        """Wait for all to end, so long at most; the names of those that have not."""
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        return tuple(thread.name for thread in self._threads if thread.is_alive())

    def raise_failure(self) -> None:
        """Raise what broke first, if anything did."""
        if self._failures:
            first, *others = self._failures
            for other in others[:3]:
                first.add_note(f"another device's thread failed, too: {other!r}")
            raise first

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 — raise_failure raises it in the owner's thread
            self._failures.append(error)
        finally:
            with self._lock:
                self._running -= 1
            self._on_end()
