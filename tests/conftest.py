"""What holds for every test: slow ones start first, GPU tests are skipped where there is no GPU,
those on a Ray cluster run only when they are asked for (`-m ray`: one cluster at a time is enough
for a machine), property tests draw the same examples every time, and tests that repeat themselves
on many phones take a part of them unless `--all-seeds` is given.
"""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

# No deadline: the cores may be shared. The same examples for everybody: a red test stays red.
hypothesis.settings.register_profile("house", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-seeds",
        action="store_true",
        help="repeat tests of the simulated phone on every seed, not on the first few",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests first, so that no worker is left alone with one at the end."""
    if "ray" not in str(config.getoption("markexpr")):
        left_out = [item for item in items if item.get_closest_marker("ray")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if not Path("/dev/nvidia0").exists():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
