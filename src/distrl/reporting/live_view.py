"""Show a run live in the terminal; print plain lines elsewhere (a file, a pipe, CI).

The engine passes a `RunStatus` to `show` as often as it likes. On a terminal one panel is redrawn
in place, a few times a second, at the terminal's width. Its spinner turns by itself, to show that a
run in a long preparation is alive. Elsewhere a line is printed when `line_seconds` have passed or
the phase has changed. `say` prints a sentence above the panel, or on a line of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Self

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from distrl.episodes.outcome import PairedGain, SuccessRate
from distrl.runs.run_status import AWAY, FAILING, WAITS, WORKS, RunStatus

BARS = " ▁▂▃▄▅▆▇█"
LABEL = 5  # characters beside the small curve
REFRESHES = 4  # a second
FRAME = 6  # columns that the panel's own edges take
COLUMN, SENTENCE = 24, 48  # widths of a figure and of a sentence, in characters
ROOMY = 38  # rows of a terminal with room for blank lines
MAX_COLUMNS = 6
PHONE_ROWS = 4
PHONE_STYLES = {WORKS: "green", WAITS: "bright_black", FAILING: "yellow", AWAY: "red"}
PHONE_WORDS = {WORKS: "at work", WAITS: "waiting", FAILING: "failing", AWAY: "away"}


class LiveView:
    """Implements `RunView` on a console: a panel on a terminal, lines elsewhere."""

    def __init__(
        self,
        console: Console,
        *,
        line_seconds: float = 15.0,
        mark: str = "",  # before every line, such as "DRY RUN"
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._redraws = console.is_terminal and not console.is_dumb_terminal
        self._line_seconds = line_seconds
        self._mark = f"{mark} · " if mark else ""
        self._clock = clock
        self._turning = Spinner("dots", style="cyan")
        self._live = Live(console=console, refresh_per_second=REFRESHES)
        self._last_line = -float("inf")
        self._last_phase = ""

    def show(self, status: RunStatus) -> None:
        if self._redraws:
            marked = replace(status, name=f"{self._mark}{status.name}")
            self._live.update(StatusPanel(marked, self._turning))
            return
        now = self._clock()
        if now - self._last_line >= self._line_seconds or status.phase != self._last_phase:
            self._last_line, self._last_phase = now, status.phase
            self.say(plain_line(status))

    def say(self, sentence: str) -> None:
        line = f"{self._mark}{sentence}"
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._redraws:
            self._turning.update(text=f"{self._mark}preparing: settings, model, phones")
            self._live.update(self._turning)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._redraws:
            self._live.stop()


def plain_line(status: RunStatus) -> str:
    """Format a status as one line."""
    parts = [
        duration(status.seconds),
        f"{status.phase} ({status.detail})" if status.detail else status.phase,
        f"success {rate_words(status.success)}{_in_brackets(status.success_by_environment)}",
        f"{status.trajectories} trajectories ({status.trajectories_per_minute:.1f}/min)",
        f"phones {time_words(status.phone_time)}",
        f"learner {time_words(status.learner_time)}",
        f"staleness drawn {status.staleness:.1f} ({status.effective_sample_share:.0%} effective)",
        f"update {status.updates} ({_milliseconds(status.step_seconds)})",
        f"queue {status.queue}",
    ]
    if status.faults:
        parts.append(f"faults {sum(status.faults.values())}")
    if status.evaluating:
        parts.append(f"evaluating {status.evaluating}")
    if status.placement:
        parts.append(status.placement)
    if status.seconds_left is not None:
        parts.append(f"{duration(status.seconds_left)} to train")
    return " · ".join(parts)


class StatusPanel:
    """The panel, laid out for whatever width it is drawn in."""

    def __init__(self, status: RunStatus, turning: Spinner | None = None) -> None:
        self._status = status
        self._turning = turning or Spinner("dots", style="cyan")

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        status, width = self._status, max(20, options.max_width - FRAME)
        words = f"{status.phase}: {status.detail}" if status.detail else status.phase
        self._turning.update(text=escape(words))
        parts = [self._turning, _head(status, width), _figures(status, width)]
        parts += [_sentences(status, width)]
        parts += [_phones(status.phones, width)] if status.phones else []
        low = console.height < ROOMY  # leave out blank lines so that all of it fits
        between = [] if low else [Text()]
        lines = [line for part in parts for line in (part, *between)]
        yield Panel(
            Group(*lines, _progress(status)),
            title=f"[bold]distrl[/] · {escape(status.name)}",
            title_align="left",
            border_style="cyan",
            padding=(0 if low else 1, 2),
        )


def _sentences(status: RunStatus, width: int) -> Table:
    """Lay out what is longer than a figure, two side by side where they fit."""
    known = {
        "success by environment": environment_words(status.success_by_environment),
        "phones' time": time_words(status.phone_time, most=6),
        "learner's time": time_words(status.learner_time, most=6),
        "evaluation": status.evaluating,
        "nodes": status.placement,
    }
    cells = [_figure(name, words) for name, words in known.items() if words]
    table = Table.grid(padding=(0, 3), expand=True)
    columns = 2 if width >= 2 * SENTENCE else 1
    for _ in range(columns):
        table.add_column(ratio=1)
    for place in range(0, len(cells), columns):
        table.add_row(*cells[place : place + columns])
    return table


def _phones(signs: str, width: int) -> Text:
    """Draw a sign for each phone, below the number of phones with each sign."""
    counts = [f"{signs.count(sign)} {PHONE_WORDS[sign]}" for sign in PHONE_WORDS if sign in signs]
    shown = signs[: PHONE_ROWS * (width // 2)]
    left = len(signs) - len(shown)
    words = f"phones: {', '.join(counts)}{f'; {left} are not drawn' if left else ''}\n"
    text = Text(words, "dim")
    for sign in shown:
        text.append(f"{sign} ", f"not dim {PHONE_STYLES.get(sign, '')}")
    return text


def _head(status: RunStatus, width: int) -> RenderableType:
    """Show the recent success rate, the rate before training, and a bar chart over time."""
    rate = status.success
    line = Text.assemble(
        ("success  ", "dim"),
        (f"{rate.rate:.0%}" if rate.episodes else "–", "bold green" if rate.successes else "bold"),
        (f"  {_interval(rate)}", "dim"),
    )
    if status.success_before is not None:
        line.append(f"    before training {rate_words(status.success_before)}", "dim")
    bars = curve(status.success_history, width - LABEL)
    drawn = [Text.assemble((each[:LABEL], "dim"), (each[LABEL:], "green")) for each in bars]
    if status.history_seconds and status.success_history:
        each = duration(status.history_seconds)
        drawn.append(Text(f"{'':{LABEL}}a bar is {each}; none: no episode ended then", "dim"))
    return Group(line, *drawn)


def _figures(status: RunStatus, width: int) -> Table:
    table = Table.grid(padding=(0, 3), expand=True)
    columns = min(MAX_COLUMNS, max(1, width // COLUMN))
    for _ in range(columns):
        table.add_column(ratio=1)
    faults = ", ".join(
        f"{name.replace('_', ' ')} {count}" for name, count in sorted(status.faults.items())
    )
    away = f", {status.quarantined} away" if status.quarantined else ""
    shown = {
        "trajectories": f"{status.trajectories:,}",
        "per minute": f"{status.trajectories_per_minute:.1f}",
        "devices": f"{status.devices}{away}",
        "updates": f"{status.updates:,}",
        "step": _milliseconds(status.step_seconds),
        "weights": f"version {status.weight_version}",
        "staleness drawn": (
            f"{status.staleness:.1f} · {status.effective_sample_share:.0%} effective"
        ),
        "queue": f"{status.queue} · replay {status.replay:,}",
    }
    if status.gpu_gigabytes:
        shown["GPU memory"] = f"{status.gpu_gigabytes:.1f} GB · {status.gpu_memory_share:.0%}"
    cells = [_figure(name, value) for name, value in shown.items()]
    cells.append(_figure("faults", faults or "none", style="yellow" if faults else ""))
    for place in range(0, len(cells), columns):
        table.add_row(*cells[place : place + columns])
    return table


def _figure(name: str, value: str, style: str = "") -> Text:
    return Text.assemble((f"{name}\n", "dim"), (value, f"bold {style}".strip()))


def _progress(status: RunStatus) -> Table:
    left = status.seconds_left
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    table.add_column(no_wrap=True)
    table.add_row(
        Text(duration(status.seconds), "dim"),
        ProgressBar(total=1.0, completed=min(1.0, status.progress), complete_style="cyan"),
        Text("–" if left is None else f"{duration(left)} to train", "dim"),
    )
    return table


def curve(rates: tuple[float, ...], width: int, rows: int = 3) -> list[str]:
    """Draw shares as a bar chart of `rows` lines, scaled to the highest. NaN leaves a gap; 0 % is
    a flat bar. Only the last `width` rates are drawn; a bar keeps its time span as others come.
    """
    shown = rates[-max(1, width) :]
    known = [rate for rate in shown if 0.0 <= rate <= 1.0]
    top = min(1.0, math.ceil(10.0 * max(known, default=0.0) - 1e-9) / 10.0) or 0.1
    eighths = [
        max(1, round(rate / top * 8 * rows)) if 0.0 <= rate <= 1.0 else 0 for rate in shown
    ]  # of a row
    lines = []
    for row in reversed(range(rows)):
        label = f"{top:.0%} " if row == rows - 1 else "0% " if row == 0 else ""
        bars = (BARS[min(8, max(0, height - 8 * row))] for height in eighths)
        lines.append(f"{label:>{LABEL}}" + "".join(bars))
    return lines


def time_words(shares: Mapping[str, float], most: int = 2) -> str:
    """Format shares of time, the largest first; those under 1 % are left out."""
    largest = sorted(shares.items(), key=lambda share: -share[1])[:most]
    shown = [f"{stage} {share:.0%}" for stage, share in largest if share >= 0.01]
    return ", ".join(shown) or "–"


def gain_words(gain: PairedGain, *, weights_moved: bool) -> str:
    """Describe the gain between two evaluations on the same tasks, before and after training."""
    if not weights_moved:
        return "no update moved the policy's weights: a difference means nothing"
    if not gain.tasks:
        return "no task was played both before and after"
    low, high = (f"{100 * bound:+.0f}" for bound in gain.interval)
    counts = "" if gain.significant else ": no gain that counts"
    points = f"{100 * gain.difference:+.0f} points [{low}, {high}]"
    return f"{points} on the same {gain.tasks} tasks{counts}"


def rate_words(rate: SuccessRate) -> str:
    return f"{rate.rate:.0%} {_interval(rate)}" if rate.episodes else "–"


def environment_words(rates: Mapping[str, SuccessRate]) -> str:
    """Describe success in each environment; empty if the run has only one."""
    return ", ".join(f"{name} {rate_words(rate)}" for name, rate in rates.items())


def _in_brackets(rates: Mapping[str, SuccessRate]) -> str:
    return f" ({environment_words(rates)})" if rates else ""


def _interval(rate: SuccessRate) -> str:
    low, high = rate.interval
    return f"[{low:.0%}, {high:.0%}]" if rate.episodes else ""


def duration(seconds: float) -> str:
    """Format a duration as 3:07, or 1:02:03."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 10.0 else f"{1000 * seconds:.0f} ms"
