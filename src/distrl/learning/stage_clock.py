"""How long each stage of a learner's step took, in seconds.

On a GPU work is only queued while Python goes on; the update ends with numbers that Python reads,
which waits for all of it, so that the seconds of the stages are honest without further waiting.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

STAGES = ("drain", "sample", "batch", "update", "refresh", "publish")


class StageClock:
    """Stops the time of named stages; one stage may come several times and adds up."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - begin
