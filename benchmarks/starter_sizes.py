"""Measure the starter on screens of other sizes than in training (`make bench-starter-sizes`).

It plays the same unseen tasks on simulated phones of each size, greedily; it was trained on 360 ×
720.

    success_1080x2400_at_3     of the tasks; …_low, …_high: its 95 % interval (Wilson)
    …_general, …_shopping      by family
    enlarged_…, filled_…       pixels of the picture for one unit of layout, that is, the size of
                               letters relative to 360 × 720; share of the picture without the bars
    unreadable_…               answers that could not be read, by step, including taps on the bars
    kept_…                     of the tasks that succeed at 360 × 720, those that also succeed here

The same tasks are not the same pages: a layout of 360 × 800 units shows more of a list than one of
360 × 720. Nothing is timed. Tasks are played in rounds, each on all screens, and the file is
written after each round: if the run is interrupted, `episodes` says how many tasks it covers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.results_file import make_command, write_results
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.letterbox import Letterbox, filled
from distrl.agent.loading import load_policy
from distrl.agent.policy import Policy
from distrl.episodes.evaluation import evaluate, evaluation_tasks
from distrl.episodes.outcome import Outcome, success_rate
from distrl.records import CORE_FAMILIES, Ending, Task
from phonesim.display import STANDARD, Display, read_display
from phonesim.simulated_device import SimulatedDevice

SCREENS = ("360x720@1", "1080x2400@3", "412x732@1", "1080x2160@3", "720x1440@2")
PHONES = 8
ROUND = 20  # tasks per round


def played(policy: Policy, tasks: Sequence[Task], display: Display) -> list[Outcome]:
    devices = [SimulatedDevice(f"{display}-{n}", display=display) for n in range(PHONES)]
    return evaluate(tasks, lambda task, device, judge: policy, devices)


def figures(
    display: Display, outcomes: Sequence[Outcome], reference: Sequence[Outcome]
) -> Iterator[tuple[str, float]]:
    """Yield the figures of one screen size, compared with the same tasks at 360 × 720."""
    name = f"{display.width}x{display.height}_at_{display.density}"
    rate = success_rate(outcomes)
    yield f"success_{name}", rate.rate
    yield f"success_{name}_low", rate.interval[0]
    yield f"success_{name}_high", rate.interval[1]
    for family in CORE_FAMILIES:
        of_family = [each for each in outcomes if each.task.family == family]
        yield f"success_{name}_{family}", success_rate(of_family).rate
    screen, picture = (ImageSize(each.width, each.height) for each in (display, STANDARD))
    shown = Letterbox.of(screen, picture).size.width
    yield f"enlarged_{name}", shown / display.units[0]
    yield f"filled_{name}", filled(screen, picture)
    yield (
        f"unreadable_{name}",
        sum(each.unreadable for each in outcomes) / sum(each.steps for each in outcomes),
    )
    before, here = _successes(reference), _successes(outcomes)
    yield f"kept_{name}", len(before & here) / max(1, len(before))


def _successes(outcomes: Sequence[Outcome]) -> set[str]:
    return {each.task.id for each in outcomes if each.ending is Ending.SUCCESS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="starter")
    parser.add_argument("--episodes", type=int, default=80, help="tasks on each screen")
    parser.add_argument("--screens", nargs="+", default=SCREENS, help="the first is the reference")
    given = parser.parse_args()
    policy = load_policy(given.model, greedy=True)
    tasks = list(islice(evaluation_tasks("test"), given.episodes))
    outcomes: dict[Display, list[Outcome]] = {read_display(each): [] for each in given.screens}
    for first in range(0, len(tasks), ROUND):
        for display, so_far in outcomes.items():
            so_far += played(policy, tasks[first : first + ROUND], display)
        reference = next(iter(outcomes.values()))
        found: dict[str, float] = {"episodes": len(reference)}
        for display, so_far in outcomes.items():
            found.update(figures(display, so_far, reference))
        write_results("starter-sizes", found, make_command("bench-starter-sizes"))
        Console().print(_table(outcomes))


def _table(outcomes: Mapping[Display, Sequence[Outcome]]) -> Table:
    table = Table("screen", "tasks", "success [95 %]", box=None)
    for display, of_display in outcomes.items():
        table.add_row(str(display), str(len(of_display)), escape(str(success_rate(of_display))))
    return table


if __name__ == "__main__":
    main()
