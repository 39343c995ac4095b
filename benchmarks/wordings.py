"""Measure the starter's success on the same unseen tasks in demonstrated and in other words.

    make bench-wordings      results/wordings.json

The templates that have such sentences (`phonesim/tasks/wordings.toml`), two tasks each, greedy:

    test                    in the sentences of demonstrations
    paraphrased             in other sentences of the same words
    other_words             in sentences with words that no demonstration has
    …_general, …_shopping   by family; …_low, …_high: 95 %
    …_change, …             success against `test` on the same tasks, paired, with its 95 % interval
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import make_command, write_results
from distrl.agent.loading import load_policy
from distrl.episodes.evaluation import evaluate, evaluation_tasks
from distrl.episodes.outcome import Outcome, paired_gain, success_rate
from distrl.records import CORE_FAMILIES, Ending, Split
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task, original, template_names
from phonesim.tasks.wordings import REWORDED

PHONES = 16


def played(model: str, split: Split, rounds: int, device: str) -> list[Outcome]:
    """Play each template `rounds` times; every split has the same tasks."""
    policy = load_policy(model, device=device, greedy=True)
    names = template_names(REWORDED[0])
    tasks = evaluation_tasks(split, only=names)
    some = [next(tasks) for _ in range(rounds * len(names))]
    phones = [SimulatedDevice(f"phone-{n}") for n in range(PHONES)]
    return evaluate(some, lambda task, device, judge: policy, phones)


def figures(by_split: dict[Split, list[Outcome]]) -> Iterator[tuple[str, float]]:
    told = successes(by_split["test"])
    for split, outcomes in by_split.items():
        rate = success_rate(outcomes)
        yield split, rate.rate
        yield f"{split}_low", rate.interval[0]
        yield f"{split}_high", rate.interval[1]
        yield f"{split}_episodes", rate.episodes
        for family in CORE_FAMILIES:
            own = [each for each in outcomes if each.task.family == family]
            yield f"{split}_{family}", success_rate(own).rate
        if split != "test":
            change = paired_gain(told, successes(outcomes))
            yield f"{split}_change", change.difference
            yield f"{split}_change_low", change.interval[0]
            yield f"{split}_change_high", change.interval[1]


def successes(outcomes: Sequence[Outcome]) -> dict[str, bool]:
    """Return success by the id of the task in `test`; episodes without a verdict do not count."""
    judged = [each for each in outcomes if each.ending.judged]
    return {original(each.task.id): each.ending is Ending.SUCCESS for each in judged}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="starter")
    parser.add_argument("--rounds", type=int, default=2, help="tasks of each template")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    splits: tuple[Split, ...] = ("test", *REWORDED)
    by_split = {each: played(given.model, each, given.rounds, given.device) for each in splits}
    found = {name: round(value, 4) for name, value in figures(by_split)}
    console, table = Console(), Table("figure", "value", box=None)
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    console.print(table)
    for split in REWORDED:
        lost = [o for o in by_split[split] if o.ending is not Ending.SUCCESS]
        for each in lost[:20]:
            console.print(f"{split}: {load_task(each.task.id)[0].instruction}", highlight=False)
    write_results("wordings", found, make_command("bench-wordings"))


if __name__ == "__main__":
    main()
