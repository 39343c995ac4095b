"""Episodes that are ready to be advanced: nobody waits for one in vain, and no stage goes on."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from distrl.episodes.collector_report import CollectorMetrics
from distrl.episodes.collector_run import CollectorRun, Episodic
from distrl.episodes.scheduler import EpisodeBudget
from distrl.records import Decision


def run_of(metrics: CollectorMetrics | None = None) -> CollectorRun:
    return CollectorRun(EpisodeBudget(), metrics or CollectorMetrics())


def episode(*decisions: Future[Decision]) -> Episodic:
    yield from decisions


def worker(run: CollectorRun, taken: list[Episodic | None]) -> threading.Thread:
    """Takes episodes until there are no more."""

    def work() -> None:
        while (found := run._ready.next()) is not None:
            taken.append(found)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_workers_end_after_those_that_are_ready() -> None:
    run, taken = run_of(), list[Episodic | None]()
    decided, last = Future[Decision](), Future[Decision]()
    first, second = episode(decided), episode(last)
    run.advance(first)
    run.advance(second)
    decided.cancel()
    last.cancel()
    run.end_workers()
    threads = [worker(run, taken) for _ in range(3)]
    for thread in threads:
        thread.join(60.0)
        assert not thread.is_alive()
    assert set(taken) == {first, second}


def test_who_waits_when_all_is_dropped_and_who_comes_later_gets_nothing() -> None:
    """A worker may be in the sink while the others end, and come back after that."""
    run, taken = run_of(), list[Episodic | None]()
    waiting = worker(run, taken)
    run.end_workers()
    run.drop()
    late = worker(run, taken)
    for thread in (waiting, late):
        thread.join(60.0)
        assert not thread.is_alive()
    assert taken == []


def test_no_stage_goes_on_for_an_episode_that_is_ready_while_all_is_dropped() -> None:
    dropped, dropping = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def drop() -> None:
        run.drop()
        dropped.set()

    def clock() -> float:
        """Read when the stage begins: the moment between deciding to wait and waiting."""
        if dropping.is_set() and not threads:
            threads.append(threading.Thread(target=drop, daemon=True))
            threads[0].start()
            dropped.wait(0.2)  # the drop may have to wait until the stage has begun
        return 0.0

    metrics = CollectorMetrics(clock)
    run = run_of(metrics)
    decided = Future[Decision]()
    run.advance(episode(decided))
    dropping.set()
    decided.cancel()
    threads[0].join(60.0)
    assert not metrics._stages._under_way


def test_what_is_decided_after_the_drop_is_let_go() -> None:
    metrics = CollectorMetrics()
    run, decided = run_of(metrics), Future[Decision]()
    run.advance(episode(decided))
    run.drop()
    decided.cancel()
    assert run._ready.next() is None
    assert not metrics._stages._under_way
