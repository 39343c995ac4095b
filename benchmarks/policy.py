"""Measure the decisions per second of a policy (`make bench-policy`).

On a CPU: the starter model for 1, 8 and 32 phones at a time, on screens of real tasks, and the
difference between the log-probabilities of sampling and of training in float32. On a GPU, in the
same run: the starter, and a Qwen2.5-VL of 3B sizes with random weights, each beside Hugging Face's
own `generate` called once for each phone; all answers have the same number of tokens (random
weights never end one). Without a GPU the figures of the last run with one are kept, with their
date. `gpu_limits` relates them to the GPU's limits; `--limits` does that alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.gpu_limits import count_operations, language_weights, limit_shares
from benchmarks.random_qwen import random_qwen
from benchmarks.results_file import RESULTS, update_results, write_results
from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.dialects import dialect_named
from distrl.agent.encoding_cache import EncodingCache
from distrl.agent.feature_cache import FeatureCache
from distrl.agent.loading import load_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.model_directory import OpenedModel
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.episodes.demonstrations import demonstrate
from distrl.records import Decision, Observation
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task, template_names

BATCHES = (1, 8, 32)
GPU_BATCHES = (64, 256)  # of the starter
QWEN_BATCHES = (1, 8, 32, 128)
ANSWER = 24  # tokens of every answer in that comparison: a short tool call
CONSOLE = Console()
Figures = dict[str, float]


def screens(count: int) -> list[Observation]:
    """Return observations from the middle of real demonstrations, each of another task."""
    device = SimulatedDevice("benchmark")
    found = []
    for number, template in islice(enumerate(cycle(template_names("test"))), count):
        trajectory = demonstrate(load_task(f"{template}/test/{number}")[0], device)
        step = len(trajectory.decisions) // 2
        past = tuple(decision.action for decision in trajectory.decisions[:step])
        screen = trajectory.screens[step]
        found.append(Observation(trajectory.task.instruction, screen, past))
    return found


def rate(work: Callable[[], object], decisions: int, seconds: float) -> float:
    """Return decisions a second: the median of the repetitions that fit, after one warm-up."""
    work()
    turns: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(turns) < 3:
        began = time.perf_counter()
        work()
        turns.append(time.perf_counter() - began)
    return decisions / statistics.median(turns)


def on_cpu(model: str, seconds: float) -> Figures:
    policy = load_policy(model, seed=0)
    observed = screens(max(BATCHES))
    figures = {
        f"cpu_decisions_per_s_b{n}": rate(lambda n=n: policy.decide(observed[:n]), n, seconds)  # type: ignore[misc]
        for n in BATCHES
    }
    return {**figures, "logprob_gap_f32": log_prob_gap(policy, observed[:8])}


def log_prob_gap(policy: VlmPolicy, observed: list[Observation]) -> float:
    """Return the largest difference of a token's log-probability between sampling and training."""
    return gap_of(policy, observed, policy.decide(observed))


@torch.no_grad()
def gap_of(policy: VlmPolicy, observed: list[Observation], decided: list[Decision]) -> float:
    scores = policy.score(observed, [decision.token_ids for decision in decided]).log_probs.cpu()
    return max(
        abs(float(scores[row, place]) - log_prob)
        for row, decision in enumerate(decided)
        for place, log_prob in enumerate(decision.log_probs)
    )


def on_gpu(model: str, seconds: float) -> Figures:
    observed = screens(max(GPU_BATCHES))
    figures = of_qwen(observed, seconds)
    torch.set_num_threads(8)  # for unpacking and copying screens
    starter = load_policy(model, device="cuda", weights="float32", seed=0)
    for n in (*BATCHES, *GPU_BATCHES):
        figures[f"gpu_decisions_per_s_starter_b{n}"] = rate(
            lambda n=n: starter.decide(observed[:n]),  # type: ignore[misc]
            n,
            seconds,
        )
    figures["gpu_logprob_gap_starter_f32"] = gap_between_batches(starter, observed)
    return figures


def of_qwen(observed: list[Observation], seconds: float) -> Figures:
    """Measure Qwen with changed adapters, then with a compiled vision tower."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as directory:
        opened = random_qwen(Path(directory), "cuda")
        qwen = adapted_qwen(opened, compile_vision=False)
        figures |= _beside_generate(qwen, observed, seconds, "qwen_3b")
        network: Any = qwen.network
        for block in network.model.visual.blocks:
            block.compile(dynamic=True)
        for n in (32, 128):
            name = f"gpu_decisions_per_s_qwen_3b_compiled_b{n}"
            figures[name] = rate(lambda n=n: anew(qwen, observed[:n]), n, seconds)  # type: ignore[misc]
    return figures


def adapted_qwen(opened: OpenedModel, **settings: Any) -> VlmPolicy:
    """Return a random Qwen whose adapters are not at their initial values."""
    sampling = SamplingSettings(max_new_tokens=ANSWER)
    chosen = VlmSettings(
        sampling=sampling, device="cuda", weights="bfloat16", lora=LoraSettings(), **settings
    )
    # this tokenizer would cut the system text into single bytes, far too many tokens
    silent = dataclasses.replace(dialect_named("qwen2_5_vl"), instructions="")
    policy = vlm_policy(opened, silent, chosen)
    with torch.no_grad():
        for parameter in policy.policy_parameters():
            parameter.add_(torch.randn_like(parameter) * 0.01)
    return policy


def anew(policy: VlmPolicy, observed: list[Observation]) -> list[Decision]:
    """Decide with an empty feature cache, as for screens that were never seen before."""
    policy.features = FeatureCache(policy.features.max_bytes)
    return policy.decide(observed)


def gap_between_batches(policy: VlmPolicy, observed: list[Observation]) -> float:
    """As `log_prob_gap`, for answers sampled in one batch and scored in batches of 7, uncached."""
    decided = policy.decide(observed)
    policy.encodings = EncodingCache(0)
    return max(
        gap_of(policy, observed[first : first + 7], decided[first : first + 7])
        for first in range(0, len(observed), 7)
    )


def _beside_generate(
    policy: VlmPolicy, observed: list[Observation], seconds: float, name: str
) -> Figures:
    figures: Figures = {}
    for n in QWEN_BATCHES:
        some = observed[:n]
        figures[f"gpu_decisions_per_s_{name}_b{n}"] = rate(
            lambda some=some: anew(policy, some),  # type: ignore[misc]
            n,
            seconds,
        )
    figures[f"gpu_generate_decisions_per_s_{name}"] = rate(
        lambda: _generate_one_by_one(policy, observed[:4]), 4, seconds
    )
    observed = observed[:32]
    prompts = [policy.prompter.write(each) for each in observed]
    building = rate(lambda: policy.builder.build(prompts), len(prompts), seconds / 2)
    figures[f"gpu_inputs_built_per_s_{name}"] = building
    figures[f"gpu_prefill_share_{name}_b32"] = _prefill_share(policy, observed)
    figures[f"logprob_gap_bf16_{name}"] = log_prob_gap(policy, observed)
    return figures


def _prefill_share(policy: VlmPolicy, observed: list[Observation]) -> float:
    """Return the share of the first token in the time of 32 decisions; the rest is decoding."""
    whole = policy.sampling
    full = rate(lambda: anew(policy, observed), 1, 1.0)
    policy.sampling = dataclasses.replace(whole, max_new_tokens=1)
    first = rate(lambda: anew(policy, observed), 1, 1.0)
    policy.sampling = whole
    return full / first


@torch.inference_mode()
def _generate_one_by_one(policy: VlmPolicy, observed: list[Observation]) -> None:
    network: Any = policy.network
    for each in observed:
        inputs = policy.builder.build([policy.prompter.write(each)])
        moved = {
            name: tensor.to(policy.device, network.dtype if tensor.is_floating_point() else None)
            for name, tensor in inputs.tensors.items()
        }
        network.generate(**moved, max_new_tokens=ANSWER, min_new_tokens=ANSWER, do_sample=True)


def earlier_gpu_figures() -> dict[str, Any]:
    """Return the figures that the last run with a GPU left in the results."""
    file = RESULTS / "policy.json"
    kept = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: value for name, value in kept.items() if "gpu" in name or "bf16" in name}


def limits(figures: dict[str, Any], model: str) -> Figures:
    """Relate the figures of a GPU to its limits."""
    operations = count_operations(load_policy(model, seed=0), screens(8))
    return limit_shares(figures, operations, language_weights(), ANSWER)


def show(figures: dict[str, Any]) -> None:
    table = Table(title="Decisions, each for one phone")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, f"{value:.3g}" if isinstance(value, float) else str(value))
    CONSOLE.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="starter")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each figure")
    parser.add_argument("--gpu-out", type=Path, help="measure the GPU only, and write it here")
    parser.add_argument("--gpu-from", type=Path, help="take the figures of such a file")
    parser.add_argument("--limits", action="store_true", help="measure nothing anew")
    given = parser.parse_args()
    if given.limits:
        computed = limits(earlier_gpu_figures(), given.model)
        show(computed)
        CONSOLE.print(f"written to {update_results('policy', computed, 'limits')}")
        return
    if given.gpu_out:
        gpu: dict[str, Any] = dict(on_gpu(given.model, given.seconds))
        gpu["gpu"] = torch.cuda.get_device_name()
        gpu["gpu_command"] = (
            f"python -m benchmarks.policy --gpu-out FILE --model {given.model} "
            f"--seconds {given.seconds:g}"
        )
        gpu["gpu_date"] = dt.datetime.now(dt.UTC).date().isoformat()
        gpu["gpu_torch"] = torch.__version__
        given.gpu_out.write_text(json.dumps(gpu, indent=2) + "\n", "utf-8")
        show(gpu)
        return
    gpu = earlier_gpu_figures()
    if given.gpu_from:
        gpu = json.loads(given.gpu_from.read_text("utf-8"))
    elif torch.cuda.is_available():
        gpu = dict(on_gpu(given.model, given.seconds))
    figures = {**on_cpu(given.model, given.seconds), **gpu, **limits(gpu, given.model)}
    show(figures)
    CONSOLE.print(f"written to {write_results('policy', figures)}")


if __name__ == "__main__":
    main()
