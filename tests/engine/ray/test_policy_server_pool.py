"""Which servers there are to be, without Ray; `test_policy_server_actor` runs real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.engine.tiny_runs import tiny_config

from distrl.engine.ray.placement import Node
from distrl.engine.ray.policy_server_pool import PolicyServerPool, _Server
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.supervision.restart_budget import RestartBudget
from distrl.episodes.policy_batcher import PolicyBatcherReport


def pool(folder: Path, *settings: str) -> PolicyServerPool:
    return PolicyServerPool(tiny_config(folder, folder, *settings), "run", None, print)


def server(number: int, place: str, gpus: float = 0.0) -> _Server:
    node = Node(f"id-{number}", place, {"GPU": gpus})
    return _Server(number, node, 0.0, RestartBudget(1))


def test_a_server_gets_a_gpu_that_the_learner_leaves(tmp_path: Path) -> None:
    made = pool(tmp_path, "engine.policy=node", "engine.server_gpus=1")
    one, two, none = (Node("id", "a", {"GPU": float(n)}) for n in (1, 2, 0))
    assert made._gpus(one, "elsewhere") == 1.0
    assert made._gpus(one, "a") == 0.0  # the learner has it
    assert made._gpus(two, "a") == 1.0
    assert made._gpus(none, "elsewhere") == 0.0


def test_a_run_fails_when_every_server_is_given_up(tmp_path: Path) -> None:
    made = pool(tmp_path)
    assert made.failure is None
    first, second = server(0, "a"), server(1, "b")
    made._servers = {"a": first, "b": second}
    first.given_up, first.trouble = True, "server-0.3 on a failed: ZeroDivisionError()"
    assert made.failure is None
    second.given_up = True
    assert "all policy servers (2) failed" in str(made.failure)
    assert "ZeroDivisionError" in str(made.failure)


def test_words_name_places_and_batches(tmp_path: Path) -> None:
    made = pool(tmp_path)
    first, second = server(0, "a"), server(1, "b")
    batcher = PolicyBatcherReport(10, {2: 5}, 0, 0, 0.0, 0.0)
    first.report = ServerReport("server-0.1", 4, 0, batcher)
    made._servers = {"b": second, "a": first}
    assert made.words() == "a (batch 2.0), b (–)"
    assert made.waited_for() == []
    first.starts = 3
    assert first.name == "server-0.3"
