"""Collectors that die or hang are ended and started again, within limits. With real processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.made_up_reports import report

from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.local.collector_child import CollectorChild
from distrl.engine.local.framed_socket import FramedSocket
from distrl.engine.supervision.supervisor import (
    SILENT_START_SECONDS,
    STALLED_SECONDS,
    WINDOW,
    RestartBudget,
    Supervision,
)
from distrl.errors import CollectorsLost


class Nursery:
    """Starts processes that only wait, under a supervision whose clock the test sets."""

    def __init__(self, folder: Path, count: int = 1, restarts: int = 3) -> None:
        self.folder = folder
        self.lost: list[str] = []
        self.started: list[tuple[int, str]] = []
        self.sockets: list[socket.socket] = []
        self.supervision = Supervision(count, restarts, 1.0, self.start, self.on_lost)

    def start(self, number: int, state: str) -> CollectorChild:
        self.started.append((number, state))
        process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        ours, theirs = socket.socketpair()
        self.sockets += [ours, theirs]
        log = self.folder / "log"
        return CollectorChild(number, f"c{number}", process, FramedSocket(ours), log, state=state)

    def on_lost(self, child: CollectorChild, trouble: str) -> None:
        self.lost.append(trouble)

    def beat(self, now: float, decisions: int = 0, in_flight: int = 1, state: str = "") -> None:
        [child] = self.supervision.children
        self.supervision.heard(child, Heartbeat(report(decisions, in_flight), (), state), now)

    def close(self) -> None:
        self.supervision.end_all()
        for each in self.sockets:
            each.close()


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    made = Nursery(tmp_path)
    yield made
    made.close()


def test_who_dies_is_started_again_after_a_pause_with_its_last_state(nursery: Nursery) -> None:
    [child] = nursery.supervision.look(0.0)
    nursery.beat(1.0, state='{"started": 5}')
    os.kill(child.process.pid, signal.SIGKILL)
    child.process.wait()
    assert nursery.supervision.look(2.0) == []
    assert nursery.lost == ["ended with code -9"]
    assert nursery.supervision.look(2.2) == []
    [again] = nursery.supervision.look(2.3)
    assert again.is_running()
    assert nursery.started == [(0, ""), (0, '{"started": 5}')]


def test_who_has_finished_an_episode_is_started_again_at_once(nursery: Nursery) -> None:
    nursery.supervision.look(0.0)
    for now, trajectories, waits in ((1.0, 0, 0.25), (5.0, 0, 0.5), (9.0, 1, 0.25)):
        [child] = nursery.supervision.children
        beat = Heartbeat(report(0, 1, trajectories), (), "")
        nursery.supervision.heard(child, beat, now)
        child.kill()
        assert nursery.supervision.look(now + 1.0) == []
        assert nursery.supervision.look(now + 1.0 + waits - 0.01) == []
        assert len(nursery.supervision.look(now + 1.0 + waits)) == 1


def test_who_is_silent_is_killed_and_who_still_loads_its_model_is_not(nursery: Nursery) -> None:
    [child] = nursery.supervision.look(0.0)
    nursery.supervision.look(SILENT_START_SECONDS - 1.0)
    assert child.is_running()
    nursery.beat(SILENT_START_SECONDS)
    os.kill(child.process.pid, signal.SIGSTOP)  # a process that hangs
    nursery.supervision.look(SILENT_START_SECONDS + 5.9)
    assert child.is_running()
    nursery.supervision.look(SILENT_START_SECONDS + 6.1)
    assert not child.is_running()
    assert nursery.lost == ["was silent for 6 s"]


def test_who_lives_and_does_nothing_is_killed_unless_it_may_not(nursery: Nursery) -> None:
    [child] = nursery.supervision.look(0.0)
    now = 0.0
    while now < 2 * STALLED_SECONDS:  # held back: nothing in flight
        now += 5.0
        nursery.beat(now, decisions=7, in_flight=0)
        nursery.supervision.look(now)
    assert child.is_running()
    while now < 3 * STALLED_SECONDS - 5.0:  # at work
        now += 5.0
        nursery.beat(now, decisions=int(now))
        nursery.supervision.look(now)
    assert child.is_running()
    stuck = now
    while now < stuck + STALLED_SECONDS + 10.0 and child.is_running():
        now += 5.0
        nursery.beat(now, decisions=int(stuck))
        nursery.supervision.look(now)
    assert not child.is_running()
    assert nursery.lost[0].startswith("did nothing for 90")


def test_when_the_last_is_given_up_the_run_ends(tmp_path: Path) -> None:
    nursery, lives = Nursery(tmp_path, count=2, restarts=1), [0, 0]

    def kill_whoever_is_started() -> None:
        for now in range(100):
            for child in nursery.supervision.look(float(now)):
                lives[child.number] += 1
                child.kill()

    with pytest.raises(CollectorsLost, match="all 2 collectors failed"):
        kill_whoever_is_started()
    nursery.close()
    assert lives == [2, 2]
    assert nursery.supervision.restarts == 2


def test_pauses_grow_and_old_failures_are_forgiven() -> None:
    budget = RestartBudget(most=3)
    assert [budget.pause_after_failure(t) for t in (0.0, 1.0, 2.0)] == [0.25, 0.5, 1.0]
    assert budget.pause_after_failure(3.0) is None
    later = RestartBudget(most=3)
    for _ in range(3):
        later.pause_after_failure(0.0)
    assert later.pause_after_failure(WINDOW + 0.1) == 0.25
    worked = RestartBudget(most=9)
    pauses = [worked.pause_after_failure(t, had_worked=t == 2.0) for t in (0.0, 1.0, 2.0, 3.0)]
    assert pauses == [0.25, 0.5, 0.25, 0.5]
    assert RestartBudget(most=0).pause_after_failure(0.0) is None
