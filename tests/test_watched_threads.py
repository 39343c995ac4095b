"""Threads that end are noticed, and what one raised is raised again by its owner."""

from __future__ import annotations

import threading

import pytest
from tests.episodes.made_up_collectors import wait_until

from distrl.watched_threads import WatchedThreads


def test_all_work_and_all_end() -> None:
    done: list[str] = []
    ended: list[int] = []
    threads = WatchedThreads(
        "c/device",
        lambda: done.append(threading.current_thread().name),
        lambda: ended.append(1),
        count=3,
    )
    threads.start()
    assert threads.join(60.0)
    assert threads.alive == ()
    threads.raise_failure()
    assert sorted(done) == ["c/device-0", "c/device-1", "c/device-2"]
    assert len(ended) == 3
    assert not threads.working


def test_a_failure_is_known_at_once_and_raised_with_a_note_on_the_others() -> None:
    let_go = threading.Event()
    order = iter(range(3))

    def work() -> None:
        number = next(order)
        if number == 2:
            assert let_go.wait(60.0)
            return
        raise KeyError(f"thread {number}")

    threads = WatchedThreads("c/device", work, lambda: None, count=3)
    threads.start()
    wait_until(lambda: not threads.working)  # though one of them still works
    wait_until(lambda: threads.alive == ("c/device-2",))
    assert not threads.join(0.0)
    let_go.set()
    assert threads.join(60.0)
    with pytest.raises(KeyError, match="thread") as raised:
        threads.raise_failure()
    assert "another thread failed, too: KeyError" in raised.value.__notes__[0]


def test_one_thread_has_the_plain_name_and_its_error_reaches_its_owner() -> None:
    ended, names = [], []

    def work() -> None:
        names.append(threading.current_thread().name)
        raise ZeroDivisionError("ours")

    thread = WatchedThreads("broken", work, lambda: ended.append(True))
    thread.raise_failure()
    assert thread.join(0.0)  # not started yet
    thread.start()
    assert thread.join(60.0)
    with pytest.raises(ZeroDivisionError, match="ours"):
        thread.raise_failure()
    assert (ended, names) == ([True], ["broken"])
