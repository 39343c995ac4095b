"""A daemon thread whose exception is kept and raised in the thread that owns it.

One of the few places that catch everything: what breaks in the thread is raised by the owner's next
`raise_failure`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class WatchedThread:
    """Run `work` in a thread; call `on_end` when it has returned or failed."""

    def __init__(self, name: str, work: Callable[[], None], on_end: Callable[[], None]) -> None:
        self._work = work
        self._on_end = on_end
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait for its end; True if it has ended (or never started)."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def raise_failure(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - raised again by raise_failure
            self._error = error
        finally:
            self._on_end()
