"""`distrl plan CONFIG` says whether a run fits: memory, disk, the GPU."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.cli.run_fit import Need, is_run_config, named_bytes, needs, show_fit
from distrl.config.training_config import load_config
from distrl.errors import UsageError


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
    three = named_bytes("Qwen/Qwen2.5-VL-3B-Instruct")
    assert three is not None
    assert 6.5e9 < three < 8.5e9  # the files have 7.5e9
    assert named_bytes("models/Qwen2.5-VL-7B-Instruct", "float32") == round(7e9 * 1.25 * 4)
    assert named_bytes("starter") is None
    assert Need("GPU", None, 1).fits is None


def test_a_gpu_that_is_not_there_is_too_small(tmp_path: Path) -> None:
    config = load_config(Path("qwen2_5_vl_3b_one_gpu"))
    [gpu] = [each for each in needs(config, tmp_path) if each.what.startswith("GPU")]
    assert gpu.wanted is not None
    assert gpu.wanted > 6e9


def test_counts_are_for_plans() -> None:
    done = CliRunner().invoke(app, ["plan", "quick_start", "--phones", "64"])
    assert isinstance(done.exception, UsageError)
    assert "are for plans" in str(done.exception)
