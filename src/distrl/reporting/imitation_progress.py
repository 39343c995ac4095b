"""How the teaching of a model is getting on: a bar on a terminal, now and then a line elsewhere.

Both show the step, the losses, the share of right actions, and how many lessons come in a second.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console

from distrl.imitation.imitation import ImitationSettings
from distrl.imitation.imitation import Progress as Point
from distrl.reporting.progress_bar import progress_bar

LINES = 20  # where there is no terminal, beside those with an exam


class ImitationProgress:
    """Shows points of the learning curve as they come; a context manager."""

    def __init__(self, console: Console, settings: ImitationSettings) -> None:
        self._console = console
        self._steps = settings.steps
        self._lines = 0
        self._exam = "–"
        self._progress = progress_bar(console, "{task.fields[said]}")
        self._bar = self._progress.add_task(
            "making an exam and the first lessons", total=settings.steps, said=""
        )

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

    def show(self, point: Point) -> None:
        if point.validation is not None:
            self._exam = f"{point.validation:.1%}"
        said = (
            f"loss {point.action_loss:.3f}, reading {point.reading_loss:.3f}, "
            f"right {point.right_actions:.0%}, exam {self._exam}, "
            f"{point.samples / max(point.seconds, 1e-9):,.0f} lessons/s"
        )
        self._progress.update(self._bar, description="steps", completed=point.step, said=said)
        if not self._console.is_terminal and self._at_a_line(point):
            self._console.print(f"{point.step:,} of {self._steps:,} steps: {said}", highlight=False)

    def _at_a_line(self, point: Point) -> bool:
        """At every exam, and at each twentieth of the way."""
        before, self._lines = self._lines, point.step * LINES // self._steps
        return point.validation is not None or self._lines > before
