"""Collector processes of this machine: started, read to their last byte, killed, and replaced."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.engine.local.process_facts import PATIENCE, forked_by_us, has_ended, runs
from tests.engine.local.test_collector_child import light_forkserver

from distrl.engine.ingest.delivery import Acknowledge
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Pace, Received, Refused
from distrl.engine.local.collector_pool import (
    KILLED,
    PACE_SECONDS,
    SEND_SECONDS,
    CollectorChild,
    CollectorPool,
    Forkserver,
)
from distrl.engine.local.synchronous_collection import Rounds
from distrl.engine.supervision.collector_registry import CollectorRegistry
from distrl.json_lines import LineLog
from distrl.replay.trajectory_encoding import decode_trajectory
from distrl.runs.run_directory import RunDirectory

pytestmark = pytest.mark.timeout(600)


@dataclass
class Driven:
    """A pool that the test turns by hand, whose registry has the clock of the test."""

    registry: CollectorRegistry
    pool: CollectorPool
    said: list[str]
    now: float = 0.0
    sending: float = 0.0  # the pool's own clock, where a test sets it
    ids: list[str] = field(default_factory=list)  # of what was delivered
    replies: list[Acknowledge] = field(default_factory=list)  # to what was delivered
    heartbeats: list[str] = field(default_factory=list)  # their states

    def turn(self) -> None:
        arrived = self.pool.receive(0.05)
        for encoded, reply in arrived.deliveries:
            self.ids.append(decode_trajectory(encoded).id)
            self.replies.append(reply)
            reply(Received(self.ids[-1], new=True))
        for info, heartbeat in arrived.heartbeats:
            self.heartbeats.append(heartbeat.state)
            self.registry.heartbeat(info, heartbeat.report.in_flight, heartbeat)
        self.pool.look_after()

    def turn_until(self, what: Callable[[], object]) -> None:
        until = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < until, self.said
            self.turn()


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    with light_forkserver() as opened:
        assert opened.is_ready(PATIENCE)
        yield opened


Make = Callable[..., Driven]


@pytest.fixture
def make(tmp_path: Path, forkserver: Forkserver) -> Iterator[Make]:
    run, pools = RunDirectory(tmp_path), list[CollectorPool]()
    with LineLog.open(run.episodes) as log:

        def made(state: str = "", rounds: Rounds | None = None) -> Driven:
            said: list[str] = []
            registry = CollectorRegistry(
                count=1,
                restarts=3,
                silent_seconds=6.0,
                run=run,
                episode_log=EpisodeLog(log, lambda: 0.0),
                waiting=lambda: 0,
                say=said.append,
                wake=lambda: None,
                clock=lambda: driven.now,
            )
            registry.load_states({0: state})
            pool = CollectorPool(registry, forkserver, rounds)
            pools.append(pool)
            driven = Driven(registry, pool, said)
            return driven

        yield made
        for pool in pools:
            pool.close()


def test_a_collector_plays_without_end_by_the_pace_that_it_is_told(make: Make) -> None:
    driven = make()
    driven.registry.set_pace(Pace(version=99))
    driven.turn_until(lambda: "paced" in driven.heartbeats and driven.ids)
    assert driven.ids == ["collector-0.1/1"]
    assert driven.registry.states() == {0: "paced"}


def test_what_a_killed_collector_had_sent_is_read_before_it_is_replaced(make: Make) -> None:
    driven = make("die")
    driven.turn_until(lambda: driven.said)
    assert driven.said == [f"collector-0.1 ended with code -9{KILLED}"]
    assert driven.ids == ["collector-0.1/1"]
    for _ in range(3):
        driven.turn()
    assert driven.registry.collectors() == []  # the pause is not over
    driven.now += 1.0
    driven.turn_until(lambda: len(driven.ids) > 1)
    assert driven.ids[1] == "collector-0.2/1"


def test_the_last_line_of_its_log_says_what_was_wrong(make: Make) -> None:
    driven = make("fail")
    driven.turn_until(lambda: driven.said)
    assert driven.said == ["collector-0.1 ended with code 7: the phone has melted"]


def test_a_collector_that_hangs_is_killed_and_replaced(make: Make) -> None:
    driven = make()
    driven.turn_until(lambda: driven.heartbeats)
    [pid] = forked_by_us("collector-0.1")
    os.kill(pid, signal.SIGSTOP)
    for _ in range(10):  # more at once would be a pause of the learner itself
        driven.turn()
        driven.now += 0.63
    driven.turn_until(lambda: driven.said)
    assert has_ended(pid)
    assert driven.said == ["collector-0.1 was silent for 6 s"]
    driven.now += 1.0
    driven.turn_until(lambda: len(driven.heartbeats) > 1)
    assert [info.name for info in driven.registry.collectors()] == ["collector-0.2"]


def stopped(make: Make) -> tuple[Driven, CollectorChild]:
    """A collector that is stopped, and has more to take than a socket holds."""
    driven = make()
    driven.pool.clock = lambda: driven.sending
    driven.turn_until(lambda: driven.ids)
    [child] = driven.pool._children.values()
    os.kill(child.pid, signal.SIGSTOP)
    driven.replies[0](Refused("1", "x" * 1_000_000))
    return driven, child


def test_a_collector_that_takes_nothing_now_holds_nobody_up_and_gets_it_later(make: Make) -> None:
    driven, child = stopped(make)
    for _ in range(3):
        driven.turn()
    driven.registry.set_pace(Pace(version=99))
    assert (runs(child.pid), driven.said) == (True, [])
    os.kill(child.pid, signal.SIGCONT)
    driven.turn_until(lambda: not child.link.unsent)
    driven.sending += PACE_SECONDS
    driven.turn_until(lambda: "paced" in driven.heartbeats)  # it has read all that came before
    assert driven.said == []


def test_a_collector_that_takes_nothing_for_long_is_killed_and_replaced(make: Make) -> None:
    driven, child = stopped(make)
    driven.turn()
    assert runs(child.pid)
    driven.sending += SEND_SECONDS
    driven.turn_until(lambda: driven.said)
    assert has_ended(child.pid)
    assert driven.said == ["collector-0.1 took no message for 5 s"]


def test_a_pause_of_the_learner_is_not_counted_against_a_collector(make: Make) -> None:
    driven, child = stopped(make)
    driven.turn()
    assert child.link.unsent
    os.kill(child.pid, signal.SIGCONT)
    room = selectors.DefaultSelector()
    room.register(child.link, selectors.EVENT_WRITE)
    assert room.select(PATIENCE)  # it has taken what was written, and nobody has written more
    driven.sending += SEND_SECONDS
    driven.pool.look_after()
    driven.turn_until(lambda: not child.link.unsent)
    assert (runs(child.pid), driven.said) == (True, [])


def test_a_stop_is_told_and_what_ends_by_it_is_not_lost(make: Make) -> None:
    driven = make()
    driven.turn_until(lambda: driven.heartbeats)
    driven.registry.stop(0.0)
    driven.turn_until(driven.registry.is_over)
    assert (driven.said, driven.registry.episode_log.faults["collector_lost"]) == ([], 0)
    driven.turn()
    assert driven.registry.collectors() == []  # none is started any more


def test_in_rounds_a_collector_plays_what_it_owes_and_its_replacement_the_rest(make: Make) -> None:
    rounds = Rounds(wake=lambda: None)
    driven = make("die", rounds)
    driven.turn_until(lambda: driven.heartbeats)
    assert driven.ids == []
    rounds.begin({0: 3})
    driven.turn_until(lambda: driven.said)
    assert driven.ids == [f"collector-0.1/{n}" for n in (1, 2, 3)]
    assert not rounds.is_over([0])  # it did not say that it was done
    driven.registry.load_states({0: ""})
    driven.now += 1.0
    driven.turn_until(lambda: rounds.is_over([0]))
    assert driven.ids[3:] == ["collector-0.2/1"]
    rounds.begin({0: 2})
    driven.turn_until(lambda: rounds.is_over([0]))
    assert driven.ids[4:] == ["collector-0.2/2", "collector-0.2/3"]
