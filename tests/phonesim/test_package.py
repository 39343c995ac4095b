"""`import phonesim` offers what a person needs to operate a phone, each name loaded when used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import phonesim
from distrl.records import FINAL_ACTIONS, Answer


def test_every_exported_name_is_there() -> None:
    for name in phonesim.__all__:
        assert getattr(phonesim, name) is not None
        assert name in dir(phonesim)
    with pytest.raises(AttributeError, match="no attribute 'Tablet'"):
        _ = phonesim.Tablet  # type: ignore[attr-defined]


def test_a_task_is_played_by_its_solution_and_judged() -> None:
    task, template = phonesim.load_task("notes.create/train/3")
    with phonesim.SimulatedDevice("phone 0") as device:
        device.reset(task.seed)
        judge = phonesim.FactJudge(device)
        judge.begin(task)
        solver = phonesim.Solver(template.solve(judge.start))
        while not isinstance(action := solver.next(device.elements()), FINAL_ACTIONS):
            device.perform(action)
        answer = action.text if isinstance(action, Answer) else None
        assert judge.verdict(answer).success


def test_the_phone_needs_no_torch_and_nothing_of_distrl_but_six_modules() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['gymnasium'] = None; import phonesim; "
        "[getattr(phonesim, name) for name in phonesim.__all__]; "
        "print(*sorted(name for name in sys.modules if name.startswith('distrl.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "distrl.bounds",
        "distrl.errors",
        "distrl.hierarchy",
        "distrl.plugin_shape",
        "distrl.plugins",
        "distrl.records",
    ]
