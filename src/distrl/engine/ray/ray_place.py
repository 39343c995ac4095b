"""Where a process of a Ray cluster is: its node, as a person can tell it from others."""

from __future__ import annotations

import ray
from ray.util import get_node_ip_address


def place_of(address: str, node_id: str) -> str:
    """Also nodes on one machine differ."""
    return f"{address}/{node_id[:6]}"


def this_place() -> str:
    """The node of this process."""
    return place_of(get_node_ip_address(), ray.get_runtime_context().get_node_id())
