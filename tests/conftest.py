"""What holds for every test.

Slow ones have ten minutes and start first where several workers share the tests; one that runs out
of time leaves the stacks of all threads on stderr, also where xdist only says that its worker
crashed. GPU tests are skipped where there is no GPU, those on a Ray cluster run only when they are
asked for (`-m ray`, `-m machines`: one cluster at a time is enough for a machine). Property tests
draw the same examples every time; they, and tests that repeat themselves on many phones or seeds,
take a part of them unless `--all-seeds` is given.
"""

from __future__ import annotations

import faulthandler
import gc
import os
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import hypothesis
import pytest

from distrl import plugins

SLOW_TIMEOUT_S = 600
DUMP_BEFORE_S = 1.0  # the stacks are written this long before pytest-timeout ends the process
REAL_STDERR = pytest.StashKey[int]()

# No deadline: the cores may be shared. The same examples for everybody: a red test stays red.
# A test that wants more says how many times more: `max_examples=3 * settings().max_examples`.
EVERY_TIME = hypothesis.settings(deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("quick", EVERY_TIME, max_examples=30)
hypothesis.settings.register_profile("full", EVERY_TIME, max_examples=100)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-seeds",
        action="store_true",
        help="repeat tests on every seed and draw all examples, not only the first few",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collecting makes a million objects that live to the end: gc took a third of its time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("full" if config.getoption("all_seeds") else "quick")
    config.stash[REAL_STDERR] = os.dup(2)  # stderr: nothing is captured yet


def pytest_unconfigure(config: pytest.Config) -> None:
    os.close(config.stash[REAL_STDERR])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`@pytest.mark.seeds(few, all)` gives a test the argument `seed`: 0, 1, …"""
    if marker := metafunc.definition.get_closest_marker("seeds"):
        few, every = marker.args
        metafunc.parametrize(
            "seed", range(every if metafunc.config.getoption("all_seeds") else few)
        )


@pytest.fixture
def all_seeds(request: pytest.FixtureRequest) -> bool:
    """Whether `--all-seeds` was given: try every seed instead of the first few."""
    return bool(request.config.getoption("all_seeds"))


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    """What a test registers is gone after it: an app would be on the phones of all later tests."""
    kept = plugins._registry
    plugins._registry = replace(
        kept,
        found=dict(kept.found),
        installed=list(kept.installed),
        broken=list(kept.broken),
        loaded=set(kept.loaded),
    )
    yield
    plugins._registry = kept


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests first, so that none of several workers is left alone with one at the end."""
    for marker in ("ray", "machines"):
        if marker in str(config.getoption("markexpr")):
            continue
        left_out = [item for item in items if item.get_closest_marker(marker)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    if hasattr(config, "workerinput"):  # alone, what shares a cluster or a run stays together
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_S))
    if not Path("/dev/nvidia0").exists():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


class TimeoutSettings(Protocol):
    """What pytest-timeout says about a test."""

    timeout: float  # seconds


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(
    item: pytest.Item, settings: TimeoutSettings
) -> Generator[None, object, object]:
    """Pytest-timeout writes its stacks to stdout, which a worker of xdist does not have."""
    if settings.timeout > 2 * DUMP_BEFORE_S:
        stderr = item.config.stash[REAL_STDERR]
        faulthandler.dump_traceback_later(settings.timeout - DUMP_BEFORE_S, file=stderr)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> Generator[None, object, object]:
    faulthandler.cancel_dump_traceback_later()
    return (yield)
