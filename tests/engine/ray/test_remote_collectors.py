"""Deliveries of many calls go to one thread together. No Ray is needed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import pytest

from distrl.engine.ingest.messages import Received
from distrl.engine.ingest.trajectory_receiver import Acknowledge
from distrl.engine.ray.remote_collectors import RemoteCollectors
from distrl.engine.run.collection import Arrived
from distrl.errors import CollectorsLost


def received(collectors: RemoteCollectors, count: int) -> list[Arrived]:
    """Rounds of the thread, until that many deliveries have come."""
    rounds: list[Arrived] = []
    while sum(len(each.deliveries) for each in rounds) < count:
        rounds.append(collectors.receive(60.0))
    return rounds


def test_every_call_gets_the_answer_to_its_own_delivery() -> None:
    collectors = RemoteCollectors()
    with ThreadPoolExecutor(8) as calls:
        answers = [calls.submit(collectors.deliver, str(n).encode()) for n in range(8)]
        for arrived in received(collectors, 8):
            for encoded, reply in arrived.deliveries:
                reply(Received(encoded.decode(), new=True))
        assert [each.result() for each in answers] == [Received(str(n), new=True) for n in range(8)]


def test_what_has_come_meanwhile_is_taken_together() -> None:
    collectors = RemoteCollectors()
    with ThreadPoolExecutor(3) as calls:
        answers = [calls.submit(collectors.deliver, b"") for _ in range(3)]
        while collectors._deliveries.qsize() < 3:
            time.sleep(0.001)
        arrived = collectors.receive(60.0)
        assert (len(arrived.deliveries), arrived.heartbeats) == (3, [])
        for _, reply in arrived.deliveries:
            reply(Received("", new=False))
        assert all(each.result() == Received("", new=False) for each in answers)
    assert collectors.receive(0.0).deliveries == []


def test_a_call_that_waits_when_the_run_ends_is_told_so() -> None:
    collectors = RemoteCollectors()
    with ThreadPoolExecutor(1) as calls:
        answer = calls.submit(collectors.deliver, b"")
        received(collectors, 1)
        collectors.close()
        with pytest.raises(CollectorsLost, match="not acknowledged is not stored"):
            answer.result()
    with pytest.raises(CollectorsLost):
        collectors.deliver(b"")


def test_what_was_stored_as_the_run_ended_is_acknowledged_all_the_same() -> None:
    class AnsweredAtOnce(SimpleQueue[tuple[bytes, Acknowledge]]):
        def put(self, item: tuple[bytes, Acknowledge], *_: object, **__: object) -> None:
            item[1](Received("a", new=True))

    collectors = RemoteCollectors()
    collectors._deliveries = AnsweredAtOnce()
    collectors.close()
    assert collectors.deliver(b"") == Received("a", new=True)
