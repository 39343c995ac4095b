"""Solutions played without a screen being drawn or kept, which is four fifths of their time.

`distrl.episodes.demonstrations.demonstrate` plays them as an agent does; where many seeds of a task
are tried, one is played like that and the others like this.
"""

from __future__ import annotations

from dataclasses import dataclass

from distrl.records import FINAL_ACTIONS, Answer, AskUser, Impossible, Verdict
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.solver import Solver
from phonesim.tasks.task_sets import load_task


@dataclass(frozen=True, slots=True)
class Unwatched:
    """What a solution came to."""

    steps: int  # the final word not counted
    verdict: Verdict


def play_unwatched(task_id: str, device: SimulatedDevice) -> Unwatched:
    """The task's own solution, on a device that is reset for it."""
    judge = FactJudge(device)
    task, _ = load_task(task_id)
    device.reset(task.seed)
    judge.begin(task)
    solver = Solver(judge.template.solve(judge.start), display=judge.phone.display)
    for steps in range(task.step_limit):
        action = solver.next(judge.phone.elements())
        if isinstance(action, FINAL_ACTIONS):
            assert not isinstance(action, Impossible), task_id
            answer = action.text if isinstance(action, Answer) else None
            return Unwatched(steps, judge.verdict(answer))
        if isinstance(action, AskUser):
            judge.reply(action.question)
        judge.phone.perform(action)
    raise AssertionError(f"{task_id}: not done within {task.step_limit} steps")
