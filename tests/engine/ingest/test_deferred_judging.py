"""Verdicts that come after the episode: durable, in order, never made up, and none forgotten."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.chat.chat_protocol import Log, Reply
from tests.engine.ingest.full_disk import full_disk
from tests.engine.made_up_reports import finished
from tests.judging.judge_server import NO, YES, judge_that_says, played

from distrl.engine.ingest.deferred_judging import DeferredJudging
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Received, Refused
from distrl.engine.run.resume import recall
from distrl.json_lines import LineLog, read_lines
from distrl.judging.judge import JudgeRecord
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.judging.rate_budget import BudgetSettings
from distrl.records import Ending
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

BUSY = Reply(b"{}", status=429, headers={"Retry-After": "0"})
BROKEN = Reply(b"{}", status=500)


class Court:
    """A receiver with a judge behind it, in the folder of a run."""

    def __init__(
        self, run: RunDirectory, judge_pool: JudgeThreadPool, max_unjudged: int = 100
    ) -> None:
        self.run = run
        self.judge_pool = judge_pool
        self.said: list[str] = []
        self.answers: list[Received | Refused] = []
        self.store = TrajectoryStore(run.trajectories).open()
        self.arrivals = ArrivalQueue()
        self.episode_log = EpisodeLog(LineLog.open(run.episodes), lambda: 50.0)
        log = LineLog.open(run.path / "judgements.jsonl")
        self.verdicts = DeferredJudging(
            judge_pool, self.store, self.arrivals, self.episode_log, log.append, self.said.append
        )
        self.receiver = TrajectoryReceiver(
            self.store,
            self.arrivals,
            self.episode_log,
            verdicts=self.verdicts,
            max_unjudged=max_unjudged,
        )

    def send(self, number: int, ending: Ending = Ending.AWAITING_VERDICT) -> None:
        trajectory = played(f"c/{number}", ending=ending, first=10 * number)
        self.receiver.deliver(encode_trajectory(trajectory), self.answers.append)

    def arrived(self) -> dict[str, Ending]:
        found = [self.arrivals.popleft() for _ in range(len(self.arrivals))]
        return {each.id: each.ending for each in found}

    def lines(self) -> dict[str, Ending]:
        return {line.id: line.ending for line in read_lines(self.run.episodes, EpisodeLine)}


@contextmanager
def court(
    folder: Path,
    *replies: Reply,
    max_unjudged: int = 100,
    budget: BudgetSettings | None = None,
    at_once: int = 4,
) -> Iterator[tuple[Court, Log]]:
    run = RunDirectory(folder / "run")
    run.path.mkdir(exist_ok=True)
    with (
        judge_that_says(*replies, tries=2, budget=budget) as (judge, log),
        JudgeThreadPool(judge, at_once) as judge_pool,
    ):
        made = Court(run, judge_pool, max_unjudged)
        try:
            yield made, log
        finally:
            made.store.close()


def test_a_verdict_is_stored_before_the_learner_hears_of_it(tmp_path: Path) -> None:
    late = threading.Event()
    with court(tmp_path, Reply(YES.body, hold=late)) as (made, _):
        made.send(1)
        made.send(2, Ending.DEVICE_LOST)  # nothing to judge: straight to the learner
        assert made.answers == [Received("c/1", True), Received("c/2", True)]
        assert made.arrived() == {"c/2": Ending.DEVICE_LOST}
        assert made.episode_log.trajectories == 2
        assert made.episode_log.all_faults() == {"device_lost": 1}  # to wait is no fault
        late.set()
        assert made.receiver.settle(60.0)
        stored = made.store.find("c/1")
        assert stored is not None
        assert stored.verdict is not None
        assert stored.verdict.judge.startswith("vlm/judge/")
        assert made.arrived() == {"c/1": Ending.SUCCESS}
        assert made.arrivals.taken == made.store.position
        assert made.episode_log.endings[Ending.AWAITING_VERDICT] == 0
        [record] = read_lines(made.run.path / "judgements.jsonl", JudgeRecord)
        assert (record.trajectory, record.success, record.cost > 0) == ("c/1", True, True)


def test_the_line_of_an_episode_has_the_verdict_whoever_comes_first(tmp_path: Path) -> None:
    late = threading.Event()
    with court(tmp_path, Reply(NO.body, hold=late)) as (made, _):
        made.send(1)
        made.episode_log.finished(finished("c/1"))  # its collector tells before the judge
        assert made.lines() == {}
        late.set()
        assert made.receiver.settle(60.0)
        assert made.lines() == {"c/1": Ending.FAILURE}
        made.send(2)
        assert made.receiver.settle(60.0)
        assert set(made.lines()) == {"c/1"}
        made.episode_log.finished(finished("c/2"))
        assert made.lines() == {"c/1": Ending.FAILURE, "c/2": Ending.FAILURE}
        assert [line.device for line in read_lines(made.run.episodes, EpisodeLine)] == [
            "phone-0",
            "phone-0",
        ]


def test_without_a_verdict_nothing_is_made_up_and_the_trajectory_is_kept(tmp_path: Path) -> None:
    with court(tmp_path, BROKEN, BROKEN, YES, at_once=1) as (made, _):
        for number in (1, 2):
            made.send(number)
        assert made.receiver.settle(60.0)
        assert made.arrived() == {"c/1": Ending.JUDGE_UNAVAILABLE, "c/2": Ending.SUCCESS}
        stored = made.store.find("c/1")
        assert stored is not None
        assert (stored.ending, stored.verdict) == (Ending.AWAITING_VERDICT, None)
        assert made.episode_log.all_faults() == {"judge_unavailable": 1}
        assert (made.verdicts.counts.verdicts, made.verdicts.counts.unavailable) == (1, 1)
        [sentence] = made.said
        assert "no verdict could be had" in sentence
        assert "500" in sentence


def test_a_judge_that_is_busy_or_rationed_is_waited_for(tmp_path: Path) -> None:
    budget = BudgetSettings(requests_per_minute=600.0)
    late = threading.Event()
    busy = replace(BUSY, hold=late)
    with court(tmp_path, busy, YES, budget=budget, at_once=1) as (made, log):
        for number in range(4):
            made.send(number)
        assert len(made.answers) == 4  # a delivery does not wait for the judge
        assert made.receiver.unjudged == 4
        late.set()
        assert made.receiver.settle(60.0)
        assert set(made.arrived().values()) == {Ending.SUCCESS}
        assert len(log.completions) == 5


def test_in_one_process_verdicts_are_kept_in_the_order_of_the_episodes(tmp_path: Path) -> None:
    late = threading.Event()
    with court(tmp_path, Reply(YES.body, hold=late), YES) as (made, log):
        made.receiver.put(played("c/0"))
        while not log.completions:
            time.sleep(0.01)
        for number in (1, 2):
            made.receiver.put(played(f"c/{number}", first=10 * number))
        assert not made.receiver.settle(0.3)
        assert (made.arrived(), made.receiver.unjudged) == ({}, 3)
        late.set()
        assert made.receiver.settle(60.0)
        assert list(made.arrived()) == ["c/0", "c/1", "c/2"]


def test_a_judge_that_cannot_keep_up_holds_collectors_back(tmp_path: Path) -> None:
    late = threading.Event()
    with court(tmp_path, Reply(YES.body, hold=late), max_unjudged=2) as (made, _):
        for number in range(4):
            made.send(number)
        assert [answer.id for answer in made.answers] == ["c/0"]
        assert len(made.store) == 4  # durable all the same
        late.set()
        end = time.monotonic() + 60.0
        while len(made.answers) < 4 and time.monotonic() < end:
            made.receiver.release()
            time.sleep(0.01)
        assert len(made.answers) == 4


def test_a_disk_that_takes_no_verdict_is_tried_again(tmp_path: Path) -> None:
    late = threading.Event()
    with court(tmp_path, Reply(YES.body, hold=late)) as (made, _):
        made.send(1)
        with full_disk():
            late.set()
            assert not made.receiver.settle(60.0)
        assert (made.arrived(), made.receiver.unjudged) == ({}, 1)
        assert made.episode_log.faults["not_stored"] == 1
        assert made.receiver.settle(0.0)
        assert made.arrived() == {"c/1": Ending.SUCCESS}


def test_what_waited_when_a_process_died_is_judged_after_the_restart(tmp_path: Path) -> None:
    never = threading.Event()
    with court(tmp_path, Reply(YES.body, hold=never)) as (made, _):
        made.send(1)
        made.episode_log.finished(finished("c/1"))
        made.send(2, Ending.DEVICE_LOST)
        made.episode_log.finished(finished("c/2"))
        never.set()
        assert made.judge_pool.wait(60.0)  # the verdict is there, and nobody came to keep it
    assert set(made.lines()) == {"c/2"}
    with court(tmp_path, NO) as (again, log):
        recall(again.episode_log, again.run, again.store, again.receiver)
        assert again.episode_log.trajectories == 2
        assert again.receiver.settle(60.0)
        assert again.arrived() == {"c/1": Ending.FAILURE}
        assert again.lines() == {"c/2": Ending.DEVICE_LOST, "c/1": Ending.FAILURE}
        assert len(log.completions) == 1
