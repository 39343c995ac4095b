"""A real pretrained language model in the circle: SmolLM2-135M, before and after teaching.

    make bench-smollm ARGS="teach --model DIR --out DIR --device cuda --minutes 9"
    make bench-smollm ARGS="reward --model DIR --out DIR --device cuda --minutes 9 --seed 0"
    make bench-smollm ARGS="measure --model DIR --name taught --device cuda"

Each part takes at most ten minutes of a GPU and adds its figures to `results/smollm.json`; `teach`
goes on from a directory that it wrote before. Model directories are made by `distrl model get
smollm2`. `measure` plays unseen tasks of the splits in `SPLITS`, under the name that it is given
(`zero_shot`, `taught`, `rewarded_seed0`, `starter`), and keeps every outcome beside the figures.

    NAME_SPLIT[_low|_high|_episodes]   success, its 95 % interval, how many tasks
    teach_minutes, teach_tokens, teach_validation, teach_lora_rank
    reward_seedN_minutes, …_updates, …_logprob_gap
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.results_file import update_results
from distrl.cli.imitate import teach_and_show
from distrl.imitation.cloning import settings_for
from distrl.runs.metrics import read_points

SPLITS = ("test", "held_out_templates", "held_out_apps")
METRICS = "metrics.jsonl"
DISTRL = [sys.executable, "-c", "from distrl.cli.main import main; main()"]


def teach(given: argparse.Namespace) -> dict[str, float]:
    """Behaviour cloning for so many minutes; the model or its adapters go to --out."""
    settings = replace(
        settings_for(given.device, os.cpu_count() or 1),
        steps=given.steps,
        batch=given.batch,
        learning_rate=given.learning_rate,
        validate_every=max(1, given.steps // 8),
        seed=given.seed,
    )
    lora = given.lora_rank or None
    [*_, last] = teach_and_show(
        Console(), given.model, settings, given.out, given.device, lora, given.sees
    )
    return {
        "teach_minutes": last.seconds / 60,
        "teach_tokens": last.tokens,
        "teach_steps": last.step,
        "teach_validation": last.validation or 0.0,
        "teach_lora_rank": given.lora_rank,
    }


def reward(given: argparse.Namespace) -> dict[str, float]:
    """`distrl train` from a taught model, on templates that nobody demonstrated."""
    words = {
        "run.directory": given.out.parent,
        "run.name": given.out.name,
        "run.minutes": given.minutes,
        "run.seed": given.seed,
        "agent.model": given.model,
        "agent.policy.device": given.device,
        "agent.policy.sampling.max_new_tokens": 32,
        "agent.policy.lora.rank": given.lora_rank or 16,
        "tasks.split": "undemonstrated",
        "evaluation.split": "undemonstrated_test",
        "evaluation.before": given.episodes,
        "evaluation.after": given.episodes,
    }
    settings = [part for name, value in words.items() for part in ("--set", f"{name}={value}")]
    started = time.monotonic()
    subprocess.run([*DISTRL, "train", *settings], check=True)
    minutes = (time.monotonic() - started) / 60
    run = max(given.out.parent.glob(f"*{given.out.name}*"), key=lambda path: path.stat().st_mtime)
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    watched = (point.figures.get("watch/logprob_gap") for point in read_points(run / METRICS))
    gaps = [gap for gap in watched if gap is not None]
    name = f"reward_seed{given.seed}"
    figures = {f"{name}_minutes": minutes, f"{name}_logprob_gap": max(gaps, default=0.0)}
    return figures | {
        f"{name}_{key}": value for key, value in result.items() if isinstance(value, int | float)
    }


def measure(given: argparse.Namespace) -> dict[str, float]:
    """Success on unseen tasks of every split."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for split in given.splits.split(","):
            file = Path(folder) / f"{split}.json"
            words = [given.model, "--split", split, f"--{given.way}", "--device", given.device]
            words += ["--episodes", str(given.episodes), "--json", str(file)]
            subprocess.run([*DISTRL, "evaluate", *words], check=True)
            found: dict[str, Any] = json.loads(file.read_text("utf-8"))
            name = f"{given.name}_{split}"
            figures[name] = found["success"]
            figures |= {f"{name}_{key}": found[key] for key in ("low", "high", "episodes")}
    return figures


PARTS = {"teach": teach, "reward": reward, "measure": measure}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--model", required=True, help="a directory, or starter")
    parser.add_argument("--out", type=Path, help="directory for what was learned")
    parser.add_argument("--name", default="taught", help="of what is measured")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=3000, help="of teaching")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--lora-rank", type=int, default=0, help="0: all weights")
    parser.add_argument("--sees", choices=("elements", "both"), help="while it is taught")
    parser.add_argument("--minutes", type=float, default=9.0, help="of training by reward")
    parser.add_argument("--episodes", type=int, default=217, help="of each split")
    parser.add_argument("--splits", default=",".join(SPLITS))
    parser.add_argument("--way", choices=("greedy", "sampled"), default="greedy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dry", action="store_true", help="print the figures, keep none")
    given = parser.parse_args()
    if given.part != "measure" and given.out is None:
        parser.error(f"{given.part} needs --out")
    figures = PARTS[given.part](given)
    print(json.dumps(figures, indent=1))
    if not given.dry:
        update_results("smollm", figures, f"{given.part}_{given.name}")


if __name__ == "__main__":
    main()
