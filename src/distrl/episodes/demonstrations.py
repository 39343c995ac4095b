"""Episodes played by the tasks' own scripted solutions.

They test that tasks and judges agree. (Pretraining has its own `Demonstrator`, which also makes
mistakes.)
"""

from __future__ import annotations

from collections.abc import Sequence

from distrl.devices.device import Device
from distrl.episodes.episode import run_episode
from distrl.hierarchy import Element
from distrl.records import Decision, Observation, Task, Trajectory
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.solver import Solver


class ScriptedPolicy:
    """Plays the scripted solution of the task that its judge has begun, on that one device.

    The script is created at the first decision, because the phone is not set up before.
    """

    def __init__(self, device: Device, judge: FactJudge, *, open_by_name: bool = False) -> None:
        self._device = device
        self._judge = judge
        self._open_by_name = open_by_name
        self._solver: Solver | None = None

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        [_] = observations
        if self._solver is None:
            moves, display = (
                self._judge.template.solve(self._judge.start),
                self._judge.phone.display,
            )
            self._solver = Solver(moves, open_by_name=self._open_by_name, display=display)
        return [Decision(self._solver.next(self._elements()))]

    def _elements(self) -> tuple[Element, ...]:
        """Return the phone's own elements: over adb, uiautomator does not mark icons of apps."""
        if isinstance(self._device, SimulatedDevice):
            return self._device.elements()
        return self._judge.phone.elements()


def demonstrate(task: Task, device: SimulatedDevice, *, open_by_name: bool = False) -> Trajectory:
    """Play the task's own scripted solution on a device."""
    judge = FactJudge(device)
    policy = ScriptedPolicy(device, judge, open_by_name=open_by_name)
    return run_episode(task, device, policy, judge)
