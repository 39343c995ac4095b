"""Judging off the path of the devices: they play on, and every verdict comes home."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.chat.chat_protocol import Asked, Reply, completion
from tests.judging.judge_server import YES, judge_that_says, played

from distrl.agent.simple_policies import ConstantPolicy
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.episode import run_episode
from distrl.episodes.scheduler import EpisodeBudget, EpisodeScheduler, Lease
from distrl.errors import JudgeError
from distrl.judging.judge import DeferredJudge, Judge, Judgement
from distrl.judging.judge_agreement import SecondOpinion
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.records import Done, Ending, Trajectory, Verdict
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task


class Slow:
    """Thinks until it is let go; fails where it is told to."""

    def __init__(self, success: bool = True, failing: tuple[str, ...] = ()) -> None:
        self.go = threading.Event()
        self._success = success
        self._failing = failing
        self.answered = 0

    def judge(self, trajectory: Trajectory) -> Judgement:
        let_go = self.go.wait(60)
        self.answered += 1
        assert let_go
        if trajectory.id in self._failing:
            raise JudgeError("out of order")
        return Judgement(Verdict(self._success, "seen", "slow"), seconds=1.0, cost=0.5)


def drained(judge_pool: JudgeThreadPool, count: int) -> list[Trajectory]:
    found: list[Trajectory] = []
    while len(found) < count:
        assert judge_pool.wait(60.0)
        found += [each.trajectory for each in judge_pool.drain()]
    return found


def test_an_episode_ends_without_waiting_and_is_judged_afterwards(tmp_path: Path) -> None:
    judge = Slow()
    task = load_task("notes.create/train/1")[0]
    device = SimulatedDevice("phone")
    with TrajectoryStore(tmp_path) as store, JudgeThreadPool(judge, at_once=2) as judge_pool:
        for number in range(5):  # five episodes on one phone, and no verdict yet
            episode = run_episode(
                task,
                device,
                ConstantPolicy(Done()),
                DeferredJudge(),
                episode_id=f"episode-{number}",
            )
            assert episode.ending is Ending.AWAITING_VERDICT
            store.append(episode)
            judge_pool.submit(episode)
        assert (len(judge_pool), judge_pool.drain()) == (5, [])
        judge.go.set()
        for each in drained(judge_pool, 5):
            assert each.verdict is not None
            store.correct(each.id, Correction(each.ending, each.verdict))
        assert len(judge_pool) == 0
    with TrajectoryStore(tmp_path) as store:
        endings = {each.trajectory.id: each.trajectory.ending for each in store.read()}
    assert endings == {f"episode-{number}": Ending.SUCCESS for number in range(5)}


def test_without_a_verdict_it_says_so_and_the_others_go_on() -> None:
    judge = Slow(failing=("b",))
    judge.go.set()
    with JudgeThreadPool(judge) as judge_pool:
        for name in "abc":
            judge_pool.submit(played(name))
        after = {each.id: each for each in drained(judge_pool, 3)}
    assert [after[name].ending for name in "abc"] == [
        Ending.SUCCESS,
        Ending.JUDGE_UNAVAILABLE,
        Ending.SUCCESS,
    ]
    assert after["b"].verdict is None
    assert "out of order" in after["b"].notes[-1]


def test_a_mistake_of_ours_is_not_taken_for_a_missing_verdict() -> None:
    class Broken:
        def judge(self, trajectory: Trajectory) -> Judgement:
            raise ZeroDivisionError

    with JudgeThreadPool(Broken()) as judge_pool:
        judge_pool.submit(played())
        judge_pool.wait(60.0)
        with pytest.raises(ZeroDivisionError):
            judge_pool.drain()


def test_questions_are_asked_at_the_same_time() -> None:
    all_asked = threading.Barrier(8)

    def answer(asked: Asked) -> bytes:
        all_asked.wait(60)  # no answer before eight questions are open
        return completion("Verdict: success")

    with (
        judge_that_says(Reply(answer)) as (judge, log),
        JudgeThreadPool(judge, at_once=8) as judge_pool,
    ):
        for number in range(24):
            judge_pool.submit(played(f"{number}", first=10 * number))
        assert len(drained(judge_pool, 24)) == 24
    assert log.max_at_once == 8


def test_closing_does_not_wait_for_a_judge_that_hangs() -> None:
    judge = Slow()
    with JudgeThreadPool(judge, at_once=1) as judge_pool:
        judge_pool.submit(played("a"))
        judge_pool.submit(played("b"))
    assert judge.answered == 0  # closed, while the judge was still held
    judge.go.set()


def test_a_task_whose_verdict_is_on_its_way_is_not_tried_again() -> None:
    source = UniformTasks(SimulatedTasks(("notes.create",)))
    scheduler = EpisodeScheduler("c", DevicePool([SimulatedDevice("phone")]), source)
    for ending, retried in ((Ending.AWAITING_VERDICT, 0), (Ending.JUDGE_UNAVAILABLE, 1)):
        lease = scheduler.lease(EpisodeBudget(), 0, 0.0)
        assert isinstance(lease, Lease)
        scheduler.ended(lease, ending, 0.0)
        assert scheduler.nothing_left(EpisodeBudget(0)) == (not retried)
        assert scheduler.retried == retried


def test_a_task_is_prepared_for_whoever_judges_later() -> None:
    task, _ = load_task("clock.turn_off_alarm/train/3")
    later, at_once = SimulatedDevice("later"), SimulatedDevice("at once")
    judges: list[tuple[SimulatedDevice, Judge]] = [
        (later, DeferredJudge(FactJudge(later))),
        (at_once, FactJudge(at_once)),
    ]
    for device, judge in judges:
        device.reset(task.seed)
        plain = dict(device.snapshot().facts.tables())
        judge.begin(task)
        assert dict(device.snapshot().facts.tables()) != plain
    assert later.screen().digest == at_once.screen().digest
    assert [judge.verdict(None) is None for _, judge in judges] == [True, False]


# A second opinion --------------------------------------------------------------------------------


def test_a_sample_is_judged_twice_and_disagreement_is_counted() -> None:
    first, second = Slow(success=True), Slow(success=False)
    first.go.set()
    second.go.set()
    both = SecondOpinion(first, second, share=0.25)
    episode = played()
    judgements = [both.judge(replace(episode, id=f"{n}")) for n in range(60)]
    assert first.answered == 60
    assert second.answered == both.opinions.total
    assert 6 <= both.opinions.total <= 25  # 15 on average, 3.4 the standard deviation
    assert both.opinions.disagreement == 1.0
    assert all(each.verdict.success for each in judgements)
    twice = [each for each in judgements if each.second is not None]
    assert len(twice) == both.opinions.total
    once = next(each for each in judgements if each.second is None)
    assert twice[0].cost == pytest.approx(2 * once.cost)


def test_a_second_judge_that_fails_costs_nothing() -> None:
    silent = Slow(failing=("a",))
    silent.go.set()
    with judge_that_says(YES) as (first, _):
        both = SecondOpinion(first, silent, share=1.0)
        judgement = both.judge(played("a"))
    assert judgement.verdict.success
    assert judgement.second is None
    assert both.missing == 1
    assert both.opinions.disagreement != both.opinions.disagreement  # NaN: nothing to compare yet
