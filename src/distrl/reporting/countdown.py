"""How long a run still has to train, guessed from the pace of this process while it trained.

Evaluations take time and bring a run no further; what an earlier process needed is not known here.
Neither counts, so that a guess is right from the first minute on, also after a resume.
"""

from __future__ import annotations

LEAST_SECONDS, LEAST_SHARE = 2.0, 0.002  # before these a pace says nothing


class Countdown:
    """Sees how far a run has come, every now and then."""

    def __init__(self) -> None:
        self._seen: tuple[float, float] | None = None  # when it was last seen, and how far it was
        self._seconds = 0.0  # of training that were seen
        self._share = 0.0  # of the run that they brought

    def see(self, now: float, progress: float, *, training: bool) -> None:
        """`progress` is the share of the whole run, in [0, 1]."""
        if not training:
            self._seen = None
            return
        if self._seen is not None:
            self._seconds += now - self._seen[0]
            self._share += progress - self._seen[1]
        self._seen = now, progress

    def seconds_left(self, progress: float) -> float | None:
        """None while nobody can say, and when there is nothing left to train."""
        if self._seconds < LEAST_SECONDS or self._share < LEAST_SHARE or progress >= 1.0:
            return None
        return self._seconds * (1.0 - progress) / self._share
