"""Progress of evaluation and imitation: a bar on a terminal, a few printed lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich import progress as bars
from rich.console import Console

from distrl.episodes.outcome import Outcome
from distrl.records import DRY_RUN_MARK, Ending

if TYPE_CHECKING:  # it loads torch
    from distrl.imitation.imitation import ImitationSettings
    from distrl.imitation.imitation import Progress as Point


class _ProgressDisplay:
    """A bar with a text beside it; where there is no terminal, about `lines` printed lines."""

    def __init__(self, console: Console, description: str, total: int, lines: int) -> None:
        self._console = console
        self._redraws = console.is_terminal and not console.is_dumb_terminal
        self._total = total
        self._lines = lines
        self._printed = 0  # lines that were due so far
        self._progress = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[text]}"),
            bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self._redraws,
        )
        self._bar = self._progress.add_task(description, total=total, text="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _update(self, unit: str, done: int, text: str, line: str, *, always: bool = False) -> None:
        self._progress.update(self._bar, description=unit, completed=done, text=text)
        before, self._printed = self._printed, done * self._lines // self._total
        if not self._redraws and (always or self._printed > before):
            self._console.print(line, highlight=False)


class EvaluationProgress(_ProgressDisplay):
    """Shows how many episodes are done, and how many of them succeeded."""

    def __init__(self, console: Console, episodes: int) -> None:
        super().__init__(console, "episodes", episodes, lines=10)
        self._done = self._judged = self._successes = 0

    def count(self, outcome: Outcome) -> None:
        self._done += 1
        self._judged += outcome.ending.judged
        self._successes += outcome.ending.value == "success"
        rate = f"{self._successes / self._judged:.1%}" if self._judged else "–"
        mark = f"{DRY_RUN_MARK} · " if outcome.ending is Ending.DRY_RUN else ""
        line = f"{mark}{self._done} of {self._total} episodes, success {rate}"
        self._update(f"{mark}episodes", self._done, f"success {rate}", line)


class ImitationProgress(_ProgressDisplay):
    """Shows the losses, the share of right actions, the validation, and samples per second."""

    def __init__(self, console: Console, settings: ImitationSettings) -> None:
        super().__init__(
            console, "making the validation set and the first samples", settings.steps, lines=20
        )
        self._validation = "–"

    def show(self, point: Point) -> None:
        """Show a point of the learning curve; every validation gets a line of its own."""
        if point.validation is not None:
            self._validation = f"{point.validation:.1%}"
        text = (
            f"loss {point.action_loss:.3f}, reading {point.reading_loss:.3f}, "
            f"right {point.right_actions:.0%}, validation {self._validation}, "
            f"{point.samples / max(point.seconds, 1e-9):,.0f} samples/s"
        )
        line = f"{point.step:,} of {self._total:,} steps: {text}"
        self._update("steps", point.step, text, line, always=point.validation is not None)
