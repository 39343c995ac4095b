"""Why a run ends: it reaches one of its limits, or a signal asks for an orderly end.

The signals are Ctrl-C, SIGTERM, and SIGHUP, which comes when a terminal is closed (unless ignored,
as by nohup). While a `StopRequest` is entered, the first signal only sets a flag and calls `wake`;
the second raises `KeyboardInterrupt` in the main thread, which closes what is open on its way out.
Each prints a line to stderr at once, since a step in progress may take minutes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # loads torch, which commands without a model do not need
    from distrl.config.sections import RunSettings

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(Exception):
    """The run was asked to end before it reached a limit; it can be resumed."""


class StopRequest:
    """Whether the run was asked to end; signals set it while the main thread has entered it."""

    def __init__(self) -> None:
        self.asked = False
        self.wake: Callable[[], None] = lambda: None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # no other may set handlers
            self._before = {
                number: signal.signal(number, self._on_signal)
                for number in SIGNALS
                if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
            }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def ask(self) -> None:
        """Ask for an orderly end, from any thread."""
        self.asked = True
        self.wake()

    def check(self) -> None:
        """Raise `StopRequested` if a stop was asked for."""
        if self.asked:
            raise StopRequested

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            _say("stopping at once")
            raise KeyboardInterrupt
        self.asked = True
        _say("stopping in order; Ctrl-C once more stops at once")
        self.wake()


def _say(sentence: str) -> None:
    """Write to stderr without buffers or locks: a signal may have interrupted another write."""
    with contextlib.suppress(OSError):
        os.write(2, f"\n{sentence}\n".encode())


def progress(
    settings: RunSettings, *, training_seconds: float, trajectories: int, updates: int = 0
) -> float:
    """Return the largest share that the run has used of any limit; 1 or more: it is over."""
    shares = [training_seconds / (60.0 * settings.minutes)]
    if settings.trajectories is not None:
        shares.append(trajectories / settings.trajectories)
    if settings.updates is not None:
        shares.append(updates / settings.updates)
    return max(shares)
