"""What `distrl train` does until the learner is there: simple agents on the simulated phone.

Shows live how each agent fares, then a table with intervals; keeps `result.json` and a few contact
sheets in the run directory.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from distrl.devices.simulated.simulated_device import SimulatedDevice
from distrl.episodes.evaluation import SIMPLE_AGENTS, evaluate
from distrl.episodes.outcome import SuccessRate, success_rate
from distrl.errors import UsageError
from distrl.records import FAMILIES, SPLITS, Family, Split, Trajectory
from distrl.reporting.film import write_film
from distrl.tasks.task_sets import tasks

FILMS = 3  # contact sheets of the scripted agent, for each family


def compare_agents(console: Console, split: str, episodes: int, run: Path) -> None:
    """Let every simple agent play the same tasks, and show the table."""
    chosen = next((known for known in SPLITS if known == split), None)
    if chosen is None:
        raise UsageError(f"no split called {split!r}; there are {', '.join(SPLITS)}")
    run.mkdir(parents=True, exist_ok=True)
    console.print(
        "The phone, its tasks and judges are here; the learner is being built on them.\n"
        f"Until then: simple agents on unseen tasks, {episodes} episodes each.\n"
    )
    rates: dict[tuple[str, Family], SuccessRate] = {}
    started = time.perf_counter()
    with Progress(console=console, transient=True) as progress:
        for agent in SIMPLE_AGENTS:
            for family in FAMILIES:
                bar = progress.add_task(f"{agent}, {family}", total=episodes)
                advance = partial(progress.advance, bar)
                rates[agent, family] = _play(agent, family, chosen, episodes, run, advance)
    console.print(_table(rates, chosen))
    _write(rates, episodes, time.perf_counter() - started, run / "result.json")
    console.print(f"\nContact sheets and result.json: {run}/", highlight=False)


def _play(
    agent: str,
    family: Family,
    split: Split,
    episodes: int,
    run: Path,
    advance: Callable[[], None],
) -> SuccessRate:
    filmed = 0

    def seen(trajectory: Trajectory) -> None:
        nonlocal filmed
        advance()
        if agent == "scripted" and filmed < FILMS:
            filmed += 1
            write_film([trajectory], run / f"{trajectory.task.template}.png")

    device = SimulatedDevice(f"{agent}-{family}")
    outcomes = evaluate(
        islice(tasks(split, family), episodes), SIMPLE_AGENTS[agent], [device], seen=seen
    )
    return success_rate(outcomes)


def _table(rates: dict[tuple[str, Family], SuccessRate], split: Split) -> Table:
    table = Table(title=f"Success on the split “{split}” (95 % interval)", title_justify="left")
    table.add_column("agent")
    for family in FAMILIES:
        table.add_column(family, justify="right")
    for agent in SIMPLE_AGENTS:
        table.add_row(agent, *(str(rates[agent, family]) for family in FAMILIES))
    return table


def _write(
    rates: dict[tuple[str, Family], SuccessRate], episodes: int, seconds: float, path: Path
) -> None:
    result: dict[str, float] = {"episodes": episodes, "wall_s": round(seconds, 3)}
    for (agent, family), rate in rates.items():
        low, high = rate.interval
        result |= {
            f"{agent}_{family}": rate.rate,
            f"{agent}_{family}_low": low,
            f"{agent}_{family}_high": high,
        }
    path.write_text(json.dumps(result, indent=2) + "\n")
