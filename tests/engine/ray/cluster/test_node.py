"""Nodes that are kept up: a cut link, a killed head, and what is said when none can be started."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine.ray.launched_nodes import (
    DISTRL,
    PATIENCE,
    LaunchedHead,
    LaunchedNode,
    clean_environment,
    free_port,
    wait_until,
)

from distrl.cli.cluster import join, start
from distrl.engine.ray.cluster.connection import RAY_FOLDER, short_folder
from distrl.engine.ray.cluster.node import (
    FIRST_STARTS,
    HEALTH,
    ClusterNode,
    NodePlan,
    head_plan,
    read_resources,
    worker_plan,
)
from distrl.engine.run.stop_request import StopRequest
from distrl.errors import ClusterError, ClusterUnreachable, InvalidSetting, TokenRefused

TOKEN = "another token for tests, long enough"
HEAD, WORKER = "127.0.0.2", "127.0.0.3"

COUNTER = """
import sys
from distrl.engine.ray.cluster.connection import connect, disconnect
connect(sys.argv[1])
import ray

@ray.remote(num_cpus=0, resources={"phone": 1}, max_restarts=0)
class Counter:
    def __init__(self):
        self.count = 0
    def add(self):
        self.count += 1
        return self.count

counter = Counter.options(
    name="counter", namespace="tests", lifetime="detached", get_if_exists=True
).remote()
print(ray.get(counter.add.remote(), timeout=240))
disconnect()
"""


def test_a_head_is_closed_unless_asked(tmp_path: Path) -> None:
    plan = head_plan({"RAY_AUTH_TOKEN": TOKEN}, tmp_path)
    assert "--node-ip-address=127.0.0.1" in plan.arguments
    assert plan.environment["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert plan.environment["RAY_AUTH_MODE"] == "token"
    assert TOKEN not in " ".join(plan.arguments)  # anybody on the machine can read those
    listening = head_plan({"RAY_AUTH_TOKEN": TOKEN}, tmp_path, listen="10.0.0.5")
    assert "--node-ip-address=10.0.0.5" in listening.arguments
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in listening.environment


def test_ray_gets_a_folder_inside_one_that_only_we_can_enter(tmp_path: Path) -> None:
    folder = short_folder()
    try:
        assert folder.stat().st_mode & 0o777 == 0o700
        own = {"RAY_AUTH_TOKEN": TOKEN}
        for plan in (head_plan(own, folder), worker_plan(own, folder, "10.0.0.5:6379")):
            assert f"--temp-dir={folder / RAY_FOLDER}" in plan.arguments
    finally:
        folder.rmdir()


def test_a_dead_node_is_noticed_in_about_ten_seconds() -> None:
    """By the settings that Ray is given; its defaults come to about sixty."""
    milliseconds = {name.removeprefix("RAY_health_check_"): int(v) for name, v in HEALTH.items()}
    each = milliseconds["period_ms"] + milliseconds["timeout_ms"]
    whole = milliseconds["initial_delay_ms"] + milliseconds["failure_threshold"] * each
    assert whole <= 15_000


def test_no_node_without_a_token(tmp_path: Path) -> None:
    with pytest.raises(TokenRefused):
        head_plan({}, tmp_path)
    with pytest.raises(TokenRefused):
        worker_plan({}, tmp_path, "10.0.0.5:6379")


@pytest.mark.parametrize("length", [39, 200])
def test_a_store_with_too_long_a_name_is_refused(length: int) -> None:
    store = Path("/").joinpath("x" * (length - 1))
    with pytest.raises(InvalidSetting, match="give one of 38 at most"):
        start(port=free_port(), store=store)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_store_of_somebody_else_is_refused() -> None:
    folder = short_folder()
    os.chown(folder, 65534, 65534)
    try:
        with pytest.raises(InvalidSetting, match="belongs to user 65534"):
            start(port=free_port(), store=folder)
    finally:
        folder.rmdir()


def test_settings_of_ray_may_be_overridden_and_options_added(tmp_path: Path) -> None:
    own = {"RAY_AUTH_TOKEN": TOKEN, "RAY_health_check_period_ms": "7"}
    plan = head_plan(own, tmp_path, extra=["--num-cpus=3"])
    assert plan.environment == {**HEALTH, **plan.environment, "RAY_health_check_period_ms": "7"}
    assert plan.arguments[-1] == "--num-cpus=3"


def test_resources_are_read_and_handed_on(tmp_path: Path) -> None:
    offered = read_resources(["phone=8", "GPU=1", "CPU=0.5"])
    plan = worker_plan({"RAY_AUTH_TOKEN": TOKEN}, tmp_path, "10.0.0.5:6379", resources=offered)
    assert {"--num-gpus=1", "--num-cpus=0.5", '--resources={"phone": 8.0}'} <= set(plan.arguments)


@pytest.mark.parametrize("word", ["phone", "phone=", "=3", "phone=many", "phone=-1", "phone=nan"])
def test_what_is_no_resource_is_refused(word: str) -> None:
    with pytest.raises(InvalidSetting, match="write phone=8"):
        read_resources([word])


# A program in place of `ray`: it times out as often as it is told to ------------------------------

SLOW_RAY = """#!/bin/sh
echo start >> "$STARTS"
if [ "$(wc -l < "$STARTS")" -le "$SLOW_STARTS" ]; then
    echo "The current node timed out during startup."
    exit 1
fi
echo "the node is up and will now block"
exec sleep 600
"""


def slow_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_starts: int, say: Callable[[str], None]
) -> ClusterNode:
    program = tmp_path / "ray"
    program.write_text(SLOW_RAY, "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    environment = {
        **os.environ,
        "STARTS": str(tmp_path / "starts"),
        "SLOW_STARTS": str(slow_starts),
    }
    return ClusterNode(NodePlan(("start",), environment, tmp_path), say)


def test_a_first_start_that_times_out_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, said = StopRequest(), list[str]()

    def say(sentence: str) -> None:
        said.append(sentence)
        stop.asked = sentence == "up"

    slow_node(tmp_path, monkeypatch, 1, say).keep_up(stop)
    first, last = said
    assert "timed out during startup" in first
    assert "starts again in" in first
    assert last == "up"


def test_a_node_that_always_times_out_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distrl.engine.supervision.restart_budget.FIRST_PAUSE", 0.0)
    said: list[str] = []
    node = slow_node(tmp_path, monkeypatch, FIRST_STARTS, said.append)
    with pytest.raises(ClusterError, match=rf"timed out .*\(start {FIRST_STARTS} of the node\)"):
        node.keep_up(StopRequest())
    assert len(said) == FIRST_STARTS - 1


# On real nodes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return clean_environment(tmp_path_factory.mktemp("home"), TOKEN)


@pytest.fixture(scope="module")
def head(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LaunchedHead]:
    folder = tmp_path_factory.mktemp("head")
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as store:
        words = ("--resource=CPU=1", f"--store={store}/h")
        with LaunchedHead(environment, folder, *words, listen=HEAD) as started:
            yield started


@pytest.fixture(scope="module")
def worker(
    head: LaunchedHead, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LaunchedNode]:
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    words = ("join", head.address, f"--listen={WORKER}", "--resource=phone=4", "--resource=CPU=1")
    with LaunchedNode(environment, log, *words) as started:
        yield started


def addresses(head: LaunchedHead) -> set[str]:
    return {node.address for node in head.cluster().nodes}


def counted(head: LaunchedHead) -> int:
    """What an actor on the worker has counted to; it is made when there is none."""
    ended = subprocess.run(
        [sys.executable, "-c", COUNTER, head.address],
        env=head.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_doctor_looks_at_every_node(head: LaunchedHead, worker: LaunchedNode) -> None:
    words = ["doctor", "--cluster", "--address", head.address]
    ended = subprocess.run(
        [sys.executable, "-c", DISTRL, *words],
        env=head.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{HEAD} (head)" in ended.stdout
    assert WORKER in ended.stdout
    assert "2 answer" in ended.stdout
    assert "refused without one" in ended.stdout
    assert "4 on 1 of 2 nodes" in ended.stdout
    assert TOKEN not in ended.stdout


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_heads_restart_keeps_nodes_and_actors(head: LaunchedHead, worker: LaunchedNode) -> None:
    """Its control process is killed; the actor on the other node counts on."""
    assert [counted(head), counted(head)] == [1, 2]
    os.kill(head.process("gcs_server"), signal.SIGKILL)
    wait_until(lambda: head.starts() == 2, "the head is up again")
    wait_until(lambda: addresses(head) == {HEAD, WORKER}, "the worker is still there")
    assert counted(head) == 3
    assert worker.starts() == 1


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_node_comes_back_after_its_link_was_cut(head: LaunchedHead, worker: LaunchedNode) -> None:
    """A stopped raylet answers as little as one behind a cut link; Ray has it end itself then."""
    before = worker.starts()
    raylet = worker.process("raylet")
    os.kill(raylet, signal.SIGSTOP)
    try:
        wait_until(lambda: addresses(head) == {HEAD}, "the node is given up")
    finally:
        os.kill(raylet, signal.SIGCONT)
    wait_until(lambda: worker.starts() > before, "the node starts again")
    wait_until(lambda: addresses(head) == {HEAD, WORKER}, "the node is back")


def test_a_port_in_use_is_said_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ClusterError, match=f"port {port} of this machine cannot be listened"):
            start(port=port)


@pytest.mark.ray
def test_a_wrong_option_is_said_in_rays_own_words(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first start may fail; it is not tried for ever."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    port = free_port()
    with pytest.raises(ClusterError, match=r"`ray start` failed: .*No such option '--nonsense'"):
        start(port=port, options=["--nonsense"])
    said = capsys.readouterr().out
    assert f"head at 127.0.0.1:{port}, for this machine only; token on" in said
    assert TOKEN not in said


@pytest.mark.ray
def test_nobody_to_join_is_said_at_once(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ClusterUnreachable, match=r"nobody listens at 127\.0\.0\.4:1"):
        join("127.0.0.4:1")


@pytest.mark.ray
def test_ray_knows_every_health_setting() -> None:
    """It ignores a misspelt variable without a word."""
    code = (
        "import os, json; from distrl.engine.ray.cluster.node import HEALTH; "
        "os.environ.update({name: '1234' for name in HEALTH}); "
        "from ray._raylet import Config; "
        "print(json.dumps([getattr(Config, n.removeprefix('RAY_'))() for n in HEALTH]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == [1234] * len(HEALTH)
