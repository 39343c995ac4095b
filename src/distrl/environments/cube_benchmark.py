"""Phones as CUBE benchmarks (cube-standard 0.1, a release candidate; Python 3.12 or newer).

    for config in PhoneBenchmarkConfig().get_task_configs():
        task = config.make()

    device = DeviceToolConfig(settings="miniwob")     # or any other device that settings describe
    for config in DeviceBenchmarkConfig(tool_config=device).get_task_configs():

`PhoneBenchmarkConfig` has one task of each template of the simulated phone's test split,
`DeviceBenchmarkConfig` the tasks, devices and judge of any settings. The agent acts by tools and
reads screens as text; the episode ends when it calls `finish`, or CUBE's own `final_step`, or at
the task's step limit. The reward is the judge's: 1.0 if the task was done and declared done.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from distrl import __version__
from distrl.environments.opened_device import TASKS, OpenedDevice
from distrl.episodes.tool_environment import TOOLS, ToolEnvironment
from distrl.errors import NotInstalled, UsageError
from distrl.records import TEST_OF, Split
from phonesim.tasks.task_sets import template_names

try:
    from cube.benchmark import Benchmark, BenchmarkConfig, BenchmarkMetadata
    from cube.core import Observation
    from cube.task import RuntimeContext, Task, TaskConfig, TaskMetadata
    from cube.tool import Tool, ToolConfig
    from pydantic import PrivateAttr
except ModuleNotFoundError as error:
    raise NotInstalled(
        f"a CUBE benchmark needs the package {error.name!r}, from Python 3.12 on: "
        "pip install --pre 'distrl[cube]'"
    ) from None


class PhoneTool(Tool):  # type: ignore[misc]
    """The phone's tools as CUBE actions."""

    def __init__(self, opened: OpenedDevice | None = None) -> None:
        self._opened = opened
        self.phone = opened.tools() if opened is not None else ToolEnvironment()
        for name in TOOLS:
            setattr(self, name, _action(getattr(self.phone, name)))

    def final_step(self) -> str:
        """Say that the task is done, as `finish` does."""
        if not self.phone.done:
            self.phone.finish()
        return str(super().final_step())

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()


class PhoneToolConfig(ToolConfig):  # type: ignore[misc]
    """A simulated phone, without options."""

    def make(self, container: object = None) -> PhoneTool:
        return PhoneTool()


class DeviceToolConfig(ToolConfig):  # type: ignore[misc]
    """A device that settings (by name or file) describe, with overrides of them."""

    settings: str | None = None
    overrides: dict[str, Any] = {}  # noqa: RUF012 (pydantic copies it)
    split: Split | None = None  # None: the one that the settings evaluate on
    tasks: int = TASKS

    def open(self) -> OpenedDevice:
        return OpenedDevice.open(self.settings, self.overrides, split=self.split, tasks=self.tasks)

    def make(self, container: object = None) -> PhoneTool:
        return PhoneTool(self.open())


class PhoneTask(Task):  # type: ignore[misc]
    """One task on one phone."""

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        screen = self.tool.phone.reset(task=self.metadata.id)
        return Observation.from_text(screen), {}

    def evaluate(self, obs: Observation | None = None) -> tuple[float, dict[str, Any]]:
        phone = self.tool.phone
        return phone.reward, {"reason": phone.reason, "steps": phone.steps}

    def finished(self, obs: Observation | None = None) -> bool:
        return bool(self.tool.phone.done)


class PhoneTaskConfig(TaskConfig):  # type: ignore[misc]
    """A task by its id, which any worker can make."""

    def make(self, runtime_context: RuntimeContext | None = None) -> PhoneTask:
        tool = self.tool_config or PhoneToolConfig()
        return PhoneTask(metadata=self.metadata, tool_config=tool, runtime_context=runtime_context)


class PhoneBenchmark(Benchmark):  # type: ignore[misc]
    """A benchmark without shared resources: each task has a phone of its own."""

    def _setup(self) -> None: ...

    def close(self) -> None: ...


def _test_tasks() -> dict[str, TaskMetadata]:
    ids = [f"{name}/test/0" for name in template_names("test")]
    return {each: TaskMetadata(id=each, split="test") for each in ids}


class PhoneBenchmarkConfig(BenchmarkConfig):  # type: ignore[misc]
    """The benchmark as `cube list` shows it."""

    benchmark_metadata: ClassVar[BenchmarkMetadata] = BenchmarkMetadata(
        name="distrl-phone",
        version=__version__,
        description="Tasks on a simulated phone, judged by its state",
        license="Apache-2.0",
        num_tasks=len(template_names("test")),
        tags=["mobile", "gui"],
    )
    task_metadata: ClassVar[dict[str, TaskMetadata]] = _test_tasks()
    task_config_class: ClassVar[type[TaskConfig]] = PhoneTaskConfig
    benchmark_class: ClassVar[type[Benchmark]] = PhoneBenchmark


class DeviceTaskConfig(PhoneTaskConfig):
    """The tasks of `DeviceBenchmarkConfig`: CUBE requires a class for each benchmark."""


class DeviceBenchmarkConfig(BenchmarkConfig):  # type: ignore[misc]
    """The tasks that the settings of `tool_config`, a `DeviceToolConfig`, describe."""

    benchmark_metadata: ClassVar[BenchmarkMetadata] = BenchmarkMetadata(
        name="distrl-device",
        version=__version__,
        description="Tasks on the devices of DistRL's settings, with their judge",
        license="Apache-2.0",
        tags=["mobile", "gui"],
    )
    task_metadata: ClassVar[
        dict[str, TaskMetadata]
    ] = {}  # none are known before there are settings
    task_config_class: ClassVar[type[TaskConfig]] = DeviceTaskConfig
    benchmark_class: ClassVar[type[Benchmark]] = PhoneBenchmark
    _listed: dict[str, TaskMetadata] = PrivateAttr(default_factory=dict)

    def tasks(self) -> Mapping[str, TaskMetadata]:
        """List the tasks; the first call opens a device for that, and closes it again."""
        if not self._listed:
            if not isinstance(self.tool_config, DeviceToolConfig):
                raise UsageError("a DeviceBenchmarkConfig needs tool_config=DeviceToolConfig(...)")
            with self.tool_config.open() as opened:
                self._listed = {
                    task.id: TaskMetadata(
                        id=task.id,
                        split="train" if task.split in TEST_OF else "test",  # CUBE's only two
                    )
                    for task in opened.tasks
                }
        wanted = self._listed if self.task_ids is None else self.task_ids
        return {name: self._listed[name] for name in wanted}


def _action(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a tool with the marks by which CUBE finds actions."""

    @functools.wraps(tool)
    def called(*args: Any, **named: Any) -> Any:
        return tool(*args, **named)

    called.__signature__ = inspect.signature(tool, eval_str=True)  # type: ignore[attr-defined]
    called._is_action = True  # type: ignore[attr-defined]
    return called
