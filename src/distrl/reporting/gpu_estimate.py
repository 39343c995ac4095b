"""Estimate a run's GPU memory before it starts: the same numbers for `doctor`, `plan` and `train`.

The learner, the policy process and an evaluation beside training each hold the model on the first
GPU. Those that decide with adapters hold the adapted layers twice: once with the adapters merged.
Activations are those of the learner's first micro-batch. Later micro-batches grow into the free
memory, so more memory makes a run faster, and the sum is the minimum that it needs. `checkpoints`
resolves `agent.policy.gradient_checkpointing=auto`, here and in the learner.
The estimate is computed and errs upwards. One figure was measured: 79 GiB for 25 turns of 761
tokens without gradient checkpointing (`gpu_learner_peak_gib_qwen_3b` of
benchmarks/results/learner.json), which is 2.9 GiB for a turn of 3.75 billion weights.
"""

from __future__ import annotations

from distrl.config.training_config import TrainingConfig
from distrl.learning.activation_memory import FIRST_TURNS
from distrl.reporting.model_size import WIDTHS, trains_adapters, weight_count

MERGED_SHARE = 0.8  # of the weights: the language model's layers, without embeddings and vision
ADAPTER_SHARE = 0.03  # of the weights: generous for common ranks
TRAINED_COPIES = 3  # gradients and two moments, beside the weights
TURN_BYTES = 0.83  # of activations, for each weight and turn
CHECKPOINTED_SHARE = 0.1  # of those, with gradient checkpointing: computed, not measured
DECIDING_BYTES = 0.025  # for each weight and phone: keys and values, and a prompt's activations
EVALUATION_PHONES = 16  # at once
CUDA_BYTES = 2**29  # for each process: context and kernels


def checkpoints(config: TrainingConfig, free: int | None) -> bool:
    """Return whether the learner uses gradient checkpointing; `free`: GPU bytes before the run.

    `auto` uses it if the run would not fit otherwise. If no GPU is known (`free` is None), it is
    assumed, so that an estimate is the minimum that the run needs.
    """
    chosen = config.agent.policy.gradient_checkpointing
    if chosen != "auto":
        return chosen == "on"
    parts = _parts(config, checkpointed=False)
    return bool(parts) and (free is None or sum(parts.values()) > free)


def estimate_gpu_memory(config: TrainingConfig, free: int | None = None) -> dict[str, int]:
    """Return the bytes needed on the learner's first GPU by purpose; `free`: bytes not in use yet.

    Empty if the size of the model is not known, or if it does not compute on a GPU.
    """
    return _parts(config, checkpointed=checkpoints(config, free))


def _parts(config: TrainingConfig, *, checkpointed: bool) -> dict[str, int]:
    count = weight_count(config.agent.model)
    if count is None or not config.agent.policy.device.startswith("cuda"):
        return {}
    adapters = trains_adapters(config)
    weights = count * WIDTHS.get(config.agent.policy.weights, 4)
    deciding = _deciding(config)
    processes = 1 if config.collection.mode == "one_process" else 1 + len(deciding)
    merged = round(MERGED_SHARE * weights) * len(deciding) if adapters else 0
    trained = (
        ADAPTER_SHARE * weights * (1 + TRAINED_COPIES) if adapters else TRAINED_COPIES * weights
    )
    turns = min(FIRST_TURNS, config.learning.step.micro_batch_turns)
    kept = CHECKPOINTED_SHARE if checkpointed else 1.0
    parts = {
        f"weights in {processes} process{'es' if processes > 1 else ''}": processes * weights,
        "layers with merged adapters": merged,
        "adapters and optimiser" if adapters else "gradients and optimiser": round(trained),
        f"activations of {turns} turn{'s' if turns > 1 else ''}"
        f"{', checkpointed' if checkpointed else ''}": round(turns * kept * TURN_BYTES * count),
        f"deciding for {sum(deciding)} phones": round(sum(deciding) * DECIDING_BYTES * count),
        "features of known screens": processes * config.agent.policy.cache_megabytes * 2**20,
        "CUDA itself": processes * CUDA_BYTES,
    }
    return {name: size for name, size in parts.items() if size}


def least_gpu_memory(config: TrainingConfig) -> int:
    """Return the bytes that the learner needs to start at all: weights, gradients, optimiser."""
    count = weight_count(config.agent.model) or 0
    weights = count * WIDTHS.get(config.agent.policy.weights, 4)
    return weights if trains_adapters(config) else (1 + TRAINED_COPIES) * weights


def gpu_advice(config: TrainingConfig) -> str:
    """Return advice on how the run could need less GPU memory."""
    if not trains_adapters(config):
        return "train adapters (agent.policy.lora.rank=16), or take a smaller model"
    fewer = "lower devices.count and learning.step.micro_batch_turns, or take a smaller model"
    if _evaluates_aside(config):
        return f"give evaluation.before=0 and evaluation.every_minutes=none, {fewer}"
    return (
        fewer
        if config.agent.policy.weights == "bfloat16"
        else (f"give agent.policy.weights=bfloat16, {fewer}")
    )


def _deciding(config: TrainingConfig) -> list[int]:
    """Return, for each policy that shares the learner's GPU, how many phones it decides for."""
    if config.learning.learner.mode == "offline":
        return []
    found: list[int] = []
    if config.engine.kind == "local" and not config.agent.server:
        alone = config.one_policy_per_node or config.collection.mode == "one_process"
        found = [config.device_count] if alone else _each_collector(config)
    return [*found, EVALUATION_PHONES] if _evaluates_aside(config) else found


def _each_collector(config: TrainingConfig) -> list[int]:
    """Return the phones of each collector: the maximum over the collectors of its environment."""
    collectors = (config.of_collector(number)[0] for number in range(config.collector_count))
    return [each.devices_per_collector for each in collectors]


def _evaluates_aside(config: TrainingConfig) -> bool:
    """Return whether a separate process evaluates while the others train."""
    if config.engine.kind != "local" or config.collection.mode == "one_process":
        return False
    if config.learning.learner.mode == "offline":
        return False
    return bool(config.evaluation.before or config.evaluation.every_minutes is not None)
