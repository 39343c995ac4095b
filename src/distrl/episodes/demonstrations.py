"""Episodes played by the tasks' own scripted solutions.

They prove that tasks and judges agree. (Pretraining has a `Demonstrator` of its own, with slips.)
"""

from __future__ import annotations

from collections.abc import Sequence

from distrl.devices.device import Device
from distrl.episodes.episode import run_episode
from distrl.records import Decision, Observation, Task, Trajectory
from phonesim.display import STANDARD
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.solver import Solver


class ScriptedPolicy:
    """Plays the scripted solution of the task that its judge has begun, on that one device.

    The script is read at the first decision: only then has the phone been set up.
    """

    def __init__(self, device: Device, judge: FactJudge, *, open_by_name: bool = False) -> None:
        self._display = device.display if isinstance(device, SimulatedDevice) else STANDARD
        self._device = device
        self._judge = judge
        self._open_by_name = open_by_name
        self._solver: Solver | None = None

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        [_] = observations
        if self._solver is None:
            moves = self._judge.template.solve(self._judge.start)
            self._solver = Solver(moves, open_by_name=self._open_by_name, display=self._display)
        return [Decision(self._solver.next(self._device.elements()))]


def demonstrate(task: Task, device: SimulatedDevice, *, open_by_name: bool = False) -> Trajectory:
    """The task's own solution, played on a device."""
    judge = FactJudge(device)
    policy = ScriptedPolicy(device, judge, open_by_name=open_by_name)
    return run_episode(task, device, policy, judge)
