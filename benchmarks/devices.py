"""Compare one policy on every kind of device (`make bench-devices`).

    phone      the simulated phone, unseen tasks of templates that were demonstrated
    adb        the same tasks on phones that another process serves, through a real adb
    quick      the simulated phone, unseen tasks of the quick start's undemonstrated templates
    pages      MiniWoB++ in Chromium, the pages of `distrl train miniwob`, seeds for tests

Greedy, the same tasks for every model. `--models NAME=RUN …` measures runs beside the starter: what
was learned on one kind of device, and what it changed on the others (`NAME_gain_ENVIRONMENT`,
paired by tasks, 95 %). Without Chromium or MiniWoB's pages that environment is left out, with a
message.

`phone` and `adb` show the same pixels: a difference between them is a fault of the adb path and
says nothing about transfer. Writes results/devices.json.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.results_file import make_command, write_results
from benchmarks.served_phones import adb_server, connected_phones
from distrl.agent.loading import load_policy
from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.environment import play_environment
from distrl.episodes.outcome import Outcome, outcome_of, paired_gain, success_rate
from distrl.errors import NotInstalled
from distrl.records import Ending, Split
from distrl.reporting.evaluation_report import EvaluationReport, environment_table

PHONES = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """An environment and the split that is played in it."""

    config: TrainingConfig
    split: Split = "test"


@contextmanager
def environments() -> Iterator[dict[str, Measured]]:
    """Open all environments, by name; served phones stay connected until the end."""
    with adb_server() as server, connected_phones(server, PHONES) as serials:
        adb = (
            "devices.kind=adb",
            f"devices.serials={','.join(serials)}",
            f"devices.count={PHONES}",
            f"devices.android.adb_port={server.port}",
        )
        yield {
            "phone": Measured(load_config(None, ["devices.count=8"])),
            "adb": Measured(load_config(None, adb)),
            "quick": Measured(load_config(Path("quick_start")), "undemonstrated_test"),
            "pages": Measured(load_config(Path("miniwob"), ["devices.count=2"])),
        }


def played(model: str, measured: Measured, episodes: int) -> list[Outcome]:
    policy = load_policy(model, device="cpu", greedy=True)
    found = play_environment(
        measured.config, lambda task, device, judge: policy, episodes, 0, measured.split
    )
    return [outcome_of(trajectory) for trajectory in found]


def successes(outcomes: Sequence[Outcome]) -> dict[str, bool]:
    """Return the success of each task; episodes without a verdict do not count."""
    judged = [each for each in outcomes if each.ending.judged]
    return {each.task.id: each.ending is Ending.SUCCESS for each in judged}


def figures_of(
    model: str, environment: str, outcomes: Sequence[Outcome], before: Sequence[Outcome] = ()
) -> dict[str, float]:
    """Return success with its interval, and the paired gain over the starter if it was measured."""
    rate = success_rate(outcomes)
    low, high = rate.interval
    name = f"{model}_{environment}"
    figures = {
        name: rate.rate,
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_episodes": float(rate.episodes),
    }
    if before:
        gain = paired_gain(successes(before), successes(outcomes))
        label = f"{model}_gain_{environment}"
        low, high = gain.interval
        figures |= {label: gain.difference, f"{label}_low": low, f"{label}_high": high}
    return {key: round(value, 4) for key, value in figures.items()}


def measure(models: Mapping[str, str], only: Sequence[str], episodes: int) -> dict[str, float]:
    console, figures = Console(), dict[str, float]()
    first: dict[str, list[Outcome]] = {}
    with environments() as there:
        for model, path in models.items():
            reports: dict[str, EvaluationReport] = {}
            for name in only:
                began = time.perf_counter()
                try:
                    outcomes = played(path, there[name], episodes)
                except NotInstalled as error:
                    console.print(f"{name} is left out: {error}", highlight=False)
                    continue
                figures |= figures_of(model, name, outcomes, first.get(name, ()))
                first.setdefault(name, outcomes)
                reports[name] = EvaluationReport({}, outcomes, time.perf_counter() - began)
            console.print(model)
            console.print(environment_table(reports))
    return figures


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--models", nargs="*", default=[], help="NAME=RUN, beside the starter")
    options.add_argument("--episodes", type=int, default=100, help="of each environment")
    options.add_argument("--only", nargs="+", default=["phone", "adb", "quick", "pages"])
    chosen = options.parse_args()
    models = {"starter": "starter", **dict(each.split("=", 1) for each in chosen.models)}
    found = measure(models, chosen.only, chosen.episodes)
    print(write_results("devices", found, make_command("bench-devices")))


if __name__ == "__main__":
    main()
