"""What a run will take, before it starts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from tests.agent.tiny_models import tiny_model

from distrl.agent.critic import CriticSettings
from distrl.agent.loading import open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_weights import export_policy
from distrl.agent.vlm_settings import VlmSettings
from distrl.config.training_config import load_config
from distrl.reporting.gpu_estimate import least_gpu_memory
from distrl.reporting.memory_estimate import (
    DEVICE_BYTES,
    PROCESS_BYTES,
    estimate_disk,
    estimate_memory,
    show_dry_run,
)
from distrl.reporting.model_size import model_bytes, trains_adapters, weight_count


def test_processes_phones_replay_and_copies_of_the_model_are_counted(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(bytes(1000))
    (tmp_path / "config.json").write_text('{"dtype": "bfloat16"}')
    words = [
        f"agent.model={tmp_path}",
        "collection.collectors=2",
        "replay.byte_limit=5000",
        "replay.capacity=100",
        "devices.count=4",
    ]
    estimate = estimate_memory(load_config(None, words))
    assert estimate == {
        "3 processes": 3 * PROCESS_BYTES,
        "4 phones": 4 * DEVICE_BYTES,
        "replay, when full": 5000 + 60 * 100,
        "3 copies of the model": 3 * 2000,
        "gradients and optimiser": 3 * 2000,  # 500 weights, in float32
    }
    adapters = estimate_memory(load_config(None, [*words, "agent.policy.lora.rank=8"]))
    assert adapters["gradients and optimiser"] == 180
    alone = [*words, "collection.collectors=1", "collection.mode=one_process"]
    assert estimate_memory(load_config(None, alone))["1 process"] == PROCESS_BYTES
    shared = estimate_memory(load_config(None, [*words, "engine.policy=node"]))
    assert shared["4 processes"] == 4 * PROCESS_BYTES
    assert shared["2 copies of the model"] == 4000  # the learner's, and one for all collectors


def test_a_model_is_known_by_its_short_name_or_by_the_number_in_it() -> None:
    one = "collection.collectors=1"
    starter = estimate_memory(load_config(None, [one]))
    count = weight_count("starter")
    assert count is not None
    assert 5e6 < count < 6e6
    assert starter["2 copies of the model"] == 2 * 4 * count
    hub = load_config(None, [one, "agent.model=Qwen/Qwen2.5-VL-3B-Instruct"])
    assert estimate_memory(hub)["2 copies of the model"] == 2 * 4 * 3_750_000_000
    assert estimate_disk(hub) > 16 * 4 * 3_750_000_000


def test_a_run_that_trained_adapters_is_as_large_as_its_base_model(tmp_path: Path) -> None:
    base = tiny_model("qwen3_vl")
    settings = VlmSettings(lora=LoraSettings(rank=2), critic=CriticSettings(heads=3))
    export_policy(open_policy(base, settings), tmp_path / "run" / "policy")
    count = weight_count(str(base))
    assert count
    for taught in (tmp_path / "run", tmp_path / "run" / "policy"):
        assert weight_count(str(taught)) == count
        config = load_config(None, [f"agent.model={taught}", "agent.policy.device=cuda"])
        anew = load_config(None, [f"agent.model={base}", "agent.policy.lora.rank=2"])
        assert trains_adapters(config)
        assert least_gpu_memory(config) == least_gpu_memory(anew) == 4 * count
        assert model_bytes(str(taught)) == (base / "model.safetensors").stat().st_size


def test_a_critic_is_no_part_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(bytes(1000))
    (tmp_path / "config.json").write_text('{"dtype": "bfloat16"}')
    (tmp_path / "policy.json").write_text('{"kind": "whole"}')
    (tmp_path / "critic.safetensors").write_bytes(bytes(500))
    assert weight_count(str(tmp_path)) == 500


@pytest.mark.parametrize(
    "files",
    [
        {"model.safetensors": "weights"},
        {"model.safetensors": "weights", "config.json": "{"},
        {"model.safetensors.index.json": '{"weight_map": {"a": "model-1.safetensors"}}'},
        {"policy.json": '{"kind": "adapters", "base_model": "/not/here"}'},
        {"policy.json": "{"},
        {"critic.safetensors": "without its policy.json"},
    ],
)
def test_a_size_that_cannot_be_known_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert weight_count(str(tmp_path)) is None
    estimate_memory(load_config(None, [f"agent.model={tmp_path}"]))


def test_what_a_gpu_holds_is_no_memory_of_the_machine() -> None:
    words = ["agent.policy.device=cuda", "engine.policy=collector"]
    assert "gradients and optimiser" not in estimate_memory(load_config(None, words))


def test_a_dry_run_of_the_starter_counts_it() -> None:
    file = io.StringIO()
    show_dry_run(Console(file=file, width=80), load_config())
    assert "2 copies of the model" in file.getvalue()
    assert "not known" not in file.getvalue()


def test_a_dry_run_prints_all_settings_and_the_sum() -> None:
    file = io.StringIO()
    show_dry_run(Console(file=file, width=80), load_config(None, ["agent.model=elsewhere"]))
    said = file.getvalue()
    assert "[learning.a_ride]" in said
    assert "memory at most" in said
    assert "without the weights of 'elsewhere'" in said
