"""The three uses of Ray's private API do what they are for, in the Ray that is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

REREAD = """
import os
import ray
from ray._private import ray_constants
from ray._raylet import Config
from distrl.engine.ray.cluster.ray_internals import reread_environment

before = Config.health_check_period_ms()
os.environ["RAY_health_check_period_ms"] = "4321"
assert Config.health_check_period_ms() == before
reread_environment(loopback_only=True)
print(Config.health_check_period_ms(), ray_constants.ENABLE_RAY_CLUSTER)
reread_environment(loopback_only=False)
print(ray_constants.ENABLE_RAY_CLUSTER)
"""


QUIET = """
import inspect, logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
from ray._private import worker
from distrl.engine.ray.cluster.ray_internals import keep_messages_off_the_terminal

assert [*inspect.signature(worker.print_to_stdstream).parameters] == ["data", "ignore_prefix"]
keep_messages_off_the_terminal()
worker.print_to_stdstream({"lines": ["a raylet has died: its stack"]}, False)
"""


@pytest.mark.ray
def test_what_ray_prints_of_its_nodes_goes_to_the_log() -> None:
    ended = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == ""
    assert "a raylet has died: its stack" in ended.stderr


@pytest.mark.ray
def test_ray_sees_the_environment_as_it_is_now() -> None:
    """In a process of its own: it changes the settings of the whole process."""
    ended = subprocess.run([sys.executable, "-c", REREAD], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["4321", "False", "True"]
