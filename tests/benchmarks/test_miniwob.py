"""The pages that `distrl train miniwob` has were chosen by a rule, and not by their results."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.miniwob import SOLVED

from distrl.config.training_config import load_config
from distrl.task_sets.miniwob import PREFIX


def test_the_pages_are_those_that_a_player_without_a_model_did_at_its_first_try() -> None:
    solved: dict[str, int] = json.loads(SOLVED.read_text("utf-8"))
    first = {f"{PREFIX}{page}" for page, attempt in solved.items() if attempt == 1}
    templates = load_config(Path("miniwob")).tasks.templates
    assert set(templates) == first
    assert len(templates) >= 20
