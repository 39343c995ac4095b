"""Collectors and a policy process of one machine, over real sockets and shared memory."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.episodes.made_up_collectors import Patient, wait_until

from distrl.agent.policy import Policy
from distrl.engine.ingest.messages import MessageSocket
from distrl.engine.local.policy_connection import (
    PolicyConnection,
    find_policy_process,
    policy_address,
)
from distrl.engine.local.policy_listener import PolicyListener
from distrl.engine.serving.decision_messages import ReportRequest
from distrl.engine.serving.policy_client import PolicyClient
from distrl.engine.serving.policy_server import PolicyServer, ServerReport
from distrl.engine.serving.screen_memory import ScreenMemory
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.errors import PolicyServerGone
from distrl.records import Answer, Decision, Observation, Screen
from distrl.replay.compressed_screen import CompressedScreen


class Reader(Patient):
    """Answers with the digests of the screens that it sees; it can be held."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.batches.append(len(observations))
        assert self.free.wait(60.0)
        return [Decision(Answer(digests(each)), weight_version=3) for each in observations]


def digests(seen: Observation) -> str:
    return " ".join(each.digest for each in (*seen.past_screens, seen.screen))


def observation(seed: int, past: int = 0) -> Observation:
    rng = np.random.default_rng(seed)
    screens = [Screen(rng.integers(0, 256, (30, 20, 3), np.uint8)) for _ in range(past + 1)]
    return Observation(f"do {seed}", screens[-1], (), tuple(screens[:-1]))


@contextmanager
def listening(run: Path, policy: Policy) -> Iterator[tuple[PolicyServer, PolicyListener]]:
    """A policy process but for the process."""
    server, going = PolicyServer("policy-0.1", PolicyBatcher(policy), past_screens=2), [True]
    listener = PolicyListener(server, run)
    with ThreadPoolExecutor(3) as threads:
        loops = [
            threads.submit(work)
            for work in (
                listener.listen,
                listener.send_answers,
                partial(server.serve, lambda: bool(going)),
            )
        ]
        try:
            yield server, listener
        finally:
            going.clear()
            listener.close()
            for loop in loops:
                loop.result(60.0)


def test_a_report_that_came_too_late_is_not_taken_for_the_next_one() -> None:
    ours, theirs = socket.socketpair()
    server = MessageSocket(theirs)
    line = PolicyConnection(MessageSocket(ours), ScreenMemory())
    batcher = PolicyBatcher(Reader()).report()
    late, asked_for = (ServerReport("policy-0.1", number, 2, batcher) for number in (1, 2))
    server.send(late)
    wait_until(lambda: line._reports.qsize() == 1)
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(line.report)
        assert isinstance(server.receive(), ReportRequest)
        server.send(asked_for)
        assert found.result(60.0) == asked_for
    server.close()


def test_every_thread_gets_the_decision_on_its_own_screens(tmp_path: Path) -> None:
    policy = Reader()
    with listening(tmp_path, policy) as (server, _), ThreadPoolExecutor(16) as threads:
        clients = [
            PolicyClient(f"collector-{n}.1", partial(find_policy_process, tmp_path))
            for n in range(2)
        ]
        asked = [observation(seed, past=seed % 3) for seed in range(48)]
        handles = [client.enter() for client in clients for _ in range(8)]

        def ask(place: int) -> Decision:
            client = clients[place % 2]
            return client.ask(handles[place % 16], asked[place])

        decisions = list(threads.map(ask, range(48)))
        for seen, decision in zip(asked, decisions, strict=True):
            assert decision.action == Answer(digests(seen))
        assert clients[0].version == 3
        assert max(policy.batches) > 1
        for client in clients:
            for handle in handles:
                client.leave(handle)
        wait_until(lambda: server.report().sessions == 0)


def test_without_a_process_there_is_no_connection_and_with_one_there_is_its_report(
    tmp_path: Path,
) -> None:
    assert find_policy_process(tmp_path) is None
    with listening(tmp_path, Reader()):
        found = find_policy_process(tmp_path)
        assert found is not None
        report = found.report()
        assert report is not None
        assert (report.name, report.past_screens) == ("policy-0.1", 2)


def test_what_is_in_flight_when_it_ends_is_asked_again_of_its_replacement(tmp_path: Path) -> None:
    first, second, seen = Reader(), Reader(), observation(0)
    client = PolicyClient("collector-0.1", partial(find_policy_process, tmp_path))
    with ThreadPoolExecutor(1) as threads:
        with listening(tmp_path, first) as (_, listener):
            first.free.clear()
            asked = threads.submit(client.ask, client.enter(), seen)
            wait_until(lambda: first.batches == [1])
            found = find_policy_process(tmp_path)
            assert found is not None
            listener.close()
            wait_until(lambda: found._gone)
            with pytest.raises(PolicyServerGone):
                found.submit("any", observation(1, past=2))
            assert not asked.done()
            first.free.set()
        with listening(tmp_path, second):
            assert asked.result(60.0).action == Answer(digests(seen))
    assert (first.batches, second.batches) == ([1], [1])


def test_every_run_has_an_address_of_its_own(tmp_path: Path) -> None:
    other = tmp_path / ("a" * 200)  # longer than a socket's path may be
    assert policy_address(tmp_path) != policy_address(other)
    assert len(policy_address(other)) <= 107
    assert hashlib.blake2b(digest_size=16).hexdigest().encode() not in policy_address(other)


def test_screens_go_over_as_they_are_packed_under_their_own_address(tmp_path: Path) -> None:
    """These cannot be unpacked, so that whoever tried on the way would fail."""

    class Addresses(Reader):
        def decide(self, observations: Sequence[Observation]) -> list[Decision]:
            screens = [(*each.past_screens, each.screen) for each in observations]
            return [Decision(Answer(" ".join(s.address for s in each))) for each in screens]

    sealed = [CompressedScreen(b"no pixels", 30, 20, f"name {number}") for number in range(3)]
    client = PolicyClient("collector-0.1", partial(find_policy_process, tmp_path))
    with listening(tmp_path, Addresses()):
        decision = client.ask(client.enter(), Observation("do", sealed[2], (), tuple(sealed[:2])))
    assert decision.action == Answer("name 0 name 1 name 2")
