"""Tasks that faults cut short come again, on other devices, and not for ever."""

from __future__ import annotations

import json

import pytest
from tests.episodes.made_up_collectors import POOL

from distrl.episodes.task_queue import Assignment, TaskQueue
from distrl.errors import CorruptCheckpoint, InvalidSetting
from distrl.records import Ending
from distrl.task_sets.curriculum import SuccessRateTasks, UniformTasks


def queue(devices: int = 3, max_attempts: int = 3) -> TaskQueue:
    return TaskQueue(UniformTasks(POOL), devices, max_attempts)


def chosen(tasks: TaskQueue, *ready: str, fresh: bool = True) -> tuple[Assignment, str]:
    choice = tasks.choose(ready, fresh=fresh)
    assert choice is not None
    return choice


def test_a_judged_task_does_not_come_again() -> None:
    tasks = queue()
    assignment, device = chosen(tasks, "a", "b")
    assert (assignment.attempt, device) == (1, "a")
    for ending in (Ending.SUCCESS, Ending.FAILURE, Ending.GAVE_UP, Ending.STEP_LIMIT):
        tasks.ended(assignment, device, ending)
    assert len(tasks) == 0
    assert chosen(tasks, "a")[0].task != assignment.task


@pytest.mark.parametrize("ending", [Ending.DEVICE_LOST, Ending.APP_CRASH, Ending.JUDGE_UNAVAILABLE])
def test_a_task_without_a_verdict_comes_first_on_another_device(ending: Ending) -> None:
    tasks = queue()
    assignment, _ = chosen(tasks, "a")
    tasks.ended(assignment, "a", ending)
    other, _ = chosen(tasks, "a")
    assert other.task != assignment.task  # the device that failed goes on with a fresh one
    assert tasks.choose(["a"], fresh=False) is None
    again, device = chosen(tasks, "a", "b")
    assert (again.task, again.attempt, device) == (assignment.task, 2, "b")
    assert again.failed_on == ("a",)


def test_where_all_devices_have_failed_any_may_try_until_it_is_given_up() -> None:
    tasks = queue(devices=1)
    assignment, _ = chosen(tasks, "a")
    for attempt in (1, 2, 3):
        assert assignment.attempt == attempt
        tasks.failed(assignment, "a")
        if attempt < 3:
            assignment, _ = chosen(tasks, "a", fresh=False)
    assert len(tasks) == 0
    assert (tasks.retried, tasks.given_up) == (2, 1)


def test_the_source_hears_how_every_attempt_ended() -> None:
    source = SuccessRateTasks(POOL)
    tasks = TaskQueue(source, 1)
    assignment, device = chosen(tasks, "a")
    tasks.ended(assignment, device, Ending.SUCCESS)
    assert source.state()["recent"][assignment.task.template] == [1]


def test_what_waits_is_in_the_state() -> None:
    tasks, other = queue(), queue()
    first, _ = chosen(tasks, "a")
    second, _ = chosen(tasks, "b")
    tasks.failed(first, "a")
    tasks.put_back(second)
    other.load_state(json.loads(json.dumps(tasks.state())))
    expected = [(Assignment(first.task, 2, ("a",)), "b"), (second, "b")]
    assert [chosen(other, "b"), chosen(other, "b")] == expected
    assert chosen(other, "b") == chosen(tasks_after(tasks), "b")


def tasks_after(tasks: TaskQueue) -> TaskQueue:
    """The same queue once what waits has been taken."""
    while len(tasks):
        tasks.choose(["b"], fresh=False)
    return tasks


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"source": {"drawn": 1}},
        {"source": {"drawn": 1}, "waiting": [["nothing/train/1", 1, []]]},
        {"source": {"drawn": 1}, "waiting": [[7, 1, []]]},
        {"source": {"drawn": 1}, "waiting": [1]},
    ],
)
def test_a_state_of_something_else_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(CorruptCheckpoint, match="no state of a task queue"):
        queue().load_state(state)


def test_no_attempt_at_all_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="max_attempts=0"):
        queue(max_attempts=0)
