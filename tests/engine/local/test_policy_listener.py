"""The policy process takes requests of many collectors, and of nobody else."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest
from tests.engine.local.test_policy_connection import Reader, digests, listening, observation
from tests.episodes.made_up_collectors import POOL, ListSink, Patient, phones, running, wait_until

from distrl.engine.local.policy_connection import find_policy_process, policy_address
from distrl.engine.serving.policy_client import PolicyClient
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.records import Answer
from distrl.task_sets.curriculum import UniformTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge


def test_collectors_play_over_it_and_their_sessions_end_with_them(tmp_path: Path) -> None:
    sink = ListSink()

    def collector(number: int) -> Collector[SimulatedDevice]:
        name = f"collector-{number}.1"
        client = PolicyClient(name, partial(find_policy_process, tmp_path))
        pool = DevicePool(phones(2))
        return Collector(name, client, pool, UniformTasks(POOL), sink, FactJudge)

    with listening(tmp_path, Patient()) as (server, _):
        with ExitStack() as opened:
            for number in range(2):
                opened.enter_context(running(collector(number)))
            wait_until(lambda: len(sink.all) >= 6)
        wait_until(lambda: server.report().sessions == 0)
    assert all(each.ending.judged for each in sink.all)


def test_a_connection_that_sends_no_requests_is_dropped_and_others_go_on(tmp_path: Path) -> None:
    with listening(tmp_path, Reader()):
        for garbage in (b"", b"S", b"GET / HTTP/1.1\r\n\r\n"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
                stranger.connect(policy_address(tmp_path))
                stranger.sendall(garbage)
                stranger.shutdown(socket.SHUT_WR)
                with suppress(ConnectionResetError):
                    assert stranger.recv(1) == b""
        client = PolicyClient("collector-0.1", partial(find_policy_process, tmp_path))
        seen = observation(1)
        assert client.ask(client.enter(), seen).action == Answer(digests(seen))


def test_a_descriptor_that_comes_with_another_greeting_is_closed(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with listening(tmp_path, Reader()), ours as sent, theirs:
        for _ in range(2):
            before = len(list(Path("/proc/self/fd").iterdir()))
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
                stranger.connect(policy_address(tmp_path))
                socket.send_fds(stranger, [b"?"], [sent.fileno()])
                with suppress(ConnectionResetError):
                    assert stranger.recv(1) == b""
            assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_processes_of_another_user_are_refused_on_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(tmp_path, Reader()):
        monkeypatch.setattr("distrl.engine.local.policy_connection.os.getuid", lambda: 12345)
        assert find_policy_process(tmp_path) is None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
            stranger.connect(policy_address(tmp_path))
            assert stranger.recv(1) == b""
