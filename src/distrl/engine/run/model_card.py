"""The model card of a trained policy: `policy/README.md`, in the Hugging Face Hub's format.

It names the base model, and says how the weights were trained and measured: with intervals and on
which tasks, or that they were not measured.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from distrl.agent.export_directory import MANIFEST
from distrl.config.training_config import TrainingConfig
from distrl.engine.run.run_card import RunCard
from distrl.reporting.live_view import duration, gain_words, rate_words
from distrl.runs.run_directory import RunDirectory, evaluation_words, write_whole
from distrl.runs.run_records import RunResult

HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
FILE = "README.md"


def write_model_card(run: RunDirectory, config: TrainingConfig, result: RunResult) -> None:
    """Write the card beside the weights; do nothing if no policy was exported."""
    if (run.policy / MANIFEST).is_file():
        write_whole(run.policy / FILE, model_card(run, config, result))


def model_card(run: RunDirectory, config: TrainingConfig, result: RunResult) -> str:
    manifest = json.loads((run.policy / MANIFEST).read_text("utf-8"))
    parts = (
        _front_matter(manifest["kind"], config.agent.model),
        f"# {run.path.name}\n\n{_what(manifest['kind'], config)}",
        f"## How it was measured\n\n{_measured(run, config, result)}",
        f"## How it was trained\n\n{_trained(run, config, result)}",
        _use(run, config),
    )
    return "\n\n".join(parts) + "\n"


def _front_matter(kind: str, model: str) -> str:
    library = "peft" if kind == "adapters" else "transformers"
    known = HUB_ID.fullmatch(model) and not Path(model).exists()
    base = [f"base_model: {model}"] if known else []
    tags = ["tags:", "- distrl", "- reinforcement-learning", "- gui-agents"]
    return "\n".join(["---", f"library_name: {library}", *base, *tags, "---"])


def _what(kind: str, config: TrainingConfig) -> str:
    lora = config.agent.policy.lora
    what = (
        f"LoRA adapters (rank {lora.rank}) for" if kind == "adapters" and lora else "Trained from"
    )
    return (
        f"{what} `{config.agent.model}`: an agent that operates phones, trained by reinforcement "
        "learning with DistRL. `policy.json` has checksums and the base model's fingerprint."
    )


def _measured(run: RunDirectory, config: TrainingConfig, result: RunResult) -> str:
    if not result.success_after.episodes:
        return (
            "It was not measured by the run that trained it. To measure it: "
            f"`{evaluation_words(run, config)}`"
        )
    chosen = "the likeliest answers" if config.evaluation.greedy else "sampled answers"
    rows = [
        "| | success, 95 % interval | episodes |",
        "|---|---|---|",
        f"| before | {rate_words(result.success_before)} | {result.success_before.episodes} |",
        f"| after | {rate_words(result.success_after)} | {result.success_after.episodes} |",
    ]
    for name, each in result.success_by_environment.items():
        rows += [
            f"| {name}, before | {rate_words(each.before)} | {each.before.episodes} |",
            f"| {name}, after | {rate_words(each.after)} | {each.after.episodes} |",
        ]
    gain = ""
    if result.gain.tasks:
        gain = f"\n\nGain: {gain_words(result.gain, weights_moved=result.weights_moved)}."
    seen = "which training never saw" if config.measures_unseen else "which training played too"
    played = "\n".join(_tasks_played(each, seen) for each in config.measured().values())
    return f"{played}, {chosen}; one run, seed {result.seed}.\n\n" + "\n".join(rows) + gain


def _tasks_played(config: TrainingConfig, seen: str) -> str:
    """The tasks of one environment, and where they were played."""
    tasks, where = config.tasks, f"{config.environment}: " if config.environment else ""
    kinds = f"families {', '.join(tasks.families)}; " if tasks.source == "simulated" else ""
    on = "web pages, judged by themselves"
    if tasks.source == "simulated":
        on = "simulated phones, judged by facts"
    return (
        f"{where}Tasks of the split `{config.evaluation.split}`, {seen} ({kinds}"
        f"templates {', '.join(tasks.templates) or 'all'}), on {on}"
    )


def _trained(run: RunDirectory, config: TrainingConfig, result: RunResult) -> str:
    card = RunCard.read(run)
    state = {True: "", False: ", with changes", None: ""}[card.clean]
    packages = ", ".join(f"{name} {version}" for name, version in card.packages.items())
    facts = {
        "algorithm": config.learning.algorithm,
        "phones": config.device_words,
        "judge": ", ".join(
            dict.fromkeys(each.judge.kind for each in config.by_environment().values())
        ),
        "data": f"{result.trajectories} trajectories, {result.updates} updates",
        "time": f"{duration(result.training_s)} of training",
        "DistRL": f"{card.version}"
        + (f", commit {card.commit[:12]}{state}" if card.commit else ""),
        "packages": packages,
    }
    rows = [f"| {name} | {value} |" for name, value in facts.items()]
    return "\n".join(
        ["| | |", "|---|---|", *rows, "", "`config.toml` of the run has every setting."]
    )


def _use(run: RunDirectory, config: TrainingConfig) -> str:
    return f"""## How to use it

```python
from distrl.agent.loading import load_policy

policy = load_policy("{run.policy}", device="{config.agent.policy.device}")
```

or `distrl evaluate FOLDER`."""
