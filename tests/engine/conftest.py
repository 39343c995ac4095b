"""One tiny model for all tests of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.engine.tiny_runs import write_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_model(tmp_path_factory.mktemp("tiny"))
