"""What one may type after a run, ready to be copied: to play what was trained, and to go on."""

from __future__ import annotations

import shlex

from distrl.config.training_config import TrainingConfig
from distrl.runs.run_directory import RunDirectory


def evaluation_words(run: RunDirectory, config: TrainingConfig) -> str:
    """The command that plays what was trained, on unseen tasks of the kind it was trained on."""
    words = ["distrl", "evaluate", str(run.path), "--split", config.evaluation.split]
    if len(config.tasks.families) == 1:
        words += ["--family", config.tasks.families[0]]
    if config.tasks.templates:
        for name in config.tasks.template_names:
            words += ["--template", name]
    words += ["--greedy" if config.evaluation.greedy else "--sampled"]
    return shlex.join(words)


def resume_words(run: RunDirectory, config: TrainingConfig) -> str:
    """The command that goes on with a run: where it was stopped, or for as long again."""
    words = ["distrl", "train", "--resume", str(run.path)]
    if run.result.exists():
        for name in ("minutes", "trajectories", "updates"):
            if limit := getattr(config.run, name):
                words += ["--set", f"run.{name}={2 * limit:g}"]
    return shlex.join(words)
