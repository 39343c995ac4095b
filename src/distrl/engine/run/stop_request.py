"""Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends the run at once.

While a `StopRequest` is entered, the first signal only sets a flag (and wakes whoever waits); the
second raises `KeyboardInterrupt` in the main thread, and what is open is closed on the way out.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequested(Exception):
    """Somebody asked for an end while something was under way that can be left as it is."""


class StopRequest:
    """Was the run asked to end? A context manager, for the main thread."""

    def __init__(self) -> None:
        self.asked = False
        self.wake: Callable[[], None] = lambda: None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise `StopRequested` if somebody has asked."""
        if self.asked:
            raise StopRequested

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self.wake()
