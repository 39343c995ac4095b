"""Requests to a policy server's actor: how their futures end, also when the actor is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

import ray
from tests.engine.ray.small_cluster import SmallCluster

from distrl.engine.ray.policy_server_pool import RayServerLine
from distrl.engine.serving.policy_client import PolicyClient
from distrl.errors import PolicyServerGone
from distrl.records import Answer, Decision, Observation, Screen

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]
LONG = 120.0


class Answering:
    """Answers with the instruction, or does what it says."""

    def ask(self, session: str, observation: Observation) -> Decision:
        match observation.instruction:
            case "hang":
                threading.Event().wait(LONG)
            case "fail":
                raise ZeroDivisionError(session)
            case "close":
                raise PolicyServerGone("closed")
        return Decision(Answer(observation.instruction))

    def leave(self, session: str) -> None: ...

    def report(self) -> None: ...


@pytest.fixture
def actor(cluster: SmallCluster) -> Iterator[Any]:  # it connects this process
    made: Any = ray.remote(Answering).options(num_cpus=0, max_concurrency=8).remote()
    yield made
    ray.kill(made)


def saying(words: str) -> Observation:
    return Observation(words, Screen(np.zeros((2, 2, 3), np.uint8)), ())


def test_a_request_ends_as_the_call_does(actor: Any) -> None:
    line = RayServerLine(actor)
    asked = {each: line.submit("s", saying(each)) for each in ("yes", "fail", "close", "hang")}
    assert asked["yes"].result(LONG) == Decision(Answer("yes"))
    assert isinstance(asked["fail"].exception(LONG), ZeroDivisionError)
    assert isinstance(asked["close"].exception(LONG), PolicyServerGone)
    assert not asked["hang"].done()
    ray.kill(actor)
    with pytest.raises(PolicyServerGone, match="cannot be reached"):
        asked["hang"].result(LONG)


def test_a_client_asks_the_replacement_of_an_actor_that_was_killed(actor: Any) -> None:
    hanging: Any = ray.remote(Answering).options(num_cpus=0).remote()
    lines = [RayServerLine(hanging)]
    client = PolicyClient("collector-0.1", lambda: lines[-1])
    first = client.submit(client.enter(), saying("hang"))
    client._resend_pending()
    second = client.submit(client.enter(), saying("next"))  # behind the one that hangs
    lines.append(RayServerLine(actor))
    ray.kill(hanging)
    assert client._waited_for(second) == Decision(Answer("next"))
    assert not first.done()
    client.close()
    assert first.cancelled()
