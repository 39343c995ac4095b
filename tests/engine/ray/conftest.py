"""A real cluster of several nodes on this machine for tests that run something on one."""

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
    # so that processes on its nodes run this tree, and find the tests' own collectors
    "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
}


@pytest.fixture(scope="module")  # its environment is nothing for the tests of others
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
