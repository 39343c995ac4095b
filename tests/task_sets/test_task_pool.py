"""Tasks that are as many as they are: each once a round, nobody's twice, and found by their ids."""

from __future__ import annotations

import dataclasses
import json

import pytest

from distrl.episodes.device_pool import DevicePool
from distrl.episodes.scheduler import EpisodeBudget, EpisodeScheduler, Lease
from distrl.errors import CorruptCheckpoint, DeviceDisconnected, InvalidSetting, UnknownTask
from distrl.records import Ending, Task
from distrl.task_sets.curriculum import RepeatedTasks, TaskSource, UniformTasks
from distrl.task_sets.task_pool import ListedTasks
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task

ANY = load_task("notes.create/train/0")[0]
TASKS = tuple(
    dataclasses.replace(ANY, id=f"{template}/train/{number}", template=template)
    for template, count in (("a", 5), ("b", 3))
    for number in range(count)
)


def drawn(pool: ListedTasks, template: str, count: int) -> list[str]:
    return [pool.task(template, turn).id for turn in range(count)]


def test_each_comes_once_a_round_in_another_order() -> None:
    ids = drawn(ListedTasks(TASKS), "a", 50)
    rounds = [tuple(ids[start : start + 5]) for start in range(0, 50, 5)]
    assert all(len(set(each)) == 5 for each in rounds)
    assert len(set(rounds)) > 5
    assert drawn(ListedTasks(TASKS), "a", 50) == ids
    assert drawn(ListedTasks(TASKS, seed=1), "a", 50) != ids


def test_collectors_go_through_a_round_together() -> None:
    pools = [ListedTasks(TASKS, share=share, shares=2) for share in range(2)]
    together = [pool.task("a", turn).id for turn in range(10) for pool in pools]
    for start in range(0, 20, 5):
        assert len(set(together[start : start + 5])) == 5


Scheduler = EpisodeScheduler[SimulatedDevice]


def scheduler(source: TaskSource) -> Scheduler:
    return EpisodeScheduler("c", DevicePool([SimulatedDevice("phone")]), source)


def test_a_curriculum_goes_on_where_it_was_with_what_waited() -> None:
    source = UniformTasks(ListedTasks(TASKS))
    first = scheduler(RepeatedTasks(source, 2))
    lease = _leased(first)
    first.failed_to_start(lease, DeviceDisconnected("gone"), 0.0)
    state = json.loads(json.dumps(first.state()))

    other = scheduler(RepeatedTasks(UniformTasks(ListedTasks(TASKS)), 2))
    other.load_state(state)
    expected, went_on = (_next(each, 9) for each in (first, other))
    assert went_on == expected
    assert went_on[0] == lease.assignment.task
    stranger = scheduler(UniformTasks(ListedTasks(TASKS[5:])))
    tasks = {"source": {"drawn": 0}, "waiting": [["a/train/0", 1, []]]}
    with pytest.raises(CorruptCheckpoint):
        stranger.load_state({"started": 1, "tasks": tasks})


def _leased(scheduler: Scheduler) -> Lease[SimulatedDevice]:
    lease = scheduler.lease(EpisodeBudget(), 0, 0.0)
    assert isinstance(lease, Lease)
    return lease


def _next(scheduler: Scheduler, count: int) -> list[Task]:
    found = []
    for _ in range(count):
        lease = _leased(scheduler)
        found.append(lease.assignment.task)
        scheduler.ended(lease, Ending.SUCCESS, 0.0)
    return found


def test_what_is_not_listed_is_not_found() -> None:
    pool = ListedTasks(TASKS)
    assert pool.templates == ("a", "b")
    assert pool.find("b/train/2") == TASKS[-1]
    with pytest.raises(UnknownTask, match="none of the 8 tasks"):
        pool.find("c/train/0")
    with pytest.raises(UnknownTask, match="without tasks"):
        ListedTasks(())
    with pytest.raises(InvalidSetting, match="shares are counted from 0"):
        ListedTasks(TASKS, share=2, shares=2)
