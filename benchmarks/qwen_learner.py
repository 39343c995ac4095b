"""Measure a learner step of Qwen2.5-VL-3B against the limits of a GPU. Needs a GPU.

    python -m benchmarks.qwen_learner --out FILE

A Qwen2.5-VL of the published 3B sizes with random weights and LoRA learns from trajectories of real
screens whose answers are 24 tokens, as in `benchmarks.policy`. Whole `Learner.step`s are timed. The
useful arithmetic of a turn of L tokens is 4·P·L (2·P·L forward, 2·P·L back to the adapters, P with
the vision tower, whose features are cached), given as a share of 790 TFLOP/s. Measured: a batch
that one forward pass does (4 trajectories), one that is scored first (16), and with `--old
DIRECTORY`, a checkout of the code before, that code with a batch of 4 in a process of its own. The
figures go into `learner.json`, on another machine with `--gpu-from FILE`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import time
from collections import deque
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from benchmarks.learner import learner_for, of_old_tree
from benchmarks.random_qwen import random_qwen
from benchmarks.results_file import update_results
from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.dialects import dialect_named
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.episodes.demonstrations import demonstrate
from distrl.learning.learner_report import LearnerReport
from distrl.records import Trajectory
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task, template_names

ANSWER = 24  # tokens
PEAK = 790e12  # FLOP/s that an H200 sustains in bfloat16, dense
BATCHES = {"qwen_3b": 4, "qwen_3b_scored_first": 16}


def made_up(count: int, vocabulary: int) -> list[Trajectory]:
    """Return demonstrations of training tasks with random answers of one length."""
    device, draws = SimulatedDevice("benchmark"), torch.Generator().manual_seed(0)
    found = []
    for number, template in islice(enumerate(cycle(template_names("train"))), count):
        trajectory = demonstrate(load_task(f"{template}/train/{number}")[0], device)
        decisions = tuple(
            dataclasses.replace(
                each,
                token_ids=tuple(torch.randint(vocabulary, (ANSWER,), generator=draws).tolist()),
                log_probs=(-7.6,) * ANSWER,
            )
            for each in trajectory.decisions
        )
        found.append(dataclasses.replace(trajectory, decisions=decisions, id=str(number)))
    return found


def measure(batch: int, micro: int, updates: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        opened = random_qwen(Path(directory), "cuda")
        settings = VlmSettings(
            sampling=SamplingSettings(max_new_tokens=ANSWER),
            device="cuda",
            weights="bfloat16",
            lora=LoraSettings(),
            cache_megabytes=8192,
        )
        silent = dataclasses.replace(dialect_named("qwen2_5_vl"), instructions="")
        policy = vlm_policy(opened, silent, settings)
        return _timed(policy, made_up(batch, 2000), batch, micro, updates)


def _timed(
    policy: VlmPolicy, corpus: list[Trajectory], batch: int, micro: int, updates: int
) -> dict[str, float]:
    """Time updates on the same trajectories, as a replay that fits the cache would give them."""
    learner = learner_for(policy, batch, micro)
    incoming: Any = learner.incoming
    assert isinstance(incoming, deque)
    turns, seconds, tokens = 0, 0.0, 0
    for number in range(updates + 2):
        incoming.extend(dataclasses.replace(each, id=f"{number}/{each.id}") for each in corpus)
        before = policy.training_tokens
        torch.cuda.synchronize()
        begin = time.perf_counter()
        report = learner.step()
        torch.cuda.synchronize()
        if isinstance(report, LearnerReport) and number > 1:  # the first ones warm up
            seconds += time.perf_counter() - begin
            turns, tokens = turns + report.turns, tokens + policy.training_tokens - before
    useful = 4.0 * policy.parameter_count * tokens
    return {
        "turns_per_s": turns / seconds,
        "turns": turns / updates,
        "tokens_per_turn": tokens / turns,
        "peak_share": useful / seconds / PEAK,
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--micro", type=int, default=16, help="turns at once")
    parser.add_argument("--updates", type=int, default=4)
    parser.add_argument("--only", type=int, help="trajectories in a batch; prints JSON")
    parser.add_argument("--old", type=Path, help="a checkout of the code before")
    parser.add_argument("--out", type=Path, help="write the figures here and not to the results")
    parser.add_argument("--gpu-from", type=Path, help="take the figures of such a file")
    given = parser.parse_args()
    if given.gpu_from:
        update_results("learner", json.loads(given.gpu_from.read_text("utf-8")), "gpu_qwen_3b")
        return
    if given.only:
        print(json.dumps(measure(given.only, given.micro, given.updates)))
        return
    figures: dict[str, float] = {}
    for name, batch in BATCHES.items():
        found = measure(batch, given.micro, given.updates)
        figures |= {f"gpu_learner_{figure}_{name}": value for figure, value in found.items()}
        torch.cuda.empty_cache()
        print(json.dumps(figures, indent=2), flush=True)
    figures["gpu_peak_share_qwen_3b"] = figures.pop("gpu_learner_peak_share_qwen_3b")
    if given.old:
        old = of_old_tree(given.old, ["--only=4", "--micro=8"], __file__)
        figures |= {f"gpu_learner_{figure}_qwen_3b_old": value for figure, value in old.items()}
    print(json.dumps(figures, indent=2))
    if given.out:
        given.out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    else:
        update_results("learner", figures, "gpu_qwen_3b")


if __name__ == "__main__":
    main()
