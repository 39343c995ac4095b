"""Tasks that faults cut short come again, on other devices, and not for ever."""

from __future__ import annotations

import json

import pytest
from tests.episodes.made_up_collectors import POOL

from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.episodes.scheduler import Assignment, EpisodeBudget, EpisodeScheduler, Lease
from distrl.errors import CorruptCheckpoint, DeviceDisconnected, InvalidSetting, JudgeError
from distrl.records import Ending
from distrl.task_sets.curriculum import SuccessRateTasks, TaskSource, UniformTasks
from phonesim.simulated_device import SimulatedDevice

Scheduler = EpisodeScheduler[SimulatedDevice]
ONLY_RETRIES = 0


def scheduler(
    devices: str = "abc", max_attempts: int = 3, source: TaskSource | None = None
) -> Scheduler:
    pool = DevicePool([SimulatedDevice(name) for name in devices], settings=HealthSettings(100))
    return EpisodeScheduler("c", pool, source or UniformTasks(POOL), None, max_attempts)


def leased(tasks: Scheduler, ready: str = "", starts: int | None = None) -> Lease[SimulatedDevice]:
    """A lease while only these devices are ready; all, if none are named."""
    free = tasks.device_pool.ready(0.0)
    others = [name for name in free if ready and name not in ready]
    for name in others:
        tasks.device_pool.take(name)
    lease = tasks.lease(EpisodeBudget(starts), 0, 0.0)
    for name in others:
        tasks.device_pool.give_back(name, 0.0, fault=None)
    assert isinstance(lease, Lease)
    return lease


def blocked_on(tasks: Scheduler, starts: int | None = None) -> object:
    return tasks.lease(EpisodeBudget(starts), 0, 0.0)


@pytest.mark.parametrize(
    "ending", [Ending.SUCCESS, Ending.FAILURE, Ending.GAVE_UP, Ending.STEP_LIMIT]
)
def test_a_judged_task_does_not_come_again(ending: Ending) -> None:
    tasks = scheduler()
    lease = leased(tasks)
    assert (lease.assignment.attempt, lease.device.name) == (1, "a")
    assert lease.episode_id == f"c/1/{lease.assignment.task.id}"
    tasks.ended(lease, ending, 0.0)
    assert blocked_on(tasks, ONLY_RETRIES) == "task"
    assert leased(tasks).assignment.task != lease.assignment.task


@pytest.mark.parametrize("ending", [Ending.DEVICE_LOST, Ending.APP_CRASH, Ending.JUDGE_UNAVAILABLE])
def test_a_task_without_a_verdict_comes_first_on_another_device(ending: Ending) -> None:
    tasks = scheduler()
    first = leased(tasks, "a")
    tasks.ended(first, ending, 0.0)
    other = leased(tasks, "a")
    assert other.assignment.task != first.assignment.task  # a goes on with a fresh one
    tasks.ended(other, Ending.SUCCESS, 0.0)
    for name in "bc":
        tasks.device_pool.take(name)
    assert blocked_on(tasks, ONLY_RETRIES) == "task"  # a may not try it again
    tasks.device_pool.give_back("b", 0.0, fault=None)
    again = leased(tasks)
    assert again.assignment == Assignment(first.assignment.task, 2, ("a",))
    assert again.device.name == "b"


def test_where_all_devices_have_failed_any_may_try_until_it_is_given_up() -> None:
    tasks = scheduler("a")
    lease = leased(tasks)
    for attempt in (1, 2, 3):
        assert lease.assignment.attempt == attempt
        tasks.failed_to_start(lease, DeviceDisconnected("gone"), 0.0)
        if attempt < 3:
            lease = leased(tasks, starts=ONLY_RETRIES)
    assert blocked_on(tasks, ONLY_RETRIES) == "task"
    assert (tasks.retried, tasks.given_up) == (2, 1)


def test_the_source_hears_how_every_attempt_ended() -> None:
    source = SuccessRateTasks(POOL)
    tasks = scheduler("a", source=source)
    lease = leased(tasks)
    tasks.ended(lease, Ending.SUCCESS, 0.0)
    assert source.state()["recent"][lease.assignment.task.template] == [1]


def test_what_is_queued_is_in_the_state() -> None:
    tasks, other = scheduler(), scheduler()
    first, second = leased(tasks, "a"), leased(tasks, "b")
    tasks.failed_to_start(first, DeviceDisconnected("gone"), 0.0)
    tasks.abandoned(second, 0.0)
    other.load_state(json.loads(json.dumps(tasks.state())))
    expected = [Assignment(first.assignment.task, 2, ("a",)), second.assignment]
    for each in (tasks, other):
        found = []
        for _ in range(2):
            lease = leased(each, "b")
            found.append(lease.assignment)
            each.ended(lease, Ending.SUCCESS, 0.0)
        assert found == expected
    assert leased(other, "b").assignment == leased(tasks, "b").assignment
    assert other.started == tasks.started == 5


def test_a_lease_says_what_it_waits_for_and_is_in_flight_until_it_is_returned() -> None:
    class Closed:
        open = False

        def may_start(self, weight_version: int, in_flight: int) -> bool:
            return self.open and (weight_version, in_flight) == (4, 0)

    admission = Closed()
    pool = DevicePool([SimulatedDevice("a")], settings=HealthSettings(1, quarantine_seconds=5.0))
    tasks = EpisodeScheduler("c", pool, UniformTasks(POOL), admission)
    budget = EpisodeBudget(2)
    assert tasks.lease(budget, 4, 0.0) == "admission"
    admission.open = True
    lease = tasks.lease(budget, 4, 0.0)
    assert isinstance(lease, Lease)
    assert (tasks.in_flight, tasks.started, budget.starts) == (1, 1, 1)
    tasks.ended(lease, Ending.DEVICE_LOST, 0.0)
    assert tasks.in_flight == 0
    assert tasks.lease(budget, 4, 4.9) == "device"  # it is quarantined
    assert isinstance(tasks.lease(budget, 4, 5.0), Lease)
    assert budget.starts == 1  # a retry is free


def test_only_what_a_device_did_counts_against_it() -> None:
    pool = DevicePool([SimulatedDevice("a")], settings=HealthSettings(1))
    tasks = EpisodeScheduler("c", pool, UniformTasks(POOL))
    for ending in (Ending.JUDGE_UNAVAILABLE, Ending.APP_CRASH, Ending.FAILURE):
        tasks.ended(leased(tasks), ending, 0.0)
    tasks.failed_to_start(leased(tasks), JudgeError("no answer"), 0.0)
    tasks.abandoned(leased(tasks), 0.0)
    assert pool.quarantines == 0
    tasks.failed_to_start(leased(tasks), DeviceDisconnected("gone"), 0.0)
    assert pool.quarantined(0.0) == ("a",)


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"started": 1, "tasks": {}},
        {"started": 1, "tasks": {"source": {"drawn": 1}}},
        {"started": 1, "tasks": {"source": {"drawn": 1}, "waiting": [["nothing/train/1", 1, []]]}},
        {"started": 1, "tasks": {"source": {"drawn": 1}, "waiting": [[7, 1, []]]}},
        {"started": 1, "tasks": {"source": {"drawn": 1}, "waiting": [1]}},
        {"started": -1, "tasks": {"source": {"drawn": 1}, "waiting": []}},
        {"started": "1", "tasks": {"source": {"drawn": 1}, "waiting": []}},
        {"started": 1, "tasks": 3},
    ],
)
def test_a_state_of_something_else_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(CorruptCheckpoint, match="no state of a collector"):
        scheduler().load_state(state)


def test_no_attempt_at_all_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="max_attempts=0"):
        scheduler(max_attempts=0)
