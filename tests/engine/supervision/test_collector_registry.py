"""Collectors come, deliver, fall silent and go; the office keeps the books. No Ray is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.engine.made_up_reports import report
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Pace, Received
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.engine.supervision.collector_registry import (
    LEAST_SILENCE,
    CollectorInfo,
    CollectorRegistry,
)
from distrl.engine.supervision.supervisor import FIRST_PAUSE, SILENT_START_SECONDS
from distrl.errors import CollectorsLost
from distrl.json_lines import LineLog, read_lines
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine


@dataclass
class Bureau:
    """An office with a real store, whose clock the test sets."""

    registry: CollectorRegistry
    arrivals: ArrivalQueue
    episode_log: EpisodeLog
    store: TrajectoryStore
    run: RunDirectory
    said: list[str] = field(default_factory=list)
    now: float = 0.0


@pytest.fixture
def bureau(tmp_path: Path) -> Iterator[Bureau]:
    run, arrivals = RunDirectory(tmp_path), ArrivalQueue()
    with (
        TrajectoryStore(run.trajectories) as store,
        LineLog.open(run.episodes) as log,
    ):
        episode_log = EpisodeLog(log, lambda: 0.0)
        registry = CollectorRegistry(
            count=2,
            restarts=1,
            heartbeat_seconds=1.0,
            run=run,
            receiver=TrajectoryReceiver(store, arrivals, episode_log, max_waiting=2),
            episode_log=episode_log,
            waiting=arrivals.__len__,
            say=lambda sentence: made.said.append(sentence),
            wake=arrivals.wake,
            clock=lambda: made.now,
        )
        made = Bureau(registry, arrivals, episode_log, store, run)
        registry.open({1: '{"started": 9}'})
        yield made
        registry.close()


def beat(state: str = "", trajectories: int = 0) -> Heartbeat:
    return Heartbeat(report(trajectories=trajectories), (), state)


def test_who_enlists_gets_a_name_of_its_own_and_what_to_go_on_from(bureau: Bureau) -> None:
    first, second = bureau.registry.register(0, "here"), bureau.registry.register(1, "there")
    assert (first.info.name, first.state) == ("collector-0.1", "")
    assert (second.info.name, second.state) == ("collector-1.1", '{"started": 9}')
    bureau.registry.beat(first.info, 2, beat('{"started": 3}'))
    again = bureau.registry.register(0, "here")
    assert (again.info.name, again.state) == ("collector-0.2", '{"started": 3}')
    assert bureau.episode_log.faults["collector_lost"] == 1
    assert bureau.registry.states() == {0: '{"started": 3}', 1: '{"started": 9}'}


def test_each_hears_what_is_under_way_elsewhere(bureau: Bureau) -> None:
    first, second = bureau.registry.register(0, "here"), bureau.registry.register(1, "there")
    bureau.registry.pace(Pace(version=5, rooms=(10,)))
    bureau.registry.beat(second.info, 4, None)
    orders = bureau.registry.beat(first.info, 3, None)
    assert orders.pace == Pace(version=5, rooms=(10,), elsewhere=4)
    assert bureau.registry.beat(second.info, 4, None).pace.elsewhere == 3


def test_what_is_delivered_is_stored_once_and_acknowledged_twice(bureau: Bureau) -> None:
    encoded = encode_trajectory(trajectory("collector-0.1/1"))
    assert bureau.registry.deliver(encoded) == Received("collector-0.1/1", new=True)
    assert bureau.registry.deliver(encoded) == Received("collector-0.1/1", new=False)
    assert list(bureau.store.ids) == ["collector-0.1/1"]
    assert len(bureau.arrivals) == 1


def test_who_delivers_too_much_waits_until_the_learner_has_caught_up(bureau: Bureau) -> None:
    answers: list[object] = []

    def deliver(number: int) -> None:
        encoded = encode_trajectory(trajectory(f"collector-0.1/{number}"))
        answers.append(bureau.registry.deliver(encoded))

    deliver(1)
    late = [threading.Thread(target=deliver, args=(number,)) for number in (2, 3)]
    for thread in late:
        thread.start()
        thread.join(0.5)
    assert len(bureau.store.ids) == 3  # durable, all of them
    assert len(answers) == 1
    bureau.arrivals.popleft()
    bureau.arrivals.popleft()
    for thread in late:
        thread.join(5.0)
    assert len(answers) == 3


def test_a_collector_that_brings_nothing_is_given_up_and_with_the_last_the_run(
    bureau: Bureau,
) -> None:
    for number in (0, 1):
        bureau.registry.check()
        bureau.registry.register(number, "here")
        assert bureau.registry.gone(number, ["here"]) == FIRST_PAUSE
        assert bureau.registry.gone(number, ["here"]) is None  # it did not even enlist
    with pytest.raises(CollectorsLost, match="all 2 collectors failed"):
        bureau.registry.check()


def test_one_that_dies_right_after_it_brought_something_starts_again_soon(bureau: Bureau) -> None:
    bureau.registry.restarts = 1000
    bureau.registry.open({})
    for _ in range(3):
        info = bureau.registry.register(0, "here").info
        bureau.registry.deliver(encode_trajectory(trajectory(f"{info.name}/1")))
        bureau.arrivals.popleft()
        assert bureau.registry.gone(0, ["here"]) == FIRST_PAUSE
    assert bureau.registry.gone(0, ["here"]) == 2 * FIRST_PAUSE  # this one has brought nothing


def test_a_node_that_goes_costs_nobody_its_restarts(bureau: Bureau) -> None:
    for place in ("one", "two", "three"):
        bureau.registry.register(0, place)
        assert bureau.registry.gone(0, ["four"]) == 0.0
    assert bureau.said[-1] == "collector-0.3 on three is gone, with its node"
    assert bureau.episode_log.faults["collector_lost"] == 3


def test_who_is_silent_is_named_and_who_still_loads_its_model_is_not(bureau: Bureau) -> None:
    first, second = bureau.registry.register(0, "here"), bureau.registry.register(1, "there")
    bureau.registry.beat(first.info, 0, None)
    bureau.now = LEAST_SILENCE + 1.0
    assert bureau.registry.silent() == [first.info]
    bureau.registry.beat(first.info, 0, None)
    assert bureau.registry.silent() == []
    bureau.now = SILENT_START_SECONDS + 1.0
    assert second.info in bureau.registry.silent()


def test_a_collector_that_outlives_a_learner_is_known_again(bureau: Bureau) -> None:
    survivor = CollectorInfo("collector-1.7", 1, "there")
    bureau.registry.beat(survivor, 1, beat('{"started": 4}'))
    assert bureau.registry.badges() == [survivor]
    assert bureau.registry.states()[1] == '{"started": 4}'


def test_a_predecessor_that_still_lives_changes_nothing(bureau: Bureau) -> None:
    old = bureau.registry.register(0, "cut off").info
    new = bureau.registry.register(0, "here").info
    bureau.registry.beat(old, 5, beat('{"started": 1}'))
    bureau.registry.leave(old, beat('{"started": 1}'))
    assert bureau.registry.badges() == [new]
    assert bureau.registry.states().get(0, "") == ""


def test_an_end_is_told_and_waited_for(bureau: Bureau) -> None:
    info = bureau.registry.register(0, "here").info
    bureau.registry.deliver(encode_trajectory(trajectory(f"{info.name}/1")))
    assert not bureau.registry.stop(0.0, patience=0.05)  # it has not gone yet
    assert [line.id for line in read_lines(bureau.run.episodes, EpisodeLine)] == ["collector-0.1/1"]
    assert bureau.registry.beat(info, 1, None).finish_within == 0.0
    bureau.registry.leave(info, beat())
    assert bureau.registry.stop(0.0, patience=0.05)
