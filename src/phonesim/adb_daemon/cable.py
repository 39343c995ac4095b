"""What lies between a served phone and the computer, and how it breaks.

The same faults that a real cable has, so that the other side is tested through the real protocol:
it stalls (bytes go in and nothing comes out), or it breaks in the middle of an answer. Pulling it
out altogether is `PhoneServer.unplug`.
"""

from __future__ import annotations

import threading


class Cable:
    """The cable of one phone. Any thread may break it; its connections live through that."""

    def __init__(self) -> None:
        self._flows = threading.Event()
        self._flows.set()
        self._lock = threading.Lock()
        self._left: int | None = None  # bytes until it breaks

    def stall(self) -> None:
        """From now on the phone is there, takes everything and answers nothing."""
        self._flows.clear()

    def flow(self) -> None:
        """What was stuck goes through now."""
        self._flows.set()

    def break_after(self, count: int) -> None:
        """Let this many more bytes of the phone's answers through, then hang up, once."""
        with self._lock:
            self._left = count

    def wait_until_it_flows(self) -> None:
        self._flows.wait()

    def share(self, size: int) -> int:
        """How many of the next `size` bytes get through; fewer means that it breaks now."""
        with self._lock:
            if self._left is None:
                return size
            got = min(size, self._left)
            self._left = self._left - size if self._left >= size else None
            return got
