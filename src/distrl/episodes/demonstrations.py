"""Episodes played by the tasks' own scripted solutions.

They prove that tasks and judges agree. (Pretraining has a `Demonstrator` of its own, with slips.)
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

    The script is read at the first decision: only then has the phone been set up.
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
        """Those of the phone itself: over adb, uiautomator does not say which are icons of apps."""
        if isinstance(self._device, SimulatedDevice):
            return self._device.elements()
        return self._judge.phone.elements()


def demonstrate(task: Task, device: SimulatedDevice, *, open_by_name: bool = False) -> Trajectory:
    """The task's own solution, played on a device."""
    judge = FactJudge(device)
    policy = ScriptedPolicy(device, judge, open_by_name=open_by_name)
    return run_episode(task, device, policy, judge)
