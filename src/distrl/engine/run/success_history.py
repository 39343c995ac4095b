"""Success over equal spans of a run so far, in a bounded number of spans however long it takes.

When there are too many, neighbours are put together and spans become twice as long.
"""

from __future__ import annotations

import math

MAX_SPANS = 60
FIRST_SPAN = 2.0  # seconds


class SuccessHistory:
    """Counts episodes by when they ended."""

    def __init__(self) -> None:
        self._span = FIRST_SPAN
        self._counts: list[tuple[int, int]] = []  # successes and episodes of each span

    def add(self, seconds: float, *, success: bool) -> None:
        while seconds >= self._span * MAX_SPANS:
            pairs = [*self._counts, (0, 0)][: 2 * math.ceil(len(self._counts) / 2)]
            self._counts = [
                (a[0] + b[0], a[1] + b[1]) for a, b in zip(pairs[::2], pairs[1::2], strict=True)
            ]
            self._span *= 2.0
        place = int(max(0.0, seconds) // self._span)
        self._counts += [(0, 0)] * (place + 1 - len(self._counts))
        successes, episodes = self._counts[place]
        self._counts[place] = successes + success, episodes + 1

    def rates(self) -> tuple[float, ...]:
        """Oldest first; NaN for a span in which nothing ended."""
        return tuple(s / n if n else math.nan for s, n in self._counts)
