"""What a probe is asked and answers, without a cluster; `test_connection` asks real ones."""

from __future__ import annotations

import pytest

from distrl.engine.ray.cluster.probe import (
    ProbedCluster,
    ProbedNode,
    _candidates,
    _check_form,
    _is_ours,
    _read,
)
from distrl.errors import ClusterUnreachable, InvalidSetting, TokenRefused

HEAD = {"address": "127.0.0.1", "hostname": "h", "is_head": True, "is_here": True}
ANSWER = {"address": "127.0.0.1:6379", "ray_version": "2.60.0", "python_version": "3.12.1"}


def answer() -> ProbedCluster:
    nodes = [{**HEAD, "resources": {"phone": 2.0}}, {**HEAD, "resources": {"phone": 1.0}}]
    return _read({**ANSWER, "nodes": nodes})


def test_an_answer_is_read_back() -> None:
    cluster = answer()
    assert cluster.nodes[0] == ProbedNode("127.0.0.1", "h", True, True, {"phone": 2.0})
    assert (cluster.total("phone"), cluster.total("GPU")) == (3.0, 0.0)
    assert cluster.is_on_loopback


@pytest.mark.parametrize("kind", [ClusterUnreachable, TokenRefused, InvalidSetting])
def test_a_refusal_is_raised_as_it_was(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="why"):
        _read({"trouble": kind.__name__, "said": "why"})


@pytest.mark.parametrize("address", ["10.0.0.5", "ray://10.0.0.5:1", "10.0.0.5:0", "h:x", ":6379"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidSetting, match="give auto, local or HOST:PORT"):
        _check_form(address)
    _check_form("10.0.0.5:6379")


def test_auto_takes_what_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.7:6379")
    assert _candidates("auto") == ["10.0.0.7:6379"]
    assert _candidates("10.0.0.5:6379") == ["10.0.0.5:6379"]


def test_only_addresses_of_this_machine_are_ours() -> None:
    assert _is_ours("127.0.0.1")
    assert not _is_ours("203.0.113.9")
