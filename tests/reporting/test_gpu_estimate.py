"""What a run needs on a GPU: every process's copy of the model, and what works beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.config.training_config import load_config
from distrl.engine.run.evaluator import DEVICES
from distrl.reporting.gpu_estimate import (
    EVALUATION_PHONES,
    checkpoints,
    estimate_gpu_memory,
    gpu_advice,
    least_gpu_memory,
)

GB = 2**30
ONE_GPU = Path("qwen2_5_vl_3b_one_gpu")
NO_EVALUATION = ["evaluation.before=0", "evaluation.every_minutes=none"]


def test_learner_policy_process_and_evaluation_each_hold_the_model() -> None:
    weights = 2 * 3_750_000_000
    parts = estimate_gpu_memory(load_config(ONE_GPU))
    assert parts["weights in 3 processes"] == 3 * weights
    assert parts["layers with merged adapters"] == 2 * round(0.8 * weights)  # of those that decide
    assert parts["deciding for 48 phones"] > GB  # 32, and 16 test phones
    parts = estimate_gpu_memory(load_config(ONE_GPU, NO_EVALUATION))
    assert parts["weights in 2 processes"] == 2 * weights
    alone = [*NO_EVALUATION, "collection.mode=one_process", "collection.collectors=1"]
    assert estimate_gpu_memory(load_config(ONE_GPU, alone))["weights in 1 process"] == weights
    served = [*NO_EVALUATION, "agent.server=http://localhost:1/v1"]
    assert estimate_gpu_memory(load_config(ONE_GPU, served))["weights in 1 process"] == weights
    own = [*NO_EVALUATION, "engine.policy=collector"]
    assert "weights in 3 processes" in estimate_gpu_memory(load_config(ONE_GPU, own))


def test_activations_are_those_of_the_first_micro_batch() -> None:
    """As measured without checkpointing: (79.1 − 7.5 GiB) / 25 turns, of a model of 3B."""
    words = ["agent.policy.gradient_checkpointing=false", "learning.step.micro_batch_turns=1"]
    one = estimate_gpu_memory(load_config(ONE_GPU, words))["activations of 1 turn"]
    assert one / GB == pytest.approx((79.1 - 7.5) / 24.75, rel=0.02)
    eight = estimate_gpu_memory(load_config(ONE_GPU, words[:1]))["activations of 8 turns"]
    assert eight == pytest.approx(8 * one, abs=8)
    words = ["agent.policy.gradient_checkpointing=on"]
    checkpointed = estimate_gpu_memory(load_config(ONE_GPU, words))
    assert checkpointed["activations of 8 turns, checkpointed"] < eight / 5


def test_auto_checkpoints_where_the_run_would_not_fit_otherwise() -> None:
    auto, words = load_config(ONE_GPU), "agent.policy.gradient_checkpointing="
    kept, saved = (
        sum(estimate_gpu_memory(load_config(ONE_GPU, [words + each])).values())
        for each in ("off", "on")
    )
    assert saved + 10 * GB < kept
    assert not checkpoints(auto, kept)
    assert sum(estimate_gpu_memory(auto, kept).values()) == kept
    assert checkpoints(auto, kept - 1)
    assert sum(estimate_gpu_memory(auto, kept - 1).values()) == saved
    assert checkpoints(auto, None)  # not known: what it needs at least
    assert (checkpoints(auto, 46 * GB), checkpoints(auto, 78 * GB)) == (True, False)
    assert checkpoints(load_config(ONE_GPU, [words + "on"]), 10 * kept)
    assert not checkpoints(load_config(ONE_GPU, [words + "off"]), 0)


def test_auto_never_checkpoints_on_a_processor_or_where_no_size_is_known() -> None:
    assert not checkpoints(load_config(Path("quick_start")), None)
    assert not checkpoints(load_config(ONE_GPU, ["agent.model=nobody/knows"]), 10 * GB)


def test_the_least_is_of_what_is_trained() -> None:
    config = load_config(ONE_GPU)
    assert least_gpu_memory(config) == 7_500_000_000
    assert least_gpu_memory(load_config(ONE_GPU, ["agent.policy.lora=none"])) == 4 * 7_500_000_000
    assert "evaluation.before=0" in gpu_advice(config)
    assert "evaluation" not in gpu_advice(load_config(ONE_GPU, NO_EVALUATION))


def test_nothing_is_said_of_a_processor_or_of_a_model_without_a_size() -> None:
    assert estimate_gpu_memory(load_config(Path("quick_start"))) == {}
    assert estimate_gpu_memory(load_config(ONE_GPU, ["agent.model=nobody/knows"])) == {}


def test_test_phones_are_as_many_as_the_evaluator_plays() -> None:
    assert EVALUATION_PHONES == DEVICES


@pytest.mark.parametrize(
    ("name", "card"),
    [("qwen2_5_vl_3b_one_gpu", 48), ("qwen3_vl_4b_one_gpu", 80), ("qwen2_5_vl_7b_four_gpus", 80)],
)
def test_the_configs_fit_the_cards_that_they_name(name: str, card: int) -> None:
    """With 2 GB less than the name says, as such cards have."""
    there = (card - 2) * GB
    assert sum(estimate_gpu_memory(load_config(Path(name)), there).values()) < there
    words = (Path("src/distrl/configs") / f"{name}.toml").read_text("utf-8").partition("\n\n")[0]
    assert f"of {card} GB" in words
