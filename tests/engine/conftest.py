"""One tiny model for all tests of the engine, and what is left out without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.engine.tiny_runs import write_model

from distrl.devices.browser.chromium import find_chromium
from distrl.errors import NotInstalled
from distrl.task_sets.miniwob import find_pages


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def needs_pages() -> None:
    try:
        find_chromium()
        find_pages()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")
