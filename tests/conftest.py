"""What holds for every test: slow ones start first, GPU tests are skipped where there is no GPU,
and property tests draw the same examples every time.
"""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

# No deadline: the cores may be shared. The same examples for everybody: a red test stays red.
hypothesis.settings.register_profile("house", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if not Path("/dev/nvidia0").exists():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
