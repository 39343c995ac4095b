"""The thread between collectors and learner, and the pace that collectors are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from tests.engine.made_up_reports import report
from tests.learning.small_circle import SmallCircle
from tests.replay.made_up_trajectories import trajectory
from tests.slow_params import mostly_slow

from distrl.engine.ingest.delivery import Acknowledge, ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Received
from distrl.engine.run.collection import (
    MAX_IN_FLIGHT,
    Arrived,
    AsynchronousCollection,
    Collection,
    pace_of,
)
from distrl.engine.supervision.collector_registry import CollectorRegistry
from distrl.errors import CollectorsLost, CorruptRecord
from distrl.json_lines import LineLog
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.learner import Learner
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory
from distrl.weights.staleness import StalenessLimit


@pytest.mark.parametrize("at_start", [0, 3, 8])
def test_the_pace_says_what_the_learner_says(at_start: int) -> None:
    circle = SmallCircle(
        pacing=Pacing(samples_per_insert=4.0, minimum_fill=8),
        batch_trajectories=4,
        updates_per_publish=2,
        staleness=StalenessLimit(at_start=at_start, at_arrival=None if at_start == 0 else 32),
    )
    answers = set()
    for number in range(12):
        circle.collect(number)
        circle.learner.step()
        learner, pace = circle.learner, pace_of(circle.learner)
        for version in range(learner.version - 10, learner.version + 2):
            for in_flight in range(90):
                said = learner.may_start(version, in_flight)
                assert pace.may_start(version, in_flight) == said, (number, version, in_flight)
                answers.add(said)
    assert answers == {True, False}


def test_without_a_limit_everybody_may_start_but_not_while_the_corpus_is_learned() -> None:
    free = StalenessLimit(at_start=None, at_arrival=None)
    online = SmallCircle(staleness=free)
    assert pace_of(online.learner).may_start(-100, MAX_IN_FLIGHT)
    offline = SmallCircle(staleness=free, mode="offline")
    assert not pace_of(offline.learner).may_start(0, 0)
    assert not pace_of(SmallCircle(mode="offline").learner).may_start(0, 0)


def by_search(learner: Learner, version: int) -> int:
    """The most in flight behind which one more may start, by asking the learner; or -1."""
    if not learner.may_start(version, 0):
        return -1
    low, high = 0, 1
    while learner.may_start(version, high) and high < MAX_IN_FLIGHT:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if learner.may_start(version, middle) else (low, middle)
    return low


@pytest.mark.parametrize("samples_per_insert", mostly_slow([0.1, 0.7, 1.0, 3.3, 64.0], (0.7, 3.3)))
@pytest.mark.parametrize("updates_per_publish", [1, 3])
@pytest.mark.parametrize("warm_up_updates", [0, 5])
def test_the_closed_form_is_what_a_search_finds(
    samples_per_insert: float, updates_per_publish: int, warm_up_updates: int
) -> None:
    circle = SmallCircle(
        pacing=Pacing(samples_per_insert=samples_per_insert, minimum_fill=4),
        batch_trajectories=4,
        updates_per_publish=updates_per_publish,
        warm_up_updates=warm_up_updates,
        staleness=StalenessLimit(at_start=5, at_arrival=32),
        refresh_trajectories=0,
        make=FilteredBc,  # what is learned does not matter here, and this is cheap
    )
    found = set()
    for number in range(25):
        circle.collect(number)
        circle.learner.step()
        version = circle.learner.version
        rooms = tuple(by_search(circle.learner, version - behind) for behind in range(6))
        assert pace_of(circle.learner).rooms == rooms, number
        found |= set(rooms)
    assert len(found) > 1


# The thread between collectors and the learner ---------------------------------------------------


class MadeUpCollectors:
    """Implements `Collectors` by what the test puts in; one round of the thread at a time."""

    def __init__(self) -> None:
        self.incoming: SimpleQueue[Arrived] = SimpleQueue()
        self.rounds: SimpleQueue[None] = SimpleQueue()
        self.closed = 0

    def receive(self, seconds: float) -> Arrived:
        try:
            return self.incoming.get(timeout=seconds)
        except Empty:
            return Arrived([], [])

    def look_after(self) -> None:
        self.rounds.put(None)

    def close(self) -> None:
        self.closed += 1

    def put(self, arrived: Arrived) -> None:
        """Returns when the thread has dealt with it."""
        self.incoming.put(arrived)
        while not self.incoming.empty():
            self.rounds.get(timeout=60.0)
        for _ in range(2):  # the round that took it may not have ended
            self.rounds.get(timeout=60.0)


@dataclass
class Collecting:
    """A collection with a real store."""

    collection: AsynchronousCollection
    collectors: MadeUpCollectors
    registry: CollectorRegistry
    arrivals: ArrivalQueue
    store: TrajectoryStore


@pytest.fixture
def collecting(tmp_path: Path) -> Iterator[Collecting]:
    run, arrivals, collectors = RunDirectory(tmp_path), ArrivalQueue(), MadeUpCollectors()
    with TrajectoryStore(run.trajectories) as store, LineLog.open(run.episodes) as log:
        episode_log = EpisodeLog(log, lambda: 0.0)
        registry = CollectorRegistry(
            count=1,
            restarts=0,
            silent_seconds=6.0,
            run=run,
            episode_log=episode_log,
            waiting=arrivals.__len__,
            say=lambda sentence: None,
            wake=arrivals.wake,
        )
        receiver = TrajectoryReceiver(store, arrivals, episode_log, max_waiting=2)
        collection = AsynchronousCollection(registry, collectors, receiver, arrivals)
        yield Collecting(collection, collectors, registry, arrivals, store)
        collection.kill()


def delivery(name: str, answers: list[object]) -> tuple[bytes, Acknowledge]:
    return encode_trajectory(trajectory(name)), answers.append


def test_what_is_delivered_is_stored_once_acknowledged_each_time_and_arrives(
    collecting: Collecting,
) -> None:
    answers: list[object] = []
    info = collecting.registry.register(0).info
    collecting.collection.start()
    twice = [delivery("collector-0.1/1", answers) for _ in range(2)]
    heartbeat = Heartbeat(report(trajectories=0), (), '{"started": 1}')
    collecting.collectors.put(Arrived(twice, [(info, heartbeat)]))
    assert answers == [
        Received("collector-0.1/1", new=True),
        Received("collector-0.1/1", new=False),
    ]
    assert collecting.arrivals.popleft().id == "collector-0.1/1"
    assert collecting.collection.states() == {0: '{"started": 1}'}
    assert len(collecting.collection.reports()) == 1
    assert collecting.collection.phone_seconds() == {"decide": 1.5}


def test_acknowledgements_wait_while_the_learner_is_behind(collecting: Collecting) -> None:
    answers: list[object] = []
    collecting.collection.start()
    for n in (1, 2, 3):
        collecting.collectors.put(Arrived([delivery(f"collector-0.1/{n}", answers)], []))
    assert len(collecting.store.ids) == 3  # durable, all of them
    assert len(answers) == 1
    collecting.arrivals.popleft()
    collecting.arrivals.popleft()
    collecting.collectors.put(Arrived([], []))
    assert len(answers) == 3


def test_a_run_without_collectors_ends_with_an_error(collecting: Collecting) -> None:
    collecting.collection.start()
    collecting.collection.check()
    collecting.registry.report_exit(0, "died")
    with pytest.raises(CollectorsLost, match="all 1 collectors failed"):
        collecting.collection.wait(60.0)


def test_an_error_in_the_thread_is_raised_by_the_learners_next_call(
    collecting: Collecting,
) -> None:
    collecting.collection.start()
    collecting.collectors.incoming.put(Arrived([(b"no trajectory", lambda answer: None)], []))
    with pytest.raises(CorruptRecord):
        collecting.collection.wait(60.0)
    assert collecting.collectors.closed


def test_a_stop_ends_the_thread_when_all_collectors_have_ended(collecting: Collecting) -> None:
    info = collecting.registry.register(0).info
    collecting.collection.start()
    collecting.registry.stop(3600.0)
    collecting.collectors.put(Arrived([], []))
    assert collecting.collectors.closed == 0
    collecting.registry.deregister(info)
    collecting.collection.stop(3600.0)
    assert collecting.collectors.closed == 1


def test_a_run_that_learns_from_a_corpus_collects_nothing() -> None:
    nothing = Collection()
    nothing.start()
    nothing.pace(SmallCircle(mode="offline").learner)
    assert nothing.wait(3600.0)
    nothing.stop(3600.0)
    assert (nothing.reports(), nothing.states(), nothing.phone_seconds()) == ([], {}, {})
