"""The simulated USB cable between a served phone and the computer, and its faults.

It has the faults of a real cable, so that clients are tested through the real protocol: it stalls
(bytes are accepted and nothing comes back), or it breaks in the middle of an answer. To unplug it,
use `PhoneServer.unplug`.
"""

from __future__ import annotations

import threading


class Cable:
    """The cable of one phone, shared by its connections. Thread-safe."""

    def __init__(self) -> None:
        self._flows = threading.Event()
        self._flows.set()
        self._lock = threading.Lock()
        self._left: int | None = None  # bytes until it breaks

    def stall(self) -> None:
        """From now on accept everything and answer nothing, while the phone stays connected."""
        self._flows.clear()

    def flow(self) -> None:
        """End a stall: let everything through."""
        self._flows.set()

    def break_after(self, count: int) -> None:
        """Let `count` more bytes of the phone's answers through, then hang up, once."""
        with self._lock:
            self._left = count

    def wait_until_it_flows(self) -> None:
        self._flows.wait()

    def share(self, size: int) -> int:
        """Return how many of the next `size` bytes get through; fewer: the cable breaks now."""
        with self._lock:
            if self._left is None:
                return size
            got = min(size, self._left)
            self._left = self._left - size if self._left >= size else None
            return got
