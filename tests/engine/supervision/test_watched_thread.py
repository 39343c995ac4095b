"""An error in a thread reaches the thread that owns it."""

from __future__ import annotations

import threading

import pytest

from distrl.engine.supervision.watched_thread import WatchedThread


def test_an_error_is_raised_by_its_owner() -> None:
    ended = []

    def work() -> None:
        raise ZeroDivisionError("ours")

    thread = WatchedThread("broken", work, lambda: ended.append(True))
    thread.raise_failure()
    thread.start()
    assert thread.join(60.0)
    with pytest.raises(ZeroDivisionError, match="ours"):
        thread.raise_failure()
    assert ended == [True]


def test_it_can_be_waited_for_and_ends_without_an_error() -> None:
    go_on = threading.Event()
    thread = WatchedThread("working", go_on.wait, lambda: None)  # type: ignore[arg-type]
    assert thread.join(0.0)  # it was never started
    thread.start()
    assert not thread.join(0.0)
    go_on.set()
    assert thread.join(60.0)
    thread.raise_failure()
