"""Joining a cluster: what is private stays private, and what cannot work is said within seconds."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.ray.launched_nodes import PATIENCE, LaunchedHead, clean_environment

from distrl.engine.ray.cluster import probe as cluster_probe
from distrl.engine.ray.cluster.connection import check_joinable, joining_environment
from distrl.engine.ray.cluster.probe import ProbedCluster, probe
from distrl.errors import (
    ClusterUnreachable,
    InvalidSetting,
    ResourceMissing,
    TokenRefused,
    VersionsDiffer,
)

pytestmark = [pytest.mark.ray, pytest.mark.timeout(900)]
TOKEN = "a token for tests, with enough of letters"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, as IPv4 and within IPv6

PRIVATE = """
import json, os
from pathlib import Path
from tests.engine.ray.launched_nodes import descendants, listening_hosts
from distrl.engine.ray.cluster.probe import probe
from distrl.engine.ray.cluster.connection import connect, disconnect
from distrl.errors import ResourceMissing, TokenRefused

before = dict(os.environ)
connect(None, needs={"phone": 3, "CPU": 5})
import ray
token = ray.get(ray.remote(num_cpus=0)(lambda: os.environ["RAY_AUTH_TOKEN"]).remote())
address = ray.get_runtime_context().gcs_address
try:
    probe(address, {**os.environ, "RAY_AUTH_TOKEN": "another one"})
    stranger = "let in"
except TokenRefused:
    stranger = "refused"
folder = Path(ray.nodes()[0]["ObjectStoreSocketName"]).parents[2]
told = {
    "totals": ray.cluster_resources(),
    "hosts": sorted(listening_hosts(descendants(os.getpid()))),
    "same_token": token == os.environ["RAY_AUTH_TOKEN"],
    "token_length": len(token),
    "stranger": stranger,
    "mode": folder.parent.stat().st_mode & 0o777,  # Ray opens its own to everybody
}
connect("local", needs={"phone": 2})  # in it already
try:
    connect("local", needs={"phone": 4})
except ResourceMissing as error:
    told["too_much"] = str(error)
disconnect()
told["environment_is_back"] = dict(os.environ) == before
told["folder_is_left"] = folder.parent.exists()
try:
    connect(None, needs={"GPU": 99})  # starts with a new token, looks, and ends again
except ResourceMissing as error:
    told["no_gpu"] = str(error)
told["still_in"] = ray.is_initialized()
print(json.dumps(told))
"""

JOINED = """
import os, sys
from distrl.engine.ray.cluster.connection import connect, disconnect
connect(sys.argv[1], needs={"phone": 2})
import ray
answer = ray.get(ray.remote(num_cpus=0)(lambda: 6 * 7).remote())
print(ray.get_runtime_context().gcs_address, answer)
disconnect()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def head(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedHead]:
    environment = clean_environment(home, TOKEN)
    folder = tmp_path_factory.mktemp("head")
    with LaunchedHead(environment, folder, "--resource=phone=2", "--resource=CPU=1") as started:
        yield started


@pytest.fixture(scope="module")
def cluster(head: LaunchedHead) -> ProbedCluster:
    return head.cluster()


def run(code: str, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[4]
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**environment, "PYTHONPATH": f"{root / 'src'}:{root}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_private_cluster_is_private_and_leaves_nothing(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, "")
    ended = run(PRIVATE, environment)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["totals"]["phone"] == 3
    assert told["totals"]["CPU"] >= 5
    assert told["totals"]["object_store_memory"] <= 512 << 20
    assert told["hosts"]
    assert set(told["hosts"]) <= LOOPBACK
    assert told["same_token"]
    assert told["token_length"] == 64
    assert told["stranger"] == "refused"
    assert told["mode"] == 0o700
    assert "the run needs 4 phone" in told["too_much"]
    assert told["environment_is_back"]
    assert not told["folder_is_left"]
    assert "the run needs 99 GPU" in told["no_gpu"]
    assert not told["still_in"]
    assert not (tmp_path / ".ray").exists()


@pytest.mark.parametrize("address", ["auto", "HEAD", "localhost"])
def test_a_running_cluster_is_joined(head: LaunchedHead, address: str) -> None:
    """Of several clusters on this machine, auto finds the one that takes our token."""
    port = head.address.partition(":")[2]
    names = {"HEAD": head.address, "localhost": f"localhost:{port}"}
    ended = run(JOINED, head.environment, names.get(address, address))
    assert ended.returncode == 0, ended.stderr
    address, answer = ended.stdout.split()
    assert address.endswith(f":{port}")
    assert answer == "42"


def test_a_refusal_comes_from_the_probe_before_ray_retries(head: LaunchedHead) -> None:
    ended = run(JOINED, {**head.environment, "RAY_AUTH_TOKEN": "wrong"}, head.address)
    assert "TokenRefused" in ended.stderr
    assert "in probe" in ended.stderr
    assert "ray.init" not in ended.stderr  # which would try for a minute
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "wrong"}, "refuses our token"),
        ({"RAY_AUTH_MODE": "disabled"}, "refuses our token"),
    ],
)
def test_a_wrong_token_is_refused(head: LaunchedHead, changed: dict[str, str], said: str) -> None:
    with pytest.raises(TokenRefused, match=said):
        probe(head.address, {**head.environment, **changed})


def test_no_token_is_said_before_anything_is_tried(tmp_path: Path) -> None:
    with pytest.raises(TokenRefused, match="there is no token"):
        joining_environment({"RAY_AUTH_TOKEN": ""})
    with pytest.raises(TokenRefused, match="there is no token"):
        joining_environment({"RAY_AUTH_MODE": "token"})
    with pytest.raises(TokenRefused, match="cannot be read or is empty"):
        joining_environment({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "none")})
    kept = tmp_path / "token"
    kept.write_text(TOKEN)
    assert joining_environment({"RAY_AUTH_TOKEN_PATH": str(kept)})["RAY_AUTH_MODE"] == "token"
    assert joining_environment({"RAY_AUTH_MODE": "disabled"})["RAY_AUTH_MODE"] == "disabled"


def test_a_token_may_be_kept_in_a_file(head: LaunchedHead, tmp_path: Path) -> None:
    kept = tmp_path / "token"
    kept.write_text(TOKEN)
    bare = {name: it for name, it in head.environment.items() if name != "RAY_AUTH_TOKEN"}
    environment = joining_environment({**bare, "RAY_AUTH_TOKEN_PATH": str(kept)})
    assert probe(head.address, environment).nodes


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("127.0.0.1:1", ClusterUnreachable),
        ("nobody.invalid:6379", ClusterUnreachable),
        ("10.0.0.5", InvalidSetting),
        ("ray://10.0.0.5:10001", InvalidSetting),
        ("10.0.0.5:99999", InvalidSetting),
    ],
)
def test_a_wrong_address_is_said_before_the_deadline(
    home: Path, address: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=address) as refused:
        probe(address, clean_environment(home, TOKEN))
    assert "has not answered" not in str(refused.value)  # what the deadline says


def test_somebody_else_at_the_address_is_not_waited_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_probe, "DEADLINE_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterUnreachable, match="has not answered as a Ray head"):
            probe(address, clean_environment(home, TOKEN))


def test_another_version_is_said(cluster: ProbedCluster) -> None:
    check_joinable(cluster, {})
    with pytest.raises(VersionsDiffer, match=r"runs Ray 1\.13\.0 on Python"):
        check_joinable(replace(cluster, ray_version="1.13.0"), {})
    with pytest.raises(VersionsDiffer, match=r"on Python 3\.7\.9, this process"):
        check_joinable(replace(cluster, python_version="3.7.9"), {})


def test_a_patch_of_python_matters_unless_ray_is_told_otherwise(
    cluster: ProbedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched = replace(cluster, python_version=f"{cluster.python_version}1")
    with pytest.raises(VersionsDiffer):
        check_joinable(patched, {})
    monkeypatch.setenv("RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL", "minor")
    check_joinable(patched, {})


def test_what_no_node_has_is_said(cluster: ProbedCluster) -> None:
    check_joinable(cluster, {"phone": 2, "CPU": 1})
    with pytest.raises(ResourceMissing, match=r"needs 3 phone, but the Ray cluster .* has 2"):
        check_joinable(cluster, {"phone": 3})
    with pytest.raises(ResourceMissing, match=r"needs 1 unicorn, but .* has 0"):
        check_joinable(cluster, {"unicorn": 1})


def test_a_machine_that_is_no_node_is_told_to_join(cluster: ProbedCluster) -> None:
    away = tuple(replace(node, address="203.0.113.9", is_here=False) for node in cluster.nodes)
    with pytest.raises(ClusterUnreachable, match=r"no node .* \(nodes: 203\.0\.113\.9\); run `d"):
        check_joinable(replace(cluster, nodes=away), {})


def test_only_addresses_of_this_machine_are_here(cluster: ProbedCluster) -> None:
    assert [node.is_here for node in cluster.nodes] == [True]
    assert not cluster_probe._is_ours("203.0.113.9")
