"""One policy for the phones of several collectors: sessions, batches, versions, and an end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import Patient, Versions, wait_until

from distrl.engine.serving.policy_server import SESSION_SECONDS, PolicyServer
from distrl.engine.wiring import build_server
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings, WeightUpdater
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation, Screen

SCREEN = Screen(np.zeros((720, 360, 3), np.uint8))  # what the tiny model reads
SEEN = Observation("wait", SCREEN, ())


class Held(Patient):
    """Decides when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        decisions = super().decide(observations)
        assert self.let_go.wait(60.0)
        return decisions


class Broken:
    """A policy with a mistake in it."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        raise ZeroDivisionError(f"for {len(observations)}")


def server_of(policy: Patient, weights: Versions | None = None) -> PolicyServer:
    updater = WeightUpdater(policy, weights) if weights else None
    return PolicyServer(
        "server-0.1", PolicyBatcher(policy, PolicyBatcherSettings(), updater), past_screens=0
    )


@contextmanager
def serving(server: PolicyServer) -> Iterator[ThreadPoolExecutor]:
    """It serves beside the test, which asks from these threads."""
    going = threading.Event()
    going.set()
    with ThreadPoolExecutor(20) as threads:
        served = threads.submit(server.serve, going.is_set)
        try:
            yield threads
        finally:
            going.clear()
            served.result(60.0)


def test_phones_of_all_collectors_are_answered_together() -> None:
    policy = Patient()
    batcher = PolicyBatcher(policy)
    server = PolicyServer("server-0.1", batcher, past_screens=0)
    sessions = [f"collector-{c}.1/{n}" for c in range(3) for n in range(4)]
    with ThreadPoolExecutor(12) as asking:
        answers = asking.map(lambda each: server.ask(each, SEEN), sessions)
        wait_until(lambda: batcher.waiting == 12)
        with serving(server):
            assert len(list(answers)) == 12
            report = server.report()
    assert policy.batches == [12]  # more than any one collector has phones
    assert (report.name, report.sessions, report.batcher.decisions) == ("server-0.1", 12, 12)


def test_every_decision_carries_the_version_that_made_it() -> None:
    weights = Versions()
    server = server_of(Patient(), weights)
    with serving(server):
        seen = []
        for version in (0, 1, 4):
            weights.newest = version
            wait_until(lambda v=version: server.report().batcher.weight_version == v)  # type: ignore[misc]
            seen.append(server.ask("collector-0.1/0", SEEN).weight_version)
    assert seen == [0, 1, 4]


def test_a_session_is_one_phone_however_often_it_asks_and_goes_when_it_leaves() -> None:
    server = server_of(Patient())
    with serving(server):
        for _ in range(3):
            server.ask("collector-0.1/0", SEEN)
        server.ask("collector-1.1/0", SEEN)
        assert server.report().sessions == 2
        server.leave("collector-0.1/0")
        server.leave("collector-0.1/0")
        server.leave("of a server before this one")
        assert server.report().sessions == 1
        server.ask("collector-0.1/0", SEEN)  # it was not over after all
        assert server.report().sessions == 2


def test_who_leaves_while_his_question_waits_is_forgotten_once_it_is_answered() -> None:
    policy = Held()
    server = server_of(policy)
    with serving(server) as threads:
        asked = threads.submit(server.ask, "collector-0.1/0", SEEN)
        wait_until(lambda: len(policy.batches) == 1)
        server.leave("collector-0.1/0")
        assert server.report().sessions == 1
        policy.let_go.set()
        asked.result(60.0)
        assert server.report().sessions == 0


def test_sessions_of_a_collector_that_died_are_forgotten() -> None:
    now = 100.0
    server = PolicyServer("server-0.1", PolicyBatcher(Patient()), 0, clock=lambda: now)
    with serving(server):
        server.ask("collector-0.1/0", SEEN)
        now += SESSION_SECONDS - 1.0
        server.ask("collector-1.1/0", SEEN)
        assert server.report().sessions == 2
        now += 2.0
        wait_until(lambda: server.report().sessions == 1)


def test_who_waits_when_it_closes_hears_that_it_is_gone() -> None:
    policy = Held()
    batcher = PolicyBatcher(policy)
    server, over = PolicyServer("server-0.1", batcher, past_screens=0), threading.Event()
    with ThreadPoolExecutor(3) as threads:
        served = threads.submit(server.serve, lambda: not over.is_set())
        first = threads.submit(server.ask, "collector-0.1/0", SEEN)
        wait_until(lambda: len(policy.batches) == 1)
        second = threads.submit(server.ask, "collector-0.1/1", SEEN)
        wait_until(lambda: batcher.waiting == 1)
        over.set()
        policy.let_go.set()
        served.result(60.0)
        first.result(60.0)
        with pytest.raises(PolicyServerGone, match=r"server-0\.1 has closed"):
            second.result(60.0)
    with pytest.raises(PolicyServerGone, match=r"server-0\.1 has closed"):
        server.ask("collector-0.1/1", SEEN)


def test_a_policy_that_fails_ends_the_server_and_nobody_waits_for_ever() -> None:
    server = PolicyServer("server-0.1", PolicyBatcher(Broken()), past_screens=0)
    with ThreadPoolExecutor(2) as threads:
        asked = threads.submit(server.ask, "collector-0.1/0", SEEN)
        with pytest.raises(ZeroDivisionError):
            server.serve(lambda: True)
        with pytest.raises(PolicyServerGone):
            asked.result(60.0)


def test_the_wiring_makes_one_of_the_settings(tmp_path: Path, model: Path) -> None:
    torch.set_num_threads(1)
    config = tiny_config(tmp_path, model, "engine.policy=node", "agent.policy.past_screens=2")
    server = build_server(config, "server-0.1", Versions())
    with serving(server):
        decision = server.ask("collector-0.1/0", SEEN)
    assert len(decision.token_ids) == len(decision.log_probs) > 0
    assert server.report().past_screens == 2
