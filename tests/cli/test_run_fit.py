"""`distrl plan CONFIG` says whether a run fits: memory, disk, the GPU."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.cli.run_fit import Need, is_run_config, needs, show_fit
from distrl.config.training_config import load_config
from distrl.errors import UsageError
from distrl.reporting.model_size import named_weights, weight_count


def test_a_plan_and_the_settings_of_a_run_are_told_apart(tmp_path: Path) -> None:
    assert is_run_config(Path("quick_start"))
    assert not is_run_config(Path("large_lab"))


def test_what_is_too_small_is_said(tmp_path: Path) -> None:
    said = io.StringIO()
    config = load_config(None, ["replay.byte_limit=100_000_000_000_000"])
    assert not show_fit(Console(file=said, width=200), config, tmp_path)
    assert "too small" in said.getvalue()
    assert "lower replay.byte_limit" in said.getvalue()
    small = load_config(None, ["replay.byte_limit=1_000_000", "store.byte_limit=1_000_000"])
    assert all(each.fits for each in needs(small, tmp_path))


def test_a_model_is_as_large_as_its_name_says() -> None:
    assert named_weights("Qwen/Qwen2.5-VL-3B-Instruct") == 3_750_000_000  # its files have as many
    assert weight_count("models/Qwen2.5-VL-7B-Instruct") == round(7e9 * 1.25)
    assert named_weights("starter") is None
    assert Need("GPU", None, 1).fits is None


def test_a_gpu_that_is_not_there_is_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distrl.agent.torch_device.free_gpu_memory", lambda device: None)
    said = io.StringIO()
    config = load_config(Path("qwen2_5_vl_3b_one_gpu"))
    assert not show_fit(Console(file=said, width=200), config, tmp_path)
    assert "torch sees no GPU here" in said.getvalue()
    assert "train adapters" not in said.getvalue()


def test_the_advice_for_a_gpu_is_of_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who trains adapters is not told to."""
    monkeypatch.setattr("distrl.agent.torch_device.free_gpu_memory", lambda device: 8 * 2**30)
    [gpu] = _on_gpu("qwen2_5_vl_3b_one_gpu", tmp_path)
    assert "evaluation.before=0" in gpu.advice
    assert "train adapters" not in gpu.advice
    [gpu] = _on_gpu("handsets", tmp_path, "agent.policy.lora=none")
    assert "train adapters" in gpu.advice


def _on_gpu(name: str, folder: Path, *words: str) -> list[Need]:
    found = needs(load_config(Path(name), words), folder)
    return [each for each in found if each.what.startswith("GPU")]


def test_emulators_are_counted(tmp_path: Path) -> None:
    memory, *_ = needs(load_config(Path("emulators")), tmp_path)
    assert memory.parts["5 emulators"] == 5 * 4 * 2**30
    assert "devices.count" in memory.advice


def test_counts_are_for_plans() -> None:
    done = CliRunner().invoke(app, ["plan", "quick_start", "--phones", "64"])
    assert isinstance(done.exception, UsageError)
    assert "are for plans" in str(done.exception)
