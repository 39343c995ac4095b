"""Collectors come, deliver, fall silent and go; the registry decides. No process is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.engine.made_up_reports import finished, report
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Pace
from distrl.engine.supervision.collector_registry import (
    FIRST_JOINED,
    JOINED_SILENT_SECONDS,
    LAST_SECONDS,
    LOOK_SECONDS,
    CollectorInfo,
    CollectorRegistry,
    PacedAdmission,
)
from distrl.engine.supervision.process_names import new_name
from distrl.engine.supervision.restart_budget import (
    FIRST_PAUSE,
    SILENT_START_SECONDS,
    STALLED_SECONDS,
)
from distrl.errors import CollectorsLost
from distrl.json_lines import LineLog, read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import CollectorNotes, EpisodeLine

SILENT_SECONDS = 6.0


@dataclass
class World:
    """What a registry needs, with a clock that the test sets."""

    run: RunDirectory
    episode_log: EpisodeLog
    said: list[str] = field(default_factory=list)
    now: float = 0.0
    waiting: int = 0
    wakes: int = 0

    def registry(self, count: int = 2, restarts: int = 1) -> CollectorRegistry:
        return CollectorRegistry(
            count=count,
            restarts=restarts,
            silent_seconds=SILENT_SECONDS,
            run=self.run,
            episode_log=self.episode_log,
            waiting=lambda: self.waiting,
            say=self.said.append,
            wake=self.wake,
            clock=lambda: self.now,
        )

    def wake(self) -> None:
        self.wakes += 1


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    run = RunDirectory(tmp_path)
    with LineLog.open(run.episodes) as log:
        yield World(run, EpisodeLog(log, lambda: 0.0))


def beat(
    state: str = "", trajectories: int = 0, decisions: int = 0, in_flight: int = 1
) -> Heartbeat:
    return Heartbeat(report(decisions, in_flight, trajectories), (), state)


def test_who_registers_gets_a_name_of_its_own_and_the_state_of_its_predecessor(
    world: World,
) -> None:
    registry = world.registry()
    registry.load_states({1: '{"started": 9}', 7: "of a larger run"})
    first, second = registry.register(0, "here"), registry.register(1, "there")
    assert (first.info.name, first.state) == ("collector-0.1", "")
    assert (second.info.name, second.state) == ("collector-1.1", '{"started": 9}')
    registry.heartbeat(first.info, 2, beat('{"started": 3}'))
    again = registry.register(0, "here")
    assert (again.info.name, again.state) == ("collector-0.2", '{"started": 3}')
    assert world.episode_log.faults["collector_lost"] == 1
    assert registry.states() == {0: '{"started": 3}', 1: '{"started": 9}'}


def test_heartbeats_have_it_written_down_who_collects_where(world: World) -> None:
    registry = world.registry()
    first, _ = registry.register(0, "here"), registry.register(1, "there")
    registry.heartbeat(first.info, 2, beat())
    [found] = read_lines(world.run.collectors, CollectorNotes)
    assert [each.place for each in found.collectors] == ["here", "there"]


def test_a_registered_name_is_one_that_no_process_had(world: World) -> None:
    assert new_name(world.run, 0) == "collector-0.1"
    assert world.registry().register(0).info.name == "collector-0.2"


def test_each_hears_what_is_in_flight_elsewhere(world: World) -> None:
    registry = world.registry()
    first, second = registry.register(0), registry.register(1)
    registry.set_pace(Pace(version=5, rooms=(10,)))
    registry.heartbeat(second.info, 4)
    assert registry.heartbeat(first.info, 3).pace == Pace(version=5, rooms=(10,), elsewhere=4)
    assert registry.heartbeat(second.info, 4).pace.elsewhere == 3
    world.waiting = 100
    assert registry.orders(1).pace.elsewhere == 103
    registry.report_exit(0, "died")
    assert registry.orders(1).pace.elsewhere == 100


def test_who_dies_is_due_after_a_pause_with_its_last_state(world: World) -> None:
    registry = world.registry(count=1, restarts=3)
    assert registry.due() == [0]
    info = registry.register(0).info
    assert registry.due() == []
    registry.heartbeat(info, 1, beat('{"started": 5}'))
    world.now = 2.0
    assert registry.report_exit(0, "ended with code -9") == FIRST_PAUSE
    assert world.said == ["collector-0.1 ended with code -9"]
    assert registry.collectors() == []
    world.now = 2.2
    assert registry.due() == []
    world.now = 2.25
    assert registry.due() == [0]
    assert registry.register(0).state == '{"started": 5}'


@pytest.mark.parametrize("told_by", ["heartbeat", "delivery"])
def test_who_has_worked_is_started_again_at_once(world: World, told_by: str) -> None:
    registry = world.registry(count=1, restarts=1000)
    pauses = []
    for works in (False, False, True, False):
        info = registry.register(0).info
        registry.heartbeat(info, 1, beat(trajectories=int(works and told_by == "heartbeat")))
        if works and told_by == "delivery":
            registry.delivered(info.name)
        pauses.append(registry.report_exit(0, "died"))
    assert pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE, FIRST_PAUSE, 2 * FIRST_PAUSE]


def test_a_collector_that_brings_nothing_is_given_up_and_with_the_last_the_run(
    world: World,
) -> None:
    registry = world.registry()
    for number in (0, 1):
        registry.check()
        registry.register(number)
        assert registry.report_exit(number, "died") == FIRST_PAUSE
        assert registry.report_exit(number, "died") is None  # it did not even register
    world.now = 1e9
    assert (registry.due(), registry.numbers(), world.wakes) == ([], set(), 2)
    with pytest.raises(CollectorsLost, match=r"all 2 collectors failed .* collection.restarts=1"):
        registry.check()


def test_a_node_that_is_lost_costs_no_restart(world: World) -> None:
    registry = world.registry()
    for place in ("one", "two", "three"):
        registry.register(0, place)
        assert registry.report_exit(0, "is gone, with its node", node_lost=True) == 0.0
        assert 0 in registry.due()
    assert world.said[-1] == "collector-0.3 on three is gone, with its node"
    assert world.episode_log.faults["collector_lost"] == 3


def test_who_is_silent_is_named_and_who_still_loads_its_model_is_not(world: World) -> None:
    registry = world.registry()
    first, second = registry.register(0).info, registry.register(1).info
    registry.heartbeat(first, 0)
    world.now = SILENT_SECONDS
    assert registry.unresponsive() == []
    world.now = SILENT_SECONDS + 0.1
    assert registry.unresponsive() == [(first, "was silent for 6 s")]
    registry.heartbeat(first, 0)
    assert registry.unresponsive() == []
    while world.now <= SILENT_START_SECONDS:
        assert second not in [info for info, _ in registry.unresponsive()]
        world.now += LOOK_SECONDS / 2
    assert second in [info for info, _ in registry.unresponsive()]


def test_a_learner_that_was_stopped_itself_calls_nobody_silent(world: World) -> None:
    """Ctrl-Z, or a machine that was paused: what collectors sent meanwhile is not read yet."""
    registry = world.registry(count=1)
    info = registry.register(0).info
    registry.heartbeat(info, 1, beat(decisions=1))
    assert registry.unresponsive() == []
    world.now += 10 * STALLED_SECONDS
    assert registry.unresponsive() == []
    for _ in range(5):
        world.now += LOOK_SECONDS
        assert registry.unresponsive() == []
    world.now += 0.1  # and it says nothing now, either
    assert registry.unresponsive() == [(info, "was silent for 6 s")]


def test_on_a_machine_that_is_slow_as_a_whole_only_who_hangs_is_called_silent(
    world: World,
) -> None:
    """Looks come every four seconds, and heartbeats every eight: nobody has the CPU."""
    registry = world.registry()
    slow, hangs = registry.register(0).info, registry.register(1).info
    registry.heartbeat(hangs, 0)
    named: list[CollectorInfo] = []
    for turn in range(16):
        if turn % 2 == 0:
            registry.heartbeat(slow, 0)
        named += [info for info, _ in registry.unresponsive()]
        world.now += 4.0
    assert slow not in named
    assert hangs in named


def test_a_registration_that_is_repeated_is_answered_as_before(world: World) -> None:
    """Ray sends a call again whose answer it has not got."""
    registry = world.registry()
    first = registry.register(0, "here", "process-a")
    assert registry.register(0, "here", "process-a") == first
    assert world.said == ["collector-0.1 is on here"]
    assert world.episode_log.faults["collector_lost"] == 0
    assert registry.register(0, "there", "process-b").info.name == "collector-0.2"
    assert world.said[1] == "collector-0.1 on here is gone"


def test_who_lives_and_does_nothing_is_named_unless_it_may_not_start(world: World) -> None:
    registry = world.registry(count=1)
    info = registry.register(0).info

    def beat_until(end: float, decisions: int | None, in_flight: int) -> None:
        while world.now < end and not registry.unresponsive():
            world.now += LOOK_SECONDS
            done = int(world.now) if decisions is None else decisions
            registry.heartbeat(info, in_flight, beat(decisions=done, in_flight=in_flight))

    beat_until(2 * STALLED_SECONDS, decisions=7, in_flight=0)  # held back
    assert registry.unresponsive() == []
    beat_until(4 * STALLED_SECONDS, decisions=None, in_flight=1)  # at work
    assert registry.unresponsive() == []
    stuck = world.now
    beat_until(9 * STALLED_SECONDS, decisions=int(stuck), in_flight=1)
    [(named, trouble)] = registry.unresponsive()
    assert named == info
    assert trouble.startswith("did nothing for 90")


def test_a_collector_that_outlives_a_learner_is_known_again(world: World) -> None:
    registry = world.registry()
    survivor = CollectorInfo("collector-1.7", 1, "there")
    assert not registry.heartbeat(survivor, 1, beat('{"started": 4}')).superseded
    assert registry.collectors() == [survivor]
    assert registry.states()[1] == '{"started": 4}'
    assert 1 not in registry.due()


def test_a_predecessor_that_still_lives_is_told_to_stop_and_changes_nothing(world: World) -> None:
    registry = world.registry()
    old, new = registry.register(0, "cut off").info, registry.register(0, "here").info
    reply = registry.heartbeat(old, 5, beat('{"started": 1}'))
    assert (reply.finish_within, reply.superseded) == (0.0, True)
    registry.deregister(old, beat('{"started": 1}'))
    assert registry.collectors() == [new]
    assert registry.states().get(0, "") == ""
    assert registry.orders(1).pace.elsewhere == 0
    assert registry.heartbeat(new, 1).finish_within is None


def test_one_that_was_declared_dead_does_not_take_the_place_of_its_replacement(
    world: World,
) -> None:
    registry = world.registry()
    old = registry.register(0, "cut off").info
    world.now = SILENT_START_SECONDS + 1.0
    registry.report_exit(0, "is gone")
    assert registry.heartbeat(old, 1).superseded  # before its replacement has registered
    assert registry.collectors() == []
    new = registry.register(0, "here").info
    assert registry.heartbeat(old, 1).superseded
    assert registry.collectors() == [new]
    after_a_restart = world.registry()  # of the learner
    assert after_a_restart.heartbeat(old, 1).superseded
    assert not after_a_restart.heartbeat(new, 1).superseded


def test_an_end_is_told_and_not_waited_for_beyond_its_deadline(world: World) -> None:
    registry = world.registry()
    assert not registry.is_over()
    info = registry.register(0).info
    registry.stop(5.0)
    assert not registry.is_over()
    world.now = 2.0
    assert registry.heartbeat(info, 1).finish_within == 3.0
    world.now = 9.0
    assert registry.orders(0).finish_within == 0.0
    registry.deregister(info, beat('{"started": 2}'))
    assert registry.is_over()
    assert registry.states() == {0: '{"started": 2}'}
    assert world.episode_log.faults["collector_lost"] == 0
    registry.register(0)
    assert not registry.is_over()
    world.now = 5.0 + LAST_SECONDS + 0.1
    assert registry.is_over()


def test_what_is_known_of_episodes_is_written_when_their_collector_goes(world: World) -> None:
    registry = world.registry()
    first, second = registry.register(0).info, registry.register(1).info
    for name in ("collector-0.1/1", "collector-0.1/2", "collector-1.1/1"):
        world.episode_log.arrived(trajectory(name))

    def lines() -> dict[str, str]:
        found = read_lines(world.run.episodes, EpisodeLine)
        return {line.id: line.device for line in found}

    told = Heartbeat(report(), (finished("collector-0.1/1"),), "")
    registry.heartbeat(first, 1, told)
    assert lines() == {"collector-0.1/1": "phone-0"}
    registry.report_exit(0, "died")
    assert lines() == {"collector-0.1/1": "phone-0", "collector-0.1/2": ""}
    assert registry.collectors() == [second]
    registry.close()
    assert lines().keys() == {"collector-0.1/1", "collector-0.1/2", "collector-1.1/1"}
    assert registry.collectors() == []


def test_no_more_episodes_start_than_the_run_wants(world: World) -> None:
    registry, wanted = world.registry(), 5
    registry.wanted = lambda: wanted
    registry.set_pace(Pace(version=0, free=True))
    first, second = registry.register(0).info, registry.register(1).info
    registry.heartbeat(second, 3)
    pace = registry.heartbeat(first, 0).pace
    assert [pace.may_start(0, in_flight) for in_flight in (0, 1, 2)] == [True, True, False]
    wanted = 3
    assert not registry.orders(0).pace.may_start(0, 0)


def test_devices_are_counted_also_of_collectors_that_have_ended(world: World) -> None:
    registry = world.registry()
    assert registry.phone_seconds() == {}
    for number in (0, 1):
        registry.heartbeat(registry.register(number).info, 1, beat())
    assert len(registry.reports()) == 2
    assert registry.phone_seconds() == {"decide": 3.0}  # 1.5 s each
    registry.report_exit(0, "died")
    assert len(registry.reports()) == 1
    assert registry.phone_seconds() == {"decide": 3.0}


def test_a_collector_starts_by_the_last_pace_that_it_was_told() -> None:
    admission = PacedAdmission()
    assert not admission.may_start(0, 0)
    admission.pace = Pace(version=3, rooms=(2, 0), elsewhere=1)
    assert [admission.may_start(3, n) for n in (0, 1, 2)] == [True, True, False]
    assert not admission.may_start(2, 0)


def test_a_joined_collector_that_falls_silent_is_nobody_to_kill_or_to_start(world: World) -> None:
    registry = world.registry(count=1)
    own = registry.register(0).info
    registry.load_states({FIRST_JOINED: '{"started": 4}'})
    registry.admit(FIRST_JOINED)
    assert registry.due() == []
    joined = registry.register(FIRST_JOINED, "attic")
    assert (joined.info.name, joined.state) == (f"collector-{FIRST_JOINED}.1", '{"started": 4}')
    registry.heartbeat(joined.info, 1, beat('{"started": 5}'))
    registry.heartbeat(own, 1)
    world.now = JOINED_SILENT_SECONDS  # it may be cut off for longer than one of our own
    registry.heartbeat(own, 1)
    assert registry.unresponsive() == []
    assert registry.collectors() == [own, joined.info]
    world.now += 1.0
    assert registry.unresponsive() == []
    assert registry.collectors() == [own]
    assert registry.due() == []
    assert world.episode_log.faults["collector_lost"] == 1
    assert registry.heartbeat(joined.info, 1).superseded
    assert registry.register(FIRST_JOINED, "attic").state == '{"started": 5}'
    assert registry.numbers() == {0}


def test_a_run_goes_on_with_those_who_joined_when_its_own_are_given_up(world: World) -> None:
    registry = world.registry(count=1, restarts=0)
    registry.register(0)
    registry.admit(FIRST_JOINED)
    joined = registry.register(FIRST_JOINED, "attic").info
    registry.report_exit(0, "died")
    registry.check()
    registry.deregister(joined)
    with pytest.raises(CollectorsLost):
        registry.check()
    world.registry(count=0).check()  # it has none of its own, and waits
