"""How often something that fails may be restarted, after which pause, and when silence is a hang.

The same rules hold for collectors on one machine and on a cluster, for policy servers and for the
processes of a joined node. No clock is read here: callers pass `now` in seconds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

WINDOW = 600.0  # seconds over which failures are counted
FIRST_PAUSE, MAX_PAUSE = 0.25, 30.0  # seconds before a restart
SILENT_HEARTBEATS = 6  # missing in a row: the sender is unresponsive
SILENT_START_SECONDS = 180.0  # before the first heartbeat: the model is being loaded
STALLED_SECONDS = 900.0  # alive, episodes in flight, and no progress
LEAST_SILENCE = 10.0  # seconds, between machines


def patience_of(heartbeat_seconds: float) -> float:
    """Seconds of silence after which a process on another machine counts as unresponsive."""
    return max(LEAST_SILENCE, SILENT_HEARTBEATS * heartbeat_seconds)


@dataclass(slots=True)
class RestartBudget:
    """Allows `most` failures within `WINDOW`; the pause doubles while nothing works."""

    most: int
    _failures: deque[float] = field(default_factory=deque)
    _in_a_row: int = 0  # failures without any work in between

    def pause_after_failure(self, now: float, *, had_worked: bool = False) -> float | None:
        """Record a failure; return seconds until the restart, or None: it has failed too often."""
        self._failures.append(now)
        while self._failures[0] < now - WINDOW:
            self._failures.popleft()
        alone = had_worked or len(self._failures) == 1
        self._in_a_row = 1 if alone else self._in_a_row + 1
        if len(self._failures) > self.most:
            return None
        return min(MAX_PAUSE, FIRST_PAUSE * 2.0 ** (self._in_a_row - 1))
