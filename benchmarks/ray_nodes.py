"""A Ray cluster of several nodes on this machine, for the duration of a measurement."""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distrl.engine.ray.cluster.connection import set_environment

STORE_BYTES = 320 << 20


@contextmanager
def ray_nodes(count: int, phones: int) -> Iterator[str]:
    """Start a head without phones and `count` nodes with `phones` each; yield the address."""
    before, root = dict(os.environ), Path(__file__).parents[1]
    own = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(24),
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}",  # the nodes import the measured code
    }
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder:
        set_environment({**before, **own, "RAY_TMPDIR": folder})
        import ray
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 2, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        cluster = Cluster(
            initialize_head=True, head_node_args={**head, "temp_dir": f"{folder}/ray"}
        )
        try:
            for _ in range(count):
                cluster.add_node(
                    num_cpus=1, resources={"phone": phones}, object_store_memory=STORE_BYTES
                )
            ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
            yield cluster.address
        finally:
            ray.shutdown()
            cluster.shutdown()
            set_environment(before)
