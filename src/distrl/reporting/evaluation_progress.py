"""How an evaluation is getting on: a bar on a terminal, now and then a line elsewhere.

Both show how many episodes are done and how many of them succeeded so far.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console

from distrl.episodes.outcome import Outcome
from distrl.reporting.progress_bar import progress_bar

LINES = 10  # where there is no terminal


class EvaluationProgress:
    """Counts outcomes and shows them; a context manager."""

    def __init__(self, console: Console, episodes: int) -> None:
        self._console = console
        self._episodes = episodes
        self._done = self._judged = self._successes = 0
        self._progress = progress_bar(console, "success {task.fields[success]}")
        self._bar = self._progress.add_task("episodes", total=episodes, success="–")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def count(self, outcome: Outcome) -> None:
        self._done += 1
        self._judged += outcome.ending.judged
        self._successes += outcome.ending.value == "success"
        self._progress.update(self._bar, completed=self._done, success=self._success)
        if not self._console.is_terminal and self._at_a_line:
            self._console.print(
                f"{self._done} of {self._episodes} episodes, success {self._success}",
                highlight=False,
            )

    @property
    def _success(self) -> str:
        return f"{self._successes / self._judged:.1%}" if self._judged else "–"

    @property
    def _at_a_line(self) -> bool:
        """At each tenth of the way."""
        lines_by_now = self._done * LINES // self._episodes
        return lines_by_now > (self._done - 1) * LINES // self._episodes
