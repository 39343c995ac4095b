"""What a run needs on a GPU, before it starts: the same numbers for `doctor`, `plan` and `train`.

The learner, the policy process and an evaluation beside training each hold the model on the first
GPU. Those that decide with adapters hold the adapted layers twice: once with the adapters merged.
Activations are those of the learner's first micro-batch: later ones are as large as the memory that
is free allows, so that more memory makes a run faster, and the sum is what it needs at least.
`checkpoints` is what `agent.policy.gradient_checkpointing=auto` comes to, here and in the learner.
It is computed and errs upwards; one figure was measured: 79 GiB for 25 turns of 761 tokens without
gradient checkpointing (`gpu_learner_peak_gib_qwen_3b` of benchmarks/results/learner.json), which is
2.9 GiB for a turn of 3.75 billion weights.
"""

from __future__ import annotations

from distrl.config.training_config import TrainingConfig
from distrl.learning.activation_memory import FIRST_TURNS
from distrl.reporting.model_size import WIDTHS, trains_adapters, weight_count

MERGED_SHARE = 0.8  # of the weights: the language model's layers, without embeddings and vision
ADAPTER_SHARE = 0.03  # of the weights: generous for the ranks that people use
TRAINED_COPIES = 3  # gradients and two moments, beside the weights
TURN_BYTES = 0.83  # of activations, for each weight and turn
CHECKPOINTED_SHARE = 0.1  # of those, with gradient checkpointing: computed, not measured
DECIDING_BYTES = 0.025  # for each weight and phone: keys and values, and a prompt's activations
EVALUATION_PHONES = 16  # at once
CUDA_BYTES = 2**29  # for each process: context and kernels


def checkpoints(config: TrainingConfig, free: int | None) -> bool:
    """Does the learner go forward twice to save memory, on a GPU with `free` bytes before the run?

    `auto`: where all that the run holds there would not fit otherwise. Where no GPU is known that
    is taken for granted, so that an estimate says what the run needs at least.
    """
    chosen = config.agent.policy.gradient_checkpointing
    if chosen != "auto":
        return chosen == "on"
    parts = _parts(config, checkpointed=False)
    return bool(parts) and (free is None or sum(parts.values()) > free)


def estimate_gpu_memory(config: TrainingConfig, free: int | None = None) -> dict[str, int]:
    """Bytes on the learner's first GPU, of which `free` are not in use yet, by what they are for.

    None where the size of the model is not known, or where it computes elsewhere.
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
    """Bytes without which the learner cannot even begin: weights, gradients, optimiser."""
    count = weight_count(config.agent.model) or 0
    weights = count * WIDTHS.get(config.agent.policy.weights, 4)
    return weights if trains_adapters(config) else (1 + TRAINED_COPIES) * weights


def gpu_advice(config: TrainingConfig) -> str:
    """How the run would want less of a GPU."""
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
    """For how many phones each of those decides that share the learner's GPU."""
    if config.learning.learner.mode == "offline":
        return []
    found: list[int] = []
    if config.engine.kind == "local" and not config.agent.server:
        alone = config.one_policy_per_node or config.collection.mode == "one_process"
        found = [config.device_count] if alone else _each_collector(config)
    return [*found, EVALUATION_PHONES] if _evaluates_aside(config) else found


def _each_collector(config: TrainingConfig) -> list[int]:
    """Phones of each; the most that one of its environment has."""
    collectors = (config.of_collector(number)[0] for number in range(config.collector_count))
    return [each.devices_per_collector for each in collectors]


def _evaluates_aside(config: TrainingConfig) -> bool:
    """Does a process of its own evaluate while the others train?"""
    if config.engine.kind != "local" or config.collection.mode == "one_process":
        return False
    if config.learning.learner.mode == "offline":
        return False
    return bool(config.evaluation.before or config.evaluation.every_minutes is not None)
