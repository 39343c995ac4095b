"""Scripted solutions solve tasks over adb with the same screens as without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.devices.adb.served_phones import ServedPhones, served_phones

from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.episodes.demonstrations import demonstrate
from distrl.episodes.episode import run_episode
from distrl.records import Action, Decision, Done, Ending, Observation, Trajectory, Wait
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASKS = ("notes.create/train/0", "messages.send_number/train/1", "shopping.buy_express/train/0")


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones(2) as served:
        yield served


class Replay:
    """Decides what was decided once before."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = iter(actions)

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(next(self._actions)) for _ in observations]


def over_adb(
    phones: ServedPhones, number: int, task_id: str, actions: Sequence[Action]
) -> Trajectory:
    task, _ = load_task(task_id)
    with SimulatedAdbDevice(phones.device(number)) as device:
        return run_episode(task, device, Replay(actions), FactJudge(device))


@pytest.mark.parametrize("task_id", TASKS)
def test_a_solution_has_the_same_screens_and_verdict_over_adb(
    phones: ServedPhones, task_id: str
) -> None:
    task, _ = load_task(task_id)
    shown = demonstrate(task, SimulatedDevice("twin"))
    actions = [decision.action for decision in shown.decisions]
    played = over_adb(phones, 0, task_id, actions)
    assert played.ending is Ending.SUCCESS
    assert [s.digest for s in played.screens] == [s.digest for s in shown.screens]
    cut = over_adb(phones, 0, task_id, [*actions[:1], actions[-1]])
    assert cut.ending is Ending.FAILURE
    assert cut.verdict is not None
    assert cut.verdict.judge == "facts"


def test_waiting_passes_the_time_of_the_phone(phones: ServedPhones) -> None:
    with SimulatedAdbDevice(phones.device()) as device:
        device.reset(4)
        before = phones.handset().phone.now
        device.perform(Wait(120.0))
        assert (phones.handset().phone.now - before).total_seconds() >= 120.0
        assert device.seconds < 10.0


def test_two_phones_keep_their_own_state(phones: ServedPhones) -> None:
    task, _ = load_task(TASKS[0])
    actions = [d.action for d in demonstrate(task, SimulatedDevice("twin")).decisions]
    scripts = (actions, actions[-1:])
    with ThreadPoolExecutor(2) as threads:
        played = threads.map(lambda n: over_adb(phones, n, TASKS[0], scripts[n]), (0, 1))
    assert [each.ending for each in played] == [Ending.SUCCESS, Ending.FAILURE]


def test_a_phone_that_is_gone_at_the_verdict_is_a_judge_without_facts() -> None:
    with served_phones() as own:
        task, _ = load_task(TASKS[0])

        class LeavesThenSaysDone:
            def decide(self, observations: Sequence[Observation]) -> list[Decision]:
                own.phones.unplug(0)
                return [Decision(Done()) for _ in observations]

        with SimulatedAdbDevice(own.device()) as device:
            ended = run_episode(task, device, LeavesThenSaysDone(), FactJudge(device))
    assert ended.ending is Ending.JUDGE_UNAVAILABLE
    assert "no facts could be had" in ended.notes[0]
