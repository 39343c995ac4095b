"""TRL's own GRPOTrainer takes a step on the phone, by the script in examples/."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what TRL says about its experimental parts
def test_trl_trains_a_tiny_model_on_the_phone(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="trl is not installed: make test-trainers")
    from tests.environments.trl_step import one_step

    assert one_step(tmp_path) == 1
