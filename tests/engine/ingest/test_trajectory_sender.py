"""A trajectory is kept until somebody says that it is stored."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.delivery import TrajectorySender
from distrl.engine.ingest.messages import Delivery, Received, Refused
from distrl.errors import LearnerGone
from distrl.replay.trajectory_encoding import decode_trajectory


def sent_id(sent: SimpleQueue[Delivery]) -> str:
    return decode_trajectory(sent.get(timeout=60.0).trajectory).id


def test_put_returns_what_the_learner_says_and_only_then() -> None:
    sent: SimpleQueue[Delivery] = SimpleQueue()
    sender = TrajectorySender(sent.put)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sender.put, trajectory("a"))
        second = pool.submit(sender.put, trajectory("b"))
        assert {sent_id(sent), sent_id(sent)} == {"a", "b"}
        assert not first.done()
        sender.answered(Received("b", False))
        assert second.result(60.0) is False
        assert not first.done()
        sender.answered(Received("a", True))
        assert first.result(60.0) is True
        sender.answered(Received("a", True))  # said twice: no harm


def test_what_could_not_be_stored_is_sent_again() -> None:
    sent: SimpleQueue[Delivery] = SimpleQueue()
    sender = TrajectorySender(sent.put, retry_seconds=0.01)
    with ThreadPoolExecutor(1) as pool:
        put = pool.submit(sender.put, trajectory("a"))
        for _ in range(3):
            assert sent_id(sent) == "a"
            sender.answered(Refused("a", "the disk is full"))
        assert sent_id(sent) == "a"
        sender.answered(Received("a", True))
        assert put.result(60.0) is True


@pytest.mark.parametrize("when", ["before", "while it waits", "while it is refused"])
def test_nobody_waits_for_a_learner_that_is_gone(when: str) -> None:
    sent: SimpleQueue[Delivery] = SimpleQueue()
    sender = TrajectorySender(sent.put, retry_seconds=60.0)
    if when == "before":
        sender.break_off()
    with ThreadPoolExecutor(1) as pool:
        put = pool.submit(sender.put, trajectory("a"))
        if when != "before":
            sent_id(sent)
        if when == "while it is refused":
            sender.answered(Refused("a", "full"))
        threading.Timer(0.05, sender.break_off).start()
        with pytest.raises(LearnerGone, match="trajectory a was not"):
            put.result(60.0)


def test_a_connection_that_breaks_while_sending_is_said_so() -> None:
    def broken(delivery: Delivery) -> None:
        raise EOFError("gone")

    with pytest.raises(LearnerGone, match="gone"):
        TrajectorySender(broken).put(trajectory("a"))
