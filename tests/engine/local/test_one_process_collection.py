"""Collecting and learning take turns: whenever the learner waits, some episodes are played."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.chat.chat_protocol import Reply
from tests.episodes.made_up_collectors import POOL, Patient
from tests.judging.judge_server import YES, judge_that_says, played
from tests.replay.made_up_trajectories import trajectory

from distrl.devices.device import Device
from distrl.engine.ingest.deferred_judging import DeferredJudging
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.local.one_process_collection import (
    OneProcessCollection,
)
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.errors import DeviceNotReady
from distrl.json_lines import LineLog, read_lines
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_records import EpisodeLine
from distrl.task_sets.curriculum import UniformTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

LONG = 30.0  # seconds that no test takes
AT_ONCE = 3


class OneProcess:
    """A collection in this process and what is around it, in a folder."""

    def __init__(
        self,
        folder: Path,
        opened: ExitStack,
        judge_pool: JudgeThreadPool | None = None,
        state: str = "",
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "episodes.jsonl"
        self.store = opened.enter_context(TrajectoryStore(folder / "store"))
        self.arrivals = ArrivalQueue()
        self.episode_log = EpisodeLog(opened.enter_context(LineLog.open(self.path)), lambda: 50.0)
        verdicts = None
        if judge_pool is not None:
            verdicts = DeferredJudging(
                judge_pool, self.store, self.arrivals, self.episode_log, lambda record: None
            )
        self.receiver = TrajectoryReceiver(
            self.store,
            self.arrivals,
            self.episode_log,
            verdicts=verdicts,
        )
        self.phones = [SimulatedDevice(f"phone-{number}") for number in range(2)]
        phones: list[Device] = [*self.phones]
        collector: Collector[Device] = Collector(
            "collector-0.1",
            PolicyBatcher(Patient()),
            DevicePool(phones),
            UniformTasks(POOL),
            self.receiver,
            FactJudge,  # type: ignore[arg-type]  # all of these devices are simulated
        )
        if state:
            collector.load_state(json.loads(state))
        self.collection = OneProcessCollection(
            [collector], self.episode_log, self.receiver, [AT_ONCE]
        )

    def taken(self) -> list[Trajectory]:
        return [self.arrivals.popleft() for _ in range(len(self.arrivals))]


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_learner_that_waits_gets_episodes_stored_and_logged(
    tmp_path: Path, opened: ExitStack
) -> None:
    made = OneProcess(tmp_path, opened)
    assert len(made.arrivals) == 0
    for turn in (1, 2):
        assert made.collection.wait(0.0)
        assert len(made.taken()) == AT_ONCE
        assert len(made.store) == made.episode_log.trajectories == AT_ONCE * turn
    lines = read_lines(made.path, EpisodeLine)
    assert sorted(line.id for line in lines) == sorted(made.store.ids)
    assert {line.device for line in lines} == {"phone-0", "phone-1"}  # as collectors tell it
    assert made.arrivals.taken == made.store.position


def test_the_same_settings_give_the_same_trajectories(tmp_path: Path, opened: ExitStack) -> None:
    played_twice = []
    for name in ("one", "two"):
        made = OneProcess(tmp_path / name, opened)
        made.collection.wait(0.0)
        made.collection.wait(0.0)
        played_twice.append([encode_trajectory(each) for each in made.taken()])
    first, second = played_twice
    assert first == second
    assert len(set(first)) == 2 * AT_ONCE


def test_it_goes_on_from_its_state(tmp_path: Path, opened: ExitStack) -> None:
    whole = OneProcess(tmp_path / "whole", opened)
    whole.collection.wait(0.0)
    [(number, state)] = whole.collection.states().items()
    assert number == 0
    resumed = OneProcess(tmp_path / "resumed", opened, state=state)
    before = whole.taken()
    for each in (whole, resumed):
        each.collection.wait(0.0)
    after = [each.id for each in whole.taken()]
    assert [each.id for each in resumed.taken()] == after
    assert not set(after) & {each.id for each in before}


def test_it_plays_no_more_than_the_run_wants(tmp_path: Path, opened: ExitStack) -> None:
    made = OneProcess(tmp_path, opened)
    made.receiver.limit = AT_ONCE + 1
    made.collection.wait(0.0)
    made.collection.wait(0.0)
    [report] = made.collection.reports()
    assert (len(made.taken()), report.started) == (AT_ONCE + 1, AT_ONCE + 1)


def test_reports_are_those_of_its_collector(tmp_path: Path, opened: ExitStack) -> None:
    made = OneProcess(tmp_path, opened)
    made.collection.wait(0.0)
    [report] = made.collection.reports()
    assert (report.name, report.slots) == ("collector-0.1", 2)
    assert report.trajectories == AT_ONCE
    seconds = made.collection.phone_seconds()
    assert seconds["act"] + seconds["reset"] == pytest.approx(sum(report.busy.values()))
    assert sum(seconds.values()) == pytest.approx(report.seconds, rel=0.05)  # of its one thread


def test_what_is_known_already_is_not_stored_twice(tmp_path: Path, opened: ExitStack) -> None:
    made = OneProcess(tmp_path, opened)
    sink = made.receiver
    assert sink.put(trajectory("c/1"))
    assert not sink.put(trajectory("c/1"))
    assert made.store.ids == ("c/1",)


def test_nothing_is_played_while_a_verdict_is_awaited(tmp_path: Path, opened: ExitStack) -> None:
    late = threading.Event()
    judge, _ = opened.enter_context(judge_that_says(Reply(YES.body, hold=late)))
    made = OneProcess(tmp_path, opened, opened.enter_context(JudgeThreadPool(judge, 1)))
    made.receiver.put(played("c/1"))
    assert not made.collection.wait(0.0)
    assert made.store.ids == ("c/1",)
    late.set()
    assert made.collection.wait(LONG)
    assert [(each.id, each.ending) for each in made.taken()] == [("c/1", Ending.SUCCESS)]
    assert made.collection.wait(LONG)  # and now it plays
    assert len(made.store) == 1 + AT_ONCE


def test_a_stop_waits_for_verdicts_and_closes_the_phones(tmp_path: Path, opened: ExitStack) -> None:
    judge, _ = opened.enter_context(judge_that_says(YES))
    made = OneProcess(tmp_path, opened, opened.enter_context(JudgeThreadPool(judge, 1)))
    made.collection.wait(0.0)
    made.taken()
    made.receiver.put(played("c/1"))
    made.collection.stop(LONG)
    assert [(each.id, each.ending) for each in made.taken()] == [("c/1", Ending.SUCCESS)]
    assert made.receiver.unjudged == 0
    for phone in made.phones:
        with pytest.raises(DeviceNotReady):
            phone.screen()


def test_a_stop_that_cannot_wait_keeps_the_verdicts_that_came_and_leaves_the_rest(
    tmp_path: Path, opened: ExitStack
) -> None:
    late = threading.Event()
    judge, log = opened.enter_context(judge_that_says(YES, Reply(YES.body, hold=late)))
    opened.callback(late.set)
    made = OneProcess(tmp_path, opened, opened.enter_context(JudgeThreadPool(judge, 1)))
    made.receiver.put(played("c/1"))
    made.receiver.put(played("c/2", first=10))
    while len(log.completions) < 2:  # then the judge is done with the first
        time.sleep(0.001)
    made.collection.stop(0.0)
    assert made.receiver.unjudged == 1
    assert [(each.id, each.ending) for each in made.taken()] == [("c/1", Ending.SUCCESS)]
    stored = made.store.find("c/2")
    assert stored is not None
    assert stored.ending is Ending.AWAITING_VERDICT
    late.set()
