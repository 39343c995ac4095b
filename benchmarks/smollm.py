"""SmolLM2-135M, a real pretrained language model, before and after teaching and reward.

    make bench-smollm ARGS="teach --model DIR --out DIR --device cuda --minutes 8"
    make bench-smollm ARGS="reward --model DIR --out DIR --device cuda --minutes 5.5 --seeds 0 1 2"
    make bench-smollm ARGS="measure --models zero_shot=DIR taught=DIR starter=starter --device cuda"
    make bench-smollm ARGS="add --from FILE FILE"

Each part takes at most ten minutes of a GPU and adds its figures to `results/smollm.json`; with
`--json` it writes them to a file instead, which `add` merges on another machine. The first model is
made by `distrl model get smollm2`. `teach` trains on demonstrations for `--minutes` (all weights,
or adapters with `--lora-rank`). `reward` runs `distrl train` for several seeds at once, with
adapters on the taught model, on templates that nobody demonstrated. `measure` plays unseen tasks of
the splits in `SPLITS` with each model, with the evaluations in parallel.

`--two-cores` is a small form without a GPU, for a processor with AVX512-BF16 (on another one,
`--precision full`, at a quarter of the speed): `teach` uses `TAUGHT`, the 24 General templates
whose demonstrations have the fewest tokens, and `reward` uses `UNSHOWN`, the six undemonstrated
templates with the fewest. Seeds run one after the other.

    NAME_SPLIT[_low|_high|_episodes]   success, its 95 % interval, how many tasks
    teach_minutes, …_steps, …_tokens, …_validation, …_waited_share, …_lora_rank
    reward_seed_N_before, …_after, …_gain[_low|_high]   on the same tasks; 95 % of the difference
    reward_seed_N_updates, …_trajectories, …_training_s, …_logprob_gap
    reward_gain[_low|_high], reward_seeds   the mean over seeds (Student's t)
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.gpu_run import gpu_words
from benchmarks.paper_figures import spread
from benchmarks.paper_runs import result_of
from benchmarks.results_file import make_command, update_results, write_figures
from benchmarks.starter import EVALUATE
from benchmarks.train_runs import start_run
from distrl.cli.imitate import teach_and_show
from distrl.imitation.cloning import CloningSettings, settings_for
from distrl.process_environment import for_forkserver
from distrl.runs.metrics import read_points

Figures = dict[str, float]
SPLITS = ("test", "held_out_templates", "held_out_apps", "paraphrased", "other_words")
REWARD: dict[str, object] = {  # for three runs that share a GPU and 16 cores
    "tasks.families": '["general", "shopping"]',
    "tasks.split": "undemonstrated",
    "tasks.curriculum": "success_rate",
    "devices.count": 64,
    "collection.collectors": 3,
    "engine.policy": "node",
    "agent.policy.sampling.max_new_tokens": 32,
    "replay.capacity": 2000,
    "pacing.samples_per_insert": 4,
    "pacing.minimum_fill": 96,
    "learning.learner.batch_trajectories": 32,
    "learning.learner.updates_per_publish": 2,
    "learning.learner.warm_up_updates": 10,
    "learning.learner.refresh_trajectories": 4,
    "learning.learner.staleness.at_start": 24,
    "learning.learner.staleness.at_arrival": 96,
    "learning.step.critic_learning_rate": 1e-3,
    "learning.step.micro_batch_turns": 128,
    "learning.a_ride.advantage": "filtered",  # signed advantages collapsed on all 41 templates
    "evaluation.split": "undemonstrated_test",
}
TAUGHT = (  # for `--two-cores`, by number of tokens: 512 to 692 without the system prompt
    "settings.ask_network", "calculator.ask_history", "clock.resume_timer", "settings.ask_identity",
    "settings.quick_off", "contacts.ask_number", "settings.ask_battery", "clock.ask_difference",
    "settings.quick_on", "gallery.ask_date", "settings.brightness", "todo.ask_due",
    "maps.best_rated", "contacts.ask_email", "messages.ask_text", "gallery.ask_place",
    "messages.ask_time", "music.count_songs", "notes.pin", "settings.wallpaper",
    "messages.ask_code", "store.app_rating", "gallery.favourite", "settings.accent",
)  # fmt: skip
UNSHOWN = (  # 535 to 684 tokens
    "clock.ask_time", "settings.ask_level", "store.best_app", "gallery.unfavourite",
    "contacts.ask_birthday", "messages.unarchive",
)  # fmt: skip
TEACH_TWO_CORES: dict[str, Any] = {
    "templates": TAUGHT,
    "batch": 16,
    "micro_batch": 2,  # padding costs more than small matrix products
    "pool": 512,
    "processes": 0,
    "warm_up": 20,
    "grounding": 0.0,
    "validation_set": 64,
    "validate_every": 50,
}
REWARD_TWO_CORES: dict[str, object] = {  # these replace some of REWARD
    "tasks.families": '["general"]',
    "tasks.templates": json.dumps(UNSHOWN),
    "devices.count": 8,
    "collection.collectors": 1,
    "engine.policy": "collector",
    "replay.capacity": 120,
    "pacing.samples_per_insert": 2,
    "pacing.minimum_fill": 16,
    "learning.threads": 1,
    "learning.learner.batch_trajectories": 8,
    "learning.learner.updates_per_publish": 1,
    "learning.learner.warm_up_updates": 2,
    "learning.learner.refresh_trajectories": 0,
    "learning.learner.staleness.at_start": 8,
    "learning.learner.staleness.at_arrival": 32,
    "learning.step.micro_batch_turns": 2,
}
ON_GPU: dict[str, object] = {
    "learning.learner.precision": "bf16",
    "agent.policy.gradient_checkpointing": "on",  # three runs share the memory
}


def teach(given: argparse.Namespace) -> Figures:
    """Run behaviour cloning for `--minutes`; write the model or its adapters to --out."""
    base = settings_for(given.device, os.cpu_count() or 1)
    if given.two_cores:
        base = replace(base, steps=CloningSettings().steps, **TEACH_TWO_CORES)
    settings = replace(
        base,
        steps=given.steps or base.steps,
        minutes=given.minutes,
        batch=given.batch or base.batch,
        processes=base.processes if given.processes is None else given.processes,
        learning_rate=given.learning_rate,
        precision=given.precision or base.precision,
        seed=given.seeds[0],
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
        "teach_waited_share": last.waited / last.seconds,
        "teach_lora_rank": given.lora_rank,
    }


def reward(given: argparse.Namespace) -> Figures:
    """Run `distrl train` from a taught model, on undemonstrated templates, for every seed."""
    with ThreadPoolExecutor(1 if given.two_cores else len(given.seeds)) as side_by_side:
        runs = list(side_by_side.map(lambda seed: reward_run(seed, given), given.seeds))
    ended = [run for run in runs if run is not None]
    if not ended:
        raise SystemExit(f"no run has a result; their logs are in {given.out}")
    figures: Figures = {}
    for run in ended:
        figures |= figures_of(run)
    gains = [figure for name, figure in figures.items() if name.endswith("_gain")]
    return figures | spread("reward_gain", gains) | {"reward_seeds": len(gains)}


def reward_run(seed: int, given: argparse.Namespace) -> Path | None:
    """Return the directory of the seed's run, or None if it failed."""
    folder: Path = given.out / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        **REWARD,
        **(REWARD_TWO_CORES if given.two_cores else {}),
        **({} if given.device == "cpu" else ON_GPU),
        **({} if given.precision is None else {"learning.learner.precision": given.precision}),
        "run.directory": folder,
        "run.name": "smollm",
        "run.minutes": given.minutes,
        "run.seed": seed,
        "agent.model": given.model,
        "agent.policy.device": given.device,
        "agent.policy.lora.rank": given.lora_rank or 16,
        "learning.step.learning_rate": given.learning_rate,
        "evaluation.before": given.episodes,
        "evaluation.after": given.episodes,
        **dict(word.split("=", 1) for word in given.set),
    }
    code = start_run(settings, folder / "log").wait()
    print(f"{folder}: {'done' if code == 0 else f'ended with {code}, see its log'}", flush=True)
    return result_of(folder)


def figures_of(run: Path) -> Figures:
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    watched = (each.figures.get("watch/logprob_gap") for each in read_points(run / "metrics.jsonl"))
    gain, name = result["gain"], f"reward_seed_{result['seed']}"
    return {
        f"{name}_before": result["success_before"]["rate"],
        f"{name}_after": result["success_after"]["rate"],
        f"{name}_gain": gain["difference"],
        f"{name}_gain_low": gain["low"],
        f"{name}_gain_high": gain["high"],
        f"{name}_updates": result["updates"],
        f"{name}_trajectories": result["trajectories"],
        f"{name}_training_s": result["training_s"],
        f"{name}_logprob_gap": max((gap for gap in watched if gap is not None), default=0.0),
    }


def measure(given: argparse.Namespace) -> Figures:
    """Measure every model's success on unseen tasks of every split."""
    given.out.mkdir(parents=True, exist_ok=True)
    jobs = list(product(named(given.models).items(), given.splits.split(",")))
    with ThreadPoolExecutor(given.at_once) as side_by_side:
        found = side_by_side.map(lambda job: success(job[0], job[1], given), jobs)
        return {name: figure for figures in found for name, figure in figures.items()}


def success(named_model: tuple[str, str], split: str, given: argparse.Namespace) -> Figures:
    """Run one evaluation and return its figures; its output is kept beside its outcomes."""
    name, model = named_model
    file = given.out / f"{name}_{split}.json"
    run = result_of(Path(model))  # if the model is a folder of `reward`
    words = [str(run or model), "--split", split, f"--{given.way}", "--device", given.device]
    words += ["--episodes", str(given.episodes), "--phones", str(given.phones), "--json", str(file)]
    if given.two_cores:
        played = {"test": TAUGHT, "undemonstrated_test": UNSHOWN}.get(split, ())
        words += ["--family", "general", *(w for each in played for w in ("--template", each))]
    with file.with_suffix(".log").open("ab") as log:
        environment = for_forkserver(os.environ)
        done = subprocess.run([*EVALUATE, *words], stdout=log, stderr=log, env=environment)
    if done.returncode != 0:
        print(f"{file.with_suffix('.log')} says why it ended with {done.returncode}", flush=True)
        return {}
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    figures = {f"{name}_{split}": found["success"]}
    return figures | {f"{name}_{split}_{key}": found[key] for key in ("low", "high", "episodes")}


def named(models: list[str]) -> Mapping[str, str]:
    """Parse words such as taught=DIRECTORY into a mapping."""
    return dict(word.split("=", 1) for word in models)


def add(given: argparse.Namespace) -> None:
    """Merge figures that other parts wrote to files."""
    for file in given.files:
        kept: dict[str, Any] = json.loads(file.read_text("utf-8"))
        part = kept.pop("part")
        for name in ("command", "date", "gpu", "torch"):
            kept[f"{part}_{name}"] = kept.pop(name, "")
        for name in ("python", "processor"):
            kept.pop(name, None)
        print(update_results("smollm", kept, f"{part}_added"))


PARTS = {"teach": teach, "reward": reward, "measure": measure}


def arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("part", choices=[*PARTS, "add"])
    words.add_argument("--model", help="a directory, to teach or to reward")
    words.add_argument("--models", nargs="+", default=[], help="NAME=DIRECTORY, to measure")
    words.add_argument("--out", type=Path, help="folder for models, runs, outcomes and logs")
    words.add_argument("--device", default="cpu")
    words.add_argument("--two-cores", action="store_true", help="the small form, without a GPU")
    words.add_argument("--precision", choices=("full", "bf16"), help="of teaching and learning")
    words.add_argument("--trial", action="store_true", help="write no results")
    words.add_argument("--minutes", type=float, default=8.0, help="of teaching, or of a run")
    words.add_argument("--steps", type=int, help="of teaching, if they end before the minutes")
    words.add_argument("--batch", type=int, help="samples, of teaching")
    words.add_argument("--processes", type=int, help="that demonstrate")
    words.add_argument("--learning-rate", type=float, default=1e-4)
    words.add_argument("--lora-rank", type=int, default=0, help="0: teach all weights")
    words.add_argument("--sees", choices=("elements", "both"), help="while it is taught")
    words.add_argument("--seeds", type=int, nargs="+", default=[0])
    words.add_argument("--set", action="append", default=[], help="a setting of all runs, a.b=c")
    words.add_argument("--episodes", type=int, default=217, help="of each evaluation")
    words.add_argument("--phones", type=int, default=64, help="at once, of each measurement")
    words.add_argument("--splits", default=",".join(SPLITS))
    words.add_argument("--way", choices=("greedy", "sampled"), default="greedy")
    words.add_argument("--at-once", type=int, default=3, help="measurements side by side")
    words.add_argument("--json", type=Path, help="write the figures here, and keep no results")
    words.add_argument("--from", dest="files", type=Path, nargs="+", default=[])
    given = words.parse_args()
    if given.part != "add" and given.out is None:
        words.error(f"{given.part} needs --out")
    if given.part in ("teach", "reward") and given.model is None:
        words.error(f"{given.part} needs --model")
    return given


def main() -> None:
    given = arguments()
    if given.part == "add":
        add(given)
        return
    figures = PARTS[given.part](given)
    print(json.dumps(figures, indent=1))
    if given.json is not None:
        written = {"part": given.part, **figures, **gpu_words(given.device)}
        write_figures(given.json, written, make_command("bench-smollm"))
    elif not given.trial:
        update_results("smollm", figures, given.part)


if __name__ == "__main__":
    main()
