"""`distrl evaluate MODEL --on SETTINGS`: measure one model in other environments, side by side.

An environment is the tasks, devices and judge of a settings file; a file with several environments
gets a row for each.
"""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from distrl.errors import UsageError
from distrl.reporting.evaluation_report import EvaluationReport
from distrl.reporting.progress import EvaluationProgress

if TYPE_CHECKING:
    from distrl.cli.evaluate import Evaluation


def evaluate_on(
    console: Console, evaluation: Evaluation, on: Sequence[str], *, one_split: bool
) -> None:
    """Play the same number of tasks in each environment, and print the results side by side.

    `one_split`: use the evaluation's split everywhere, not the one each environment evaluates on.
    """
    from distrl.config.training_config import load_config
    from distrl.engine.environment import check_judged, play_environment
    from distrl.episodes.outcome import outcome_of
    from distrl.reporting.evaluation_report import environment_table
    from distrl.runs.run_directory import write_whole

    if evaluation.resume or evaluation.keep or evaluation.task_set or evaluation.result:
        raise UsageError(
            "--on keeps no episodes, cannot be resumed and has no task set or result file; leave "
            "those options out"
        )
    evaluation.prepare_files()
    environments = {
        f"{given}/{name}" if name else given: config
        for given in dict.fromkeys(on)
        for name, config in load_config(Path(given)).by_environment().items()
    }
    for config in environments.values():
        check_judged(config)
    reports: dict[str, EvaluationReport] = {}
    check_sizes = evaluation.check_sizes(lambda words: console.print(words, highlight=False))
    with evaluation.policy_for() as policy_for:
        for name, config in environments.items():
            started = time.perf_counter()
            split = evaluation.split if one_split else config.evaluation.split
            with EvaluationProgress(console, evaluation.episodes) as progress:
                outcomes = []
                for trajectory in play_environment(
                    config, policy_for, evaluation.episodes, evaluation.seed, split, check_sizes
                ):
                    outcomes.append(outcome_of(trajectory))
                    progress.count(outcomes[-1])
            settings = evaluation.settings() | {"environment": name, "split": split}
            reports[name] = EvaluationReport(settings, outcomes, time.perf_counter() - started)
            if len(environments) == 1:
                console.print(reports[name].shown())
    if len(environments) > 1:
        stems = [Path(name).stem for name in reports]
        names = stems if len(set(stems)) == len(stems) else list(reports)
        console.print(environment_table(dict(zip(names, reports.values(), strict=True))))
    if evaluation.figures:
        figures = {name: report.figures() for name, report in reports.items()}
        write_whole(evaluation.figures, json_format.dumps(figures, indent=2) + "\n")
