"""A collector that is run by messages: what it is told, it does; what it does, it tells."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from queue import SimpleQueue

import pytest
from tests.episodes.made_up_collectors import POOL, Patient

from distrl.devices.device import Device
from distrl.engine.ingest.delivery import TrajectorySender
from distrl.engine.ingest.messages import (
    Delivery,
    Heartbeat,
    Message,
    MessageSocket,
    Pace,
    Play,
    Played,
    Received,
    Refused,
    Stop,
)
from distrl.engine.local import collector_process
from distrl.engine.local.collector_process import CollectorService
from distrl.engine.local.shared_encodings import EncodingSender
from distrl.engine.supervision.collector_registry import PacedAdmission
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings
from distrl.errors import LearnerGone
from distrl.process_environment import for_forkserver
from distrl.replay.trajectory_encoding import decode_trajectory
from distrl.task_sets.curriculum import UniformTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

LONG = 30.0  # seconds that no test takes
FREE = Pace(version=0, free=True)
IMPORT = """
import os
before = len(os.listdir("/proc/self/fd"))
import distrl.engine.local.collector_process
print(len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")) - before)
"""


class AskedAdmission(PacedAdmission):
    """Keeps what it has answered, and by which pace."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: SimpleQueue[tuple[Pace, bool]] = SimpleQueue()

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        pace, answer = self.pace, super().may_start(weight_version, in_flight)
        self.answers.put((pace, answer))
        return answer


class LearnersEnd:
    """The other end of the connection of a collector, which is served in a thread of this one."""

    def __init__(self, heartbeat_seconds: float = 1000.0) -> None:
        mine, its = socket.socketpair()
        mine.settimeout(LONG)
        self._connection = mine
        self._gone = False
        self.link, link = MessageSocket(mine, LONG), MessageSocket(its)
        self._its = its
        self.admission = AskedAdmission()
        sender = TrajectorySender(link.send, retry_seconds=0.0)
        phones: list[Device] = [SimulatedDevice("phone-0"), SimulatedDevice("phone-1")]
        self.collector: Collector[Device] = Collector(
            "collector-0.1",
            PolicyBatcher(Patient(), PolicyBatcherSettings(max_wait_seconds=0.0)),
            DevicePool(phones),
            UniformTasks(POOL),
            sender,
            FactJudge,  # type: ignore[arg-type]  # all of these devices are simulated
            self.admission,
        )
        self.service = CollectorService(
            link,
            self.collector,
            sender,
            self.admission,
            heartbeat_seconds,
            EncodingSender(link.send),
        )
        self._thread = ThreadPoolExecutor(1)
        self.served: Future[None] = self._thread.submit(self.service.serve)

    def tell(self, message: Message) -> None:
        self.link.send(message)

    def hear(self) -> Message:
        return self.link.receive()

    def hear_until(self, kind: type[Message]) -> list[Message]:
        """All up to the first of that kind; deliveries are acknowledged on the way."""
        heard: list[Message] = []
        while not heard or not isinstance(heard[-1], kind):
            heard.append(self.hear())
            if isinstance(heard[-1], Delivery):
                self.tell(Received(id_of(heard[-1]), new=True))
        return heard

    def hang_up(self) -> None:
        self._gone = True
        self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def close(self) -> None:
        """End its threads, and the timer that would end this process."""
        if not self._gone:
            self.hang_up()
        self._thread.shutdown()
        for each in threading.enumerate():
            if each.name == "listener":
                each.join(LONG)
        for each in threading.enumerate():
            if isinstance(each, threading.Timer):
                each.cancel()
                each.join(LONG)
        self._its.close()


def id_of(delivery: Message) -> str:
    assert isinstance(delivery, Delivery)
    return decode_trajectory(delivery.trajectory).id


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Iterator[LearnersEnd]:
    monkeypatch.setattr(collector_process, "LAST_SECONDS", 1e6)  # it would end this process
    opened = LearnersEnd()
    try:
        yield opened
    finally:
        opened.close()


def test_it_plays_what_it_is_told_to_and_says_when_it_is_done(learner: LearnersEnd) -> None:
    learner.tell(FREE)
    for round_ in (1, 2):
        learner.tell(Play(3))
        heard = learner.hear_until(Played)
        assert [type(each) for each in heard] == [Delivery] * 3 + [Heartbeat, Played]
        heartbeat = heard[-2]
        assert isinstance(heartbeat, Heartbeat)
        assert sorted(each.id for each in heartbeat.finished) == sorted(map(id_of, heard[:3]))
        assert heartbeat.report.trajectories == 3 * round_
        assert json.loads(heartbeat.state) == learner.collector.state()
    learner.tell(Stop(0.0))
    last = learner.hear()
    assert isinstance(last, Heartbeat)  # and nothing is left to tell
    assert last.finished == ()
    learner.served.result(LONG)


def test_it_starts_nothing_before_it_was_told_its_pace(learner: LearnersEnd) -> None:
    learner.tell(Play(1))
    answers = learner.admission.answers
    assert answers.get(timeout=LONG) == (Pace(version=0), False)
    full = Pace(version=7, rooms=(-1,))
    learner.tell(full)
    while (asked := answers.get(timeout=LONG))[0] != full:
        assert not asked[1]
    assert not asked[1]
    assert learner.collector.report().started == 0
    learner.tell(Pace(version=0, rooms=(0,)))  # the first that lets one start
    assert [type(each) for each in learner.hear_until(Played)] == [Delivery, Heartbeat, Played]
    learner.tell(Stop(0.0))
    learner.served.result(LONG)


def test_it_plays_without_end_until_it_is_told_to_stop(learner: LearnersEnd) -> None:
    learner.tell(FREE)
    learner.tell(Play(None))
    for _ in range(5):
        [delivery] = learner.hear_until(Delivery)
    learner.tell(Stop(LONG))
    *rest, last = learner.hear_until(Heartbeat)
    assert all(isinstance(each, Delivery) for each in rest)  # it never says that all was played
    assert isinstance(last, Heartbeat)
    told = [each.id for each in last.finished]
    assert id_of(delivery) in told
    assert len(told) == len(set(told)) == 5 + len(rest)
    learner.served.result(LONG)


def test_what_was_refused_comes_again(learner: LearnersEnd) -> None:
    learner.tell(FREE)
    learner.tell(Play(1))
    first = learner.hear()
    learner.tell(Refused(id_of(first), "the disk is full"))
    again = learner.hear()
    assert again == first
    learner.tell(Received(id_of(again), new=True))
    assert [type(each) for each in learner.hear_until(Played)] == [Heartbeat, Played]
    learner.tell(Stop(0.0))
    learner.served.result(LONG)


def test_heartbeats_come_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_process, "LAST_SECONDS", 1e6)
    with closing(LearnersEnd(heartbeat_seconds=0.01)) as learner:
        for _ in range(3):
            assert isinstance(learner.hear(), Heartbeat)
        learner.tell(Stop(0.0))
        learner.served.result(LONG)


@pytest.mark.slow
def test_it_ends_when_the_learner_is_gone_and_says_what_was_not_stored(
    learner: LearnersEnd,
) -> None:
    learner.tell(FREE)
    learner.tell(Play(1))  # no other episode notices that the connection is gone
    assert isinstance(learner.hear(), Delivery)  # which nobody acknowledges
    learner.hang_up()
    with pytest.raises(LearnerGone, match=r"trajectory collector-0\.1/.* was not delivered"):
        learner.served.result(LONG)


def test_one_that_waits_for_orders_ends_when_the_learner_is_gone(learner: LearnersEnd) -> None:
    learner.hang_up()
    learner.served.result(LONG)
    assert learner.collector.report().started == 0


def test_a_message_that_is_none_for_it_breaks_it(
    learner: LearnersEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    broke: SimpleQueue[threading.ExceptHookArgs] = SimpleQueue()
    monkeypatch.setattr(threading, "excepthook", broke.put)
    learner.tell(Stop(0.0))
    learner.tell(Played())
    failed = broke.get(timeout=LONG)
    assert isinstance(failed.exc_value, TypeError)
    assert str(failed.exc_value) == "a collector was sent a Played"
    assert failed.thread is not None
    assert failed.thread.name == "listener"
    learner.served.result(LONG)


@pytest.mark.slow
def test_to_import_it_starts_no_thread_and_opens_nothing() -> None:
    environment = for_forkserver(os.environ)
    words = [sys.executable, "-c", IMPORT]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]


def test_encodings_are_sent_once_they_are_asked_for(learner: LearnersEnd) -> None:
    learner.tell(FREE)
    assert not learner.service.encodings.wanted
    learner.tell(Play(1, share_encodings=True))
    learner.hear_until(Played)
    assert learner.service.encodings.wanted
