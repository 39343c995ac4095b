"""Daemon threads whose exceptions are raised by their owner instead of being lost.

An exception in a thread is a bug in DistRL: it is stored, `on_end` is called, and `raise_failure`
raises it in the owner's thread. Collectors use it for one thread per device, the engine for its
service threads. The threads are daemons, so that a thread blocked in a device for ever does not
keep the process from exiting.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class WatchedThreads:
    """Run `work` in `count` threads, and call `on_end` in each of them as it ends."""

    def __init__(
        self, name: str, work: Callable[[], None], on_end: Callable[[], None], count: int = 1
    ) -> None:
        self._work = work
        self._on_end = on_end
        self._failures: list[BaseException] = []  # in the order they were raised
        names = [name] if count == 1 else [f"{name}-{number}" for number in range(count)]
        self._threads = [
            threading.Thread(target=self._run, name=each, daemon=True) for each in names
        ]
        self._name = name
        self._running = count
        self._replaced: set[int] = set()  # idents of threads that were replaced
        self._lock = threading.Lock()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def replace(self, ident: int) -> None:
        """Start a new thread in place of a hanging one, which no longer counts as running."""
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._run, name=name, daemon=True)
        with self._lock:
            self._replaced.add(ident)
            self._threads.append(thread)
        thread.start()

    @property
    def working(self) -> bool:
        """Whether at least one thread is still running and none has failed."""
        return self._running > 0 and not self._failures

    @property
    def alive(self) -> tuple[str, ...]:
        """The names of the threads that have not ended."""
        return tuple(thread.name for thread in self._threads if thread.is_alive())

    def join(self, seconds: float) -> bool:
        """Wait at most `seconds` for all threads; return whether all have ended."""
        until = time.monotonic() + seconds
        for thread in self._threads:
            if thread.ident is not None:  # it was started
                thread.join(max(0.0, until - time.monotonic()))
        return not self.alive

    def raise_failure(self) -> None:
        """Raise the first failure, if any, with a note for each of the next three."""
        if self._failures:
            first, *others = self._failures
            for other in others[:3]:
                first.add_note(f"another thread failed, too: {other!r}")
            raise first

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 — raise_failure raises it in the owner's thread
            self._failures.append(error)
        finally:
            with self._lock:
                self._running -= threading.get_ident() not in self._replaced
            self._on_end()
