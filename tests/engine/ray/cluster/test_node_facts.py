"""What a node tells about itself, asked here; the doctor asks every node of a real cluster."""

from __future__ import annotations

import platform
from importlib import metadata

from distrl.engine.ray.cluster.node_facts import PACKAGES, NodeFacts, tell


def test_a_node_tells_its_versions_and_its_room() -> None:
    told = tell()
    assert told["python"] == platform.python_version()
    assert set(told["packages"]) == set(PACKAGES)
    assert told["packages"]["distrl"] == metadata.version("distrl")
    assert told["free_memory"] > 0
    assert told["free_disk"] > 0


def test_what_it_tells_are_facts() -> None:
    facts = NodeFacts("10.0.0.5", "host", False, {"phone": 2.0}, answered=True, **tell())
    assert facts.packages["ray"] == tell()["packages"]["ray"]
    assert not NodeFacts("10.0.0.5", "host", False, {}).answered
