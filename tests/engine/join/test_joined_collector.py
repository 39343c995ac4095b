"""A joined collector over loopback: it plays, is cut off, comes back; nothing lost or doubled."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks.cheap_joined import join_cheaply
from benchmarks.faulty_relay import FaultyRelay
from benchmarks.listening_learner import ListeningLearner, listening_learner
from tests.episodes.made_up_collectors import wait_until

from distrl.engine.join import join_session, joined_collector, learner_client
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.errors import JoinRefused, LearnerGone, WrongFingerprint

LONG = 120.0
Disk = namedtuple("Disk", "free")


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def learner(tmp_path: Path, opened: ExitStack) -> ListeningLearner:
    return opened.enter_context(listening_learner(tmp_path / "learner"))


def test_it_plays_until_the_run_is_over_and_leaves(
    learner: ListeningLearner, tmp_path: Path, opened: ExitStack
) -> None:
    learner.publish(5)
    joined = join_cheaply(learner.client(), TrajectorySpool(tmp_path / "spool", 8), opened)
    wait_until(lambda: len(learner.arrivals) >= 4)
    learner.registry.stop(20.0)
    assert joined.ended.wait(LONG)
    joined.thread.raise_failure()
    assert learner.registry.is_over()  # it has said that it leaves
    assert len(joined.spool) == 0
    stored = learner.stored()
    assert len(set(stored)) == len(stored) == len(learner.arrivals)
    assert all(each.startswith("collector-1024.1/") for each in stored)
    weights = list((tmp_path / "spool").glob("weights-*/weights-000000005-*.safetensors"))
    assert len(weights) == 1
    assert joined.said == [
        "collector-1024.1 plays on 2 devices",
        "collector-1024.1: the run is over",
    ]
    assert learner.refusals == {}
    devices = {line.device for line in learner.registry.episode_log._recent}
    assert devices == {""}  # lines are counted before the device is known


def test_nothing_is_lost_or_doubled_when_answers_are_dropped_and_connections_cut(
    learner: ListeningLearner,
    tmp_path: Path,
    opened: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learner_client, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(learner_client, "DELIVERY_SECONDS", 0.5)
    monkeypatch.setattr(join_session, "RETRY_SECONDS", 0.02)
    relay = opened.enter_context(FaultyRelay(learner.port))
    joined = join_cheaply(
        learner.client(relay.port), TrajectorySpool(tmp_path / "spool", 8), opened
    )
    for _ in range(3):
        wanted = len(learner.arrivals) + 2
        wait_until(lambda: len(learner.arrivals) >= wanted)  # noqa: B023 — it is called at once
        relay.drop_answers()  # what is stored now will be sent again
        wait_until(lambda: len(joined.spool) >= 8)
        relay.cut()
        relay.mend()
    wait_until(lambda: len(joined.spool) < 8)
    learner.registry.stop(20.0)
    assert joined.ended.wait(LONG)
    joined.thread.raise_failure()
    assert len(joined.spool) == 0
    stored = learner.stored()
    numbers = sorted(int(each.split("/")[1]) for each in stored)
    assert numbers == list(range(1, len(stored) + 1))  # each episode that was started, once
    assert len(stored) == len(learner.arrivals)
    assert relay.connections > 3


def test_a_lost_learner_stops_the_phones_and_is_found_again(
    tmp_path: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_client, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(learner_client, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(join_session, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(join_session, "QUIET_SECONDS", 0.3)
    monkeypatch.setattr(join_session, "LOST_SECONDS", 0.6)
    monkeypatch.setattr(joined_collector, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(joined_collector, "MAX_PAUSE", 0.1)
    with listening_learner(tmp_path / "learner") as first:
        relay = opened.enter_context(FaultyRelay(first.port))
        joined = join_cheaply(
            first.client(relay.port), TrajectorySpool(tmp_path / "spool", 8), opened
        )
        wait_until(lambda: len(first.arrivals) >= 2)
        relay.cut()
        wait_until(lambda: any("no phone is touched" in each for each in joined.said))
        waiting = len(joined.spool)
        already = len(first.stored())
    relay.mend()
    with listening_learner(tmp_path / "learner") as second:  # the same run, after a restart
        relay.target = second.port
        wait_until(lambda: len(second.arrivals) >= waiting + 2)
        second.registry.stop(20.0)
        assert joined.ended.wait(LONG)
        joined.thread.raise_failure()
        stored = second.stored()
        assert len(set(stored)) == len(stored) == already + len(second.arrivals)
        names = {each.split("/")[0] for each in stored}
        assert len(names) >= 2  # of both sessions, of one slot
        assert {each.partition(".")[0] for each in names} == {"collector-1024"}
        assert second.refusals.get("unusable", 0) == 0


def test_a_refused_join_ends_it_and_nobody_there_is_given_up(
    learner: ListeningLearner, tmp_path: Path, opened: ExitStack
) -> None:
    for number, (client, error) in enumerate(
        (
            (learner.client(token="x" * 43), JoinRefused),
            (learner.client(fingerprint="0" * 64), WrongFingerprint),
            (learner.client(port=1), LearnerGone),
        )
    ):
        joined = join_cheaply(
            client, TrajectorySpool(tmp_path / f"spool-{number}", 8), opened, give_up_seconds=0.0
        )
        assert joined.ended.wait(LONG)
        with pytest.raises(error):
            joined.thread.raise_failure()


def test_who_is_asked_to_stop_delivers_and_leaves(
    learner: ListeningLearner, tmp_path: Path, opened: ExitStack
) -> None:
    joined = join_cheaply(learner.client(), TrajectorySpool(tmp_path / "spool", 8), opened)
    wait_until(lambda: len(learner.arrivals) >= 2)
    joined.stop.asked = True
    joined.stop.wake()
    assert joined.ended.wait(LONG)
    joined.thread.raise_failure()
    assert len(joined.spool) == 0
    assert not learner.registry.collectors()
    assert learner.registry.episode_log.faults["collector_lost"] == 0


@pytest.mark.parametrize(("free", "said"), [(9 * 2**20, 1), (2**50, 0)])
def test_a_disk_that_may_not_hold_what_waits_is_said(
    learner: ListeningLearner,
    tmp_path: Path,
    opened: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    free: int,
    said: int,
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: Disk(free))
    joined = join_cheaply(learner.client(), TrajectorySpool(tmp_path / "spool", 8), opened)
    wait_until(lambda: any("plays on" in each for each in joined.said))
    found = [each for each in joined.said if "0.01 GB are free" in each and "--spool" in each]
    assert len(found) == said
