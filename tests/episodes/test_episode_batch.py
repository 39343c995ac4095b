"""Many episodes in lockstep: the same as one after another, with fewer questions to the policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

from distrl.episodes.episode import Attempt, Episode, EpisodeBatch, run_episode
from distrl.episodes.evaluation import SIMPLE_AGENTS, evaluation_tasks, play
from distrl.records import Decision, Done, Ending, Observation, Task, Trajectory, Wait
from phonesim.faults import Faults
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

TASKS = list(islice(evaluation_tasks("train"), 9))


def devices(number: int) -> list[SimulatedDevice]:
    return [SimulatedDevice(f"phone-{n}") for n in range(number)]


def summary(trajectory: Trajectory) -> tuple[object, ...]:
    screens = [screen.digest for screen in trajectory.screens]
    return trajectory.ending, trajectory.decisions, screens, trajectory.verdict


class Patient:
    """Says "done" after as many waits as its task's number has it; counts what it is asked."""

    def __init__(self, waits: dict[str, int]) -> None:
        self._waits = waits
        self.batches: list[int] = []

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.batches.append(len(observations))
        return [Decision(self._act(observation)) for observation in observations]

    def _act(self, observation: Observation) -> Done | Wait:
        enough = len(observation.past_actions) >= self._waits[observation.instruction]
        return Done() if enough else Wait()


@pytest.mark.parametrize("agent", ["scripted", "monkey"])
def test_lockstep_gives_the_trajectories_of_one_after_another(agent: str) -> None:
    alone = {}
    for task in TASKS:
        [device] = devices(1)
        judge = FactJudge(device)
        policy = SIMPLE_AGENTS[agent](task, device, judge)
        alone[task.id] = summary(run_episode(task, device, policy, judge))
    for number in (1, 4, 20):
        together = list(play(TASKS, SIMPLE_AGENTS[agent], devices(number)))
        assert {trajectory.id: summary(trajectory) for trajectory in together} == alone
        assert len(together) == len(TASKS)


def test_one_question_for_all_that_wait_and_no_device_idle_before_the_tasks_run_out() -> None:
    waits = {task.instruction: index % 4 for index, task in enumerate(TASKS)}
    policy = Patient(waits)
    trajectories = list(play(TASKS, lambda task, device, judge: policy, devices(3)))
    # Nine tasks of 1 2 3 4 1 2 3 4 1 steps on three phones. The eighth and the ninth begin in the
    # sixth round, in which the seventh ends; the eighth goes on alone for three more.
    assert policy.batches == [3, 3, 3, 3, 3, 3, 1, 1, 1]
    assert all(len(t.decisions) == waits[t.task.instruction] + 1 for t in trajectories)


def test_attempts_with_policies_of_their_own_are_asked_apart() -> None:
    policies = [Patient({task.instruction: 0}) for task in TASKS[:3]]
    left = iter(policies)

    def begin(task: Task, device: SimulatedDevice) -> Attempt:
        return Attempt(Episode.begin(task, device, FactJudge(device)), next(left))

    assert len(list(EpisodeBatch(TASKS[:3], devices(3), begin).trajectories())) == 3
    assert [policy.batches for policy in policies] == [[1], [1], [1]]


def test_a_task_is_taken_only_when_a_device_is_free() -> None:
    taken: list[str] = []

    def tasks() -> Iterator[Task]:
        for task in TASKS:
            taken.append(task.id)
            yield task

    policy = Patient({task.instruction: 0 for task in TASKS})
    playing = play(tasks(), lambda task, device, judge: policy, devices(2))
    next(playing)
    assert len(taken) == 2


def test_a_device_that_fails_ends_its_episode_and_takes_the_next_task() -> None:
    broken = SimulatedDevice("broken", faults=Faults(schedule={1: "disconnect"}))
    policy = Patient({task.instruction: 1 for task in TASKS})
    played = list(play(TASKS[:4], lambda task, device, judge: policy, [broken, *devices(1)]))
    assert len(played) == 4
    endings = [trajectory.ending for trajectory in played]
    assert Ending.DEVICE_LOST in endings
    assert Ending.FAILURE in endings
