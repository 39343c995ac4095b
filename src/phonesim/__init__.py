"""A simulated Android-like phone in memory, with tasks, judges, solutions and an adb daemon.

    phone = phonesim.Phone(seed=7)                              # apps, contents and a screen
    task, template = phonesim.load_task("notes.create/train/3")
    device = phonesim.SimulatedDevice("phone 0")                # the phone with time and faults
    judge = phonesim.FactJudge(device)                          # success by comparing facts

Importing this package loads nothing but itself: each name below is imported at its first use. The
same seed and the same actions give the same pixels everywhere. If gymnasium has been imported
already, its environments are registered: see `phonesim.gymnasium_registration`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distrl.records import SPLITS
    from phonesim.drift import Drift
    from phonesim.faults import Faults
    from phonesim.phone import Phone
    from phonesim.simulated_device import SimulatedDevice
    from phonesim.tasks.fact_judge import FactJudge
    from phonesim.tasks.solver import Solver
    from phonesim.tasks.task_sets import load_task, template_names

__all__ = [
    "SPLITS", "Drift", "FactJudge", "Faults", "Phone", "SimulatedDevice", "Solver", "load_task",
    "template_names",
]  # fmt: skip

_HOMES = {
    "SPLITS": "distrl.records",
    "Drift": "phonesim.drift",
    "FactJudge": "phonesim.tasks.fact_judge",
    "Faults": "phonesim.faults",
    "Phone": "phonesim.phone",
    "SimulatedDevice": "phonesim.simulated_device",
    "Solver": "phonesim.tasks.solver",
    "load_task": "phonesim.tasks.task_sets",
    "template_names": "phonesim.tasks.task_sets",
}


if not TYPE_CHECKING:  # a checker shall refuse names that are not listed above

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'phonesim' has no attribute {name!r}")
        found: object = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if sys.modules.get("gymnasium"):  # None: importing it is forbidden
    from phonesim.gymnasium_registration import register_environments

    register_environments()
