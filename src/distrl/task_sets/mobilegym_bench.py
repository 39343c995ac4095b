"""Runs MobileGym's own Python code, which sets tasks up and judges them, on our browser.

MobileGym's package (`bench_env`, in its checkout) drives its page with Playwright. We pass its
environment a page object that implements the same few calls with our own browser. So MobileGym's
unchanged code sets up and judges tasks on the phone that our agent operates. The package is loaded
from its folder; a second folder in the same process is refused, as both have the same module name.

Any exception that it raises becomes a `JudgeError`, unless the device failed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import importlib.util
import json
import logging
import sys
from collections.abc import Coroutine
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from distrl.devices.browser.mobilegym_device import MobileGymDevice
from distrl.errors import InvalidSetting, JudgeError, NotInstalled, UnknownTask

T = TypeVar("T")
PACKAGE = "bench_env"
CALL_SECONDS = 60.0  # MobileGym's own limit: a call may load the data of an app
# As in Playwright: an expression that evaluates to a function is called with the argument.
CALL = (
    "(async (given) => {{ const it = ({}\n); return typeof it === 'function' ? it(given) : it }})"
)


class MobileGymBench:
    """MobileGym's package `bench_env`, loaded from one folder."""

    def __init__(self, folder: Path) -> None:
        self._environment: Any = _module(folder, "env").MobileGymEnv
        self._runner: Any = _module(folder, "runner.base")
        self._config: Any = _module(folder, "config").RunnerConfig
        self._registry: Any = _module(folder, "task").TaskRegistry()

    def task_type(self, name: str) -> Any:
        """Return the class of a task, by a name such as wechat.SetSignature."""
        try:
            return self._registry.get_by_id(name)
        except ValueError as error:
            raise UnknownTask(f"MobileGym has no task {name!r}: {str(error)[:300]}") from error

    def step_limit(self, kind: Any) -> int:
        return int(self._config(agent="", model_name="").get_max_steps(kind))

    def begin(self, device: MobileGymDevice, name: str, seed: int) -> MobileGymEpisode:
        """Set a task up on a phone that has just been reset."""
        task = self.task_type(name)(_seed=seed)
        environment = self._environment(url=device.site, context=_Context(device), verbose=False)

        async def set_up() -> Any:
            await environment.start()
            return (await self._runner.Controller.setup(environment, task))[0]

        first = _awaited(device, set_up(), f"set up {name}")
        return MobileGymEpisode(device, environment, self._runner, task, first)


@dataclasses.dataclass(frozen=True, slots=True)
class MobileGymEpisode:
    """A task that has been set up, and can be judged."""

    device: MobileGymDevice
    environment: Any
    runner: Any  # the module bench_env.runner.base
    task: Any
    first: Any  # MobileGym's observation after the set-up

    @property
    def instruction(self) -> str:
        return str(self.task.description)

    def result(self, answer: str | None) -> Any:
        """Return MobileGym's `JudgeResult` for the current state of the phone."""
        return _awaited(self.device, self._judged(answer), f"judge {self.task.id}")

    async def _judged(self, answer: str | None) -> Any:
        apps = list(self.task.apps) or None
        last = dataclasses.replace(
            await self.environment.get_observation(),
            state=await self.environment.get_state(required_apps=apps),
        )
        played = self.runner.ExecutionResult(
            steps=0, trace=[], runtime_s=0.0, finished=True, truncated=False, agent_answer=answer
        )
        return await self.runner.Evaluator().evaluate(self.task, self.first, last, played)


def _awaited(device: MobileGymDevice, work: Coroutine[Any, Any, T], what: str) -> T:
    """Run a coroutine of MobileGym; also raise device failures that MobileGym has swallowed."""
    try:
        result = asyncio.run(work)
    except Exception as error:  # third-party code may raise anything
        _ = device.page  # raises if the device has failed
        said = f"{type(error).__name__}: {str(error)[:300]}"
        raise JudgeError(f"MobileGym could not {what}: {said}") from error
    _ = device.page
    return result


@dataclasses.dataclass(frozen=True, slots=True)
class _Context:
    """The one method of a Playwright context that MobileGym's environment calls."""

    device: MobileGymDevice

    async def new_page(self) -> _Page:
        return _Page(self.device)


class _Page:
    """The methods of a Playwright page that MobileGym calls to set up and judge tasks."""

    def __init__(self, device: MobileGymDevice) -> None:
        self._device = device
        self._loaded = True  # by the device's reset

    def on(self, event: str, handler: object) -> None:
        """Ignore it: events are only for MobileGym's own log."""

    async def goto(self, url: str, **_: object) -> None:
        if not self._loaded:
            self._device.start()
        self._loaded = False

    async def evaluate(self, expression: str, given: object = None) -> object:
        return self._device.evaluate(
            f"{CALL.format(expression)}({json.dumps(given)})", CALL_SECONDS
        )

    async def wait_for_function(self, expression: str, *, timeout: float, **_: object) -> None:
        call = f"{CALL.format(expression)}().then(Boolean)"
        self._device.wait_until(call, timeout / 1000)

    async def wait_for_load_state(self, state: str, **_: object) -> None:
        """Return at once: `goto` returns only when the page has loaded."""

    async def screenshot(self, **_: object) -> bytes:
        """Return nothing: the judge reads the state, and our agent takes its own screenshots."""
        return b""


@cache
def load_bench(folder: Path) -> MobileGymBench:
    """Load the package of that folder."""
    logging.getLogger(PACKAGE).setLevel(logging.ERROR)  # it warns of each default that it uses
    try:
        return MobileGymBench(folder)
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed, which MobileGym's tasks need: "
            f"pip install -r {folder / PACKAGE / 'requirements.txt'}"
        ) from error
    except (ImportError, AttributeError, TypeError) as error:
        raise InvalidSetting(
            f"tasks.mobilegym_folder={str(folder)!r}: its package {PACKAGE} is not of a version "
            f"that we know ({type(error).__name__}: {error}); take MobileGym v0.1.0"
        ) from error


def _module(folder: Path, name: str) -> Any:
    """Import a module of the package from its folder, without looking at `sys.path`."""
    place = folder / PACKAGE
    package = sys.modules.get(PACKAGE)
    if package is None:
        spec = importlib.util.spec_from_file_location(
            PACKAGE, place / "__init__.py", submodule_search_locations=[str(place)]
        )
        assert spec is not None  # it has a path
        assert spec.loader is not None
        package = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(package)
        except BaseException:
            del sys.modules[PACKAGE]
            raise
    if [str(place)] != list(package.__path__):
        raise InvalidSetting(
            f"tasks.mobilegym_folder={str(folder)!r}: this process has loaded the package "
            f"{PACKAGE} from {list(package.__path__)} already; use one folder in a process"
        )
    return importlib.import_module(f"{PACKAGE}.{name}")
