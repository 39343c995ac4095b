"""AndroidWorld in this process, through its Python package and an emulator beside it.

The package is not on PyPI: install it from github.com/google-research/android_world, and start an
emulator as its README says. Its errors have no types of their own; whatever it raises while it
talks to the emulator (`RuntimeError`, `ValueError`, `OSError` and those of its gRPC) becomes a
`DeviceDisconnected`, so that the episode ends as what it is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

from distrl.errors import DeviceDisconnected, NotInstalled, UnknownTask
from distrl.records import Pixels

Result = TypeVar("Result")
PACKAGE_ERRORS = (RuntimeError, ValueError, OSError, AssertionError)


class AndroidWorldPackage:
    """Implements `AndroidWorldHost` on the package's own environment and suite."""

    def __init__(self, environment: Any, suite: Any, make_action: Callable[..., Any]) -> None:
        self._environment = environment
        self._suite = suite
        self._make_action = make_action

    @classmethod
    def open(
        cls,
        *,
        console_port: int = 5554,
        adb_path: str = "adb",
        seed: int = 42,
        combinations: int = 1,
        set_up_apps: bool = False,  # once per emulator: installs the apps, takes minutes
    ) -> Self:
        launcher, registry_module, suites, actions = (
            _module(name)
            for name in ("env.env_launcher", "registry", "suite_utils", "env.json_action")
        )
        environment = _asked(
            "connect to the emulator",
            lambda: launcher.load_and_setup_env(
                console_port=console_port, emulator_setup=set_up_apps, adb_path=adb_path
            ),
        )
        registry = registry_module.TaskRegistry()
        tasks = registry.get_registry(registry.ANDROID_WORLD_FAMILY)
        suite = suites.create_suite(tasks, n_task_combinations=combinations, seed=seed)
        return cls(environment, suite, actions.JSONAction)

    def task_types(self) -> list[str]:
        return list(self._suite)

    def combinations(self, task_type: str) -> int:
        return len(self._tasks(task_type))

    def goal(self, task_type: str, number: int) -> str:
        return str(self._task(task_type, number).goal)

    def initialise(self, task_type: str, number: int) -> None:
        task = self._task(task_type, number)
        _asked(f"initialise {task_type}", lambda: task.initialize_task(self._environment))

    def score(self, task_type: str, number: int) -> float:
        task = self._task(task_type, number)
        return float(_asked(f"score {task_type}", lambda: task.is_successful(self._environment)))

    def tear_down(self, task_type: str, number: int) -> None:
        task = self._task(task_type, number)
        _asked(f"tear down {task_type}", lambda: task.tear_down(self._environment))

    def reset(self) -> None:
        _asked("reset", lambda: self._environment.reset(go_home=True))

    def pixels(self) -> Pixels:
        state = _asked("look", lambda: self._environment.get_state(wait_to_stabilize=True))
        return np.array(state.pixels, dtype=np.uint8)[:, :, :3]

    def execute(self, action: dict[str, Any]) -> None:
        _asked(
            f"perform {action['action_type']}",
            lambda: self._environment.execute_action(self._make_action(**action)),
        )

    def close(self) -> None:
        _asked("close", self._environment.close)

    def _tasks(self, task_type: str) -> Any:
        try:
            return self._suite[task_type]
        except KeyError as error:
            raise UnknownTask(f"AndroidWorld's suite has no task type {task_type!r}") from error

    def _task(self, task_type: str, number: int) -> Any:
        tasks = self._tasks(task_type)
        if not 0 <= number < len(tasks):
            raise UnknownTask(
                f"AndroidWorld's suite has {len(tasks)} tasks of {task_type}, so no number "
                f"{number}; open it with more combinations"
            )
        return tasks[number]


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"android_world.{name}")
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; AndroidWorld in this process needs "
            "pip install git+https://github.com/google-research/android_world, or use its "
            "container over HTTP (AndroidWorldContainer)"
        ) from error


def _asked(what: str, ask: Callable[[], Result]) -> Result:
    try:
        return ask()
    except PACKAGE_ERRORS as error:
        raise DeviceDisconnected(
            f"AndroidWorld could not {what}: {type(error).__name__}: {error}; see that its "
            "emulator runs and reset the device"
        ) from error
