"""Tasks that are as many as they are: each once a round, nobody's twice, and found by their ids."""

from __future__ import annotations

import dataclasses
import json

import pytest

from distrl.episodes.task_queue import Assignment, TaskQueue
from distrl.errors import CorruptCheckpoint, InvalidSetting, UnknownTask
from distrl.records import Task
from distrl.task_sets.curriculum import RepeatedTasks, UniformTasks
from distrl.task_sets.task_pool import ListedTasks
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


def test_a_curriculum_goes_on_where_it_was_with_what_waited() -> None:
    source = UniformTasks(ListedTasks(TASKS))
    queue = TaskQueue(RepeatedTasks(source, 2), 1)
    choice = queue.choose(["phone"])
    assert choice is not None
    queue.failed(choice[0], "phone")
    state = json.loads(json.dumps(queue.state()))

    other = TaskQueue(RepeatedTasks(UniformTasks(ListedTasks(TASKS)), 2), 1)
    other.load_state(state)
    expected, went_on = (_next(each, 9) for each in (queue, other))
    assert went_on == expected
    assert went_on[0] == choice[0].task
    stranger = TaskQueue(UniformTasks(ListedTasks(TASKS[5:])), 1)
    with pytest.raises(CorruptCheckpoint):
        stranger.load_state({"source": {"drawn": 0}, "waiting": [["a/train/0", 1, []]]})


def _next(queue: TaskQueue, count: int) -> list[Task]:
    found: list[Assignment] = []
    for _ in range(count):
        choice = queue.choose(["phone"])
        assert choice is not None
        found.append(choice[0])
    return [each.task for each in found]


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
