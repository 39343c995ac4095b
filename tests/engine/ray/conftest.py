"""A real cluster of several nodes on this machine, one for all tests that run something on it.

They come last, so that no other test finds this process connected; those that run whole trainings
come after those that count what lies in the object store.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.ray.small_cluster import SmallCluster

from distrl.engine.ray.cluster.connection import (
    set_environment,  # Ray reads it once; this lets it read again
)

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "4",  # the cores are shared, and nodes answer late
    "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",  # so that its nodes find this checkout and its tests
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def order(item: pytest.Item) -> int:
        here = item.path.parent == Path(__file__).parent
        if not (here and "cluster" in getattr(item, "fixturenames", ())):
            return 0
        return 2 if item.get_closest_marker("slow") else 1

    items.sort(key=order)


@pytest.fixture(scope="session")  # its environment is nothing for the tests of others
def cluster() -> Iterator[SmallCluster]:
    """A head without phones; a test adds nodes, and takes away what is left of them."""
    before = dict(os.environ)
    token = {"RAY_AUTH_TOKEN": secrets.token_hex(24)}
    set_environment({**before, **ENVIRONMENT, **token})
    try:
        with (
            tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder,
            SmallCluster(Path(folder)) as started,
        ):
            yield started
    finally:
        set_environment(before)


@pytest.fixture
def nodes(cluster: SmallCluster) -> Iterator[SmallCluster]:
    """The cluster, for a test that adds nodes to it."""
    yield cluster
    cluster.remove_all()
