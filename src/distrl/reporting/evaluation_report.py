"""The results of an evaluation, as tables for the terminal and as figures for a JSON file.

Success rates come with their 95 % interval, overall and by family, difficulty, app and template. A
task of several apps counts for each of them. Episodes that a device or judge failure ended are not
judged: they count in `episodes` and `endings`, but not in the rates.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from distrl.episodes.outcome import Outcome, SuccessRate, endings, success_rate
from distrl.records import DRY_RUN_MARK, Ending, Task

Rates = dict[str, SuccessRate]
DIFFICULTIES = ("easy", "medium", "hard", "long")
GROUPS: dict[str, Callable[[Task], Sequence[str]]] = {
    "family": lambda task: (task.family,),
    "difficulty": lambda task: (task.difficulty,),
    "app": lambda task: task.apps,
    "template": lambda task: (task.template,),
}


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The outcomes of one evaluation. `settings` say what was evaluated, and go into the file."""

    settings: Mapping[str, object]
    outcomes: Sequence[Outcome]
    wall_s: float

    def figures(self) -> dict[str, object]:
        """Return the content of the JSON file; a rate without a judged episode is null."""
        return {
            **_figures(success_rate(self.outcomes)),
            "episodes": len(self.outcomes),
            "judged": success_rate(self.outcomes).episodes,
            **{
                f"by_{group}": {name: _figures(rate) for name, rate in self.rates(group).items()}
                for group in GROUPS
            },
            "endings": self.endings(),
            "invalid_rate": self.invalid_rate(),
            "steps_mean": self.steps_mean(),
            "progress_mean": self.progress_mean(),
            "weight_version": max((o.weight_version for o in self.outcomes), default=0),
            "wall_s": round(self.wall_s, 3),
            **self.settings,
        }

    def rates(self, group: str) -> Rates:
        """The success of every family, difficulty, app or template."""
        groups: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            for key in GROUPS[group](outcome.task):
                groups.setdefault(key, []).append(outcome)
        order = DIFFICULTIES if group == "difficulty" else sorted(groups)
        return {key: success_rate(groups[key]) for key in order if key in groups}

    def endings(self) -> dict[str, int]:
        counted = endings(self.outcomes)
        return {ending.value: number for ending, number in counted.most_common()}

    def invalid_rate(self) -> float:
        """The share of answers that no dialect could read."""
        steps = sum(outcome.steps for outcome in self.outcomes)
        return sum(outcome.unreadable for outcome in self.outcomes) / steps if steps else 0.0

    def steps_mean(self) -> float:
        return statistics.mean(o.steps for o in self.outcomes) if self.outcomes else 0.0

    def progress_mean(self) -> float | None:
        """Return the mean share of a task's facts that were reached; None if no judge says."""
        known = [o.progress for o in self.outcomes if o.progress is not None]
        return statistics.mean(known) if known else None

    @property
    def is_dry(self) -> bool:
        """Whether any episode was a dry run."""
        return any(each.ending is Ending.DRY_RUN for each in self.outcomes)

    def shown(self) -> RenderableType:
        """The tables for the terminal."""
        counted = ", ".join(f"{name} {number}" for name, number in self.endings().items())
        foot = Text(
            f"endings: {counted}\n"
            f"invalid actions: {self.invalid_rate():.1%} of all   "
            f"steps: {self.steps_mean():.1f} an episode   "
            f"{self._progress_shown()}"
            f"time: {self.wall_s:.1f} s"
        )
        return Group(_template_lines(self.rates("template")), Text(), self._summary(), foot)

    def _progress_shown(self) -> str:
        mean = self.progress_mean()
        return "" if mean is None else f"progress: {mean:.1%} of the facts   "

    def _summary(self) -> Table:
        judged = success_rate(self.outcomes)
        blank = f", without the {self.settings['blank']}" if self.settings.get("blank") else ""
        dry = f"{DRY_RUN_MARK} · " if self.is_dry else ""
        title = (
            f"{dry}{self.settings.get('model', '')} on the split “{self.settings['split']}”{blank}"
        )
        table = Table(title=Text(title), title_justify="left")
        table.add_column("")
        table.add_column("success", justify="right")
        table.add_column("95 % interval", justify="right")
        table.add_column("episodes", justify="right")
        table.add_row("all", *_cells(judged), style="bold", end_section=True)
        for rates in map(self.rates, ("family", "difficulty", "app")):
            for index, (name, rate) in enumerate(rates.items(), 1):
                table.add_row(name, *_cells(rate), end_section=index == len(rates))
        return table


def _figures(rate: SuccessRate) -> dict[str, float | int | None]:
    low, high = rate.interval
    return {
        "success": rate.rate if rate.episodes else None,
        "low": round(low, 6),
        "high": round(high, 6),
        "episodes": rate.episodes,
    }


def _cells(rate: SuccessRate) -> tuple[str, str, str]:
    if not rate.episodes:
        return "–", "–", "0"
    low, high = rate.interval
    return f"{rate.rate:.1%}", f"{low:.1%} – {high:.1%}", str(rate.episodes)


def _template_lines(rates: Rates) -> Table:
    """Show successes/episodes of every template; one line per prefix of names, such as an app."""
    groups: dict[str, list[Text]] = {}
    for name, rate in rates.items():
        group, _, rest = name.partition(".")
        color = "green" if rate.successes == rate.episodes else "yellow"
        count = Text(f"{rate.successes}/{rate.episodes}", color if rate.successes else "red")
        groups.setdefault(group, []).append(Text.assemble(rest, " ", count))
    table = Table.grid(padding=(0, 2))
    for group, cells in groups.items():
        table.add_row(Text(group, "bold"), Text(" · ").join(cells))
    return table


def environment_table(reports: Mapping[str, EvaluationReport]) -> Table:
    """One row for each environment that the same model was measured in."""
    table = Table(box=None, pad_edge=False)
    for heading in ("environment", "success", "95 %", "judged", "steps", "broken", "seconds"):
        table.add_column(heading, justify="left" if heading == "environment" else "right")
    for name, report in reports.items():
        rate = success_rate(report.outcomes)
        low, high = rate.interval
        table.add_row(
            f"{DRY_RUN_MARK} · {name}" if report.is_dry else name,
            f"{rate.rate:.1%}" if rate.episodes else "–",
            f"{low:.0%}–{high:.0%}" if rate.episodes else "–",
            str(rate.episodes),
            f"{report.steps_mean():.1f}",
            str(len(report.outcomes) - rate.episodes),
            f"{report.wall_s:.0f}",
        )
    return table
