"""Threads that end are noticed, and what broke in one is raised where it is waited for."""

from __future__ import annotations

import threading

import pytest
from tests.episodes.made_up_collectors import wait_until

from distrl.episodes.device_threads import DeviceThreads


def test_all_work_and_all_end() -> None:
    done: list[str] = []
    ended: list[int] = []
    threads = DeviceThreads(
        "c", 3, lambda: done.append(threading.current_thread().name), lambda: ended.append(1)
    )
    threads.start()
    assert threads.join(20.0) == ()
    threads.raise_failure()
    assert sorted(done) == ["c/device-0", "c/device-1", "c/device-2"]
    assert len(ended) == 3
    assert not threads.working


def test_what_breaks_in_one_is_told_at_once_and_raised_with_a_word_on_the_others() -> None:
    let_go = threading.Event()
    order = iter(range(3))

    def work() -> None:
        number = next(order)
        if number == 2:
            assert let_go.wait(20.0)
            return
        raise KeyError(f"thread {number}")

    threads = DeviceThreads("c", 3, work, lambda: None)
    threads.start()
    wait_until(lambda: not threads.working)  # though one of them still works
    assert threads.join(0.05) == ("c/device-2",)
    let_go.set()
    assert threads.join(20.0) == ()
    with pytest.raises(KeyError, match="thread") as raised:
        threads.raise_failure()
    assert "another device's thread failed, too: KeyError" in raised.value.__notes__[0]
