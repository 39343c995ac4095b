"""The phone as a CUBE benchmark (cube-standard 0.1, a release candidate; Python 3.12 or newer).

    for config in PhoneBenchmarkConfig().get_task_configs():
        task = config.make()

One task of each template of the phone's test split. The agent acts by tools and reads screens as
text; the episode ends when it calls `finish`, or CUBE's own `final_step`, or at the task's limit of
steps, and the reward is the judge's: 1.0 if the task was done and said to be.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from distrl import __version__
from distrl.episodes.tool_environment import TOOLS, ToolEnvironment
from distrl.errors import NotInstalled
from phonesim.tasks.task_sets import template_names

try:
    from cube.benchmark import Benchmark, BenchmarkConfig, BenchmarkMetadata
    from cube.core import Observation
    from cube.task import RuntimeContext, Task, TaskConfig, TaskMetadata
    from cube.tool import Tool, ToolConfig
except ModuleNotFoundError as error:
    raise NotInstalled(
        f"a CUBE benchmark needs the package {error.name!r}, from Python 3.12 on: "
        "pip install --pre 'distrl[cube]'"
    ) from None


class PhoneTool(Tool):  # type: ignore[misc]
    """The phone's actions as CUBE's."""

    def __init__(self) -> None:
        self.phone = ToolEnvironment()
        for name in TOOLS:
            setattr(self, name, _action(getattr(self.phone, name)))

    def final_step(self) -> str:
        """Say that the task is done, as `finish` does."""
        if not self.phone.done:
            self.phone.finish()
        return str(super().final_step())


class PhoneToolConfig(ToolConfig):  # type: ignore[misc]
    """A simulated phone; there is nothing to choose."""

    def make(self, container: object = None) -> PhoneTool:
        return PhoneTool()


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
    """A task by its id, on any worker."""

    def make(self, runtime_context: RuntimeContext | None = None) -> PhoneTask:
        tool = self.tool_config or PhoneToolConfig()
        return PhoneTask(metadata=self.metadata, tool_config=tool, runtime_context=runtime_context)


class PhoneBenchmark(Benchmark):  # type: ignore[misc]
    """Nothing is shared: each task has a phone of its own."""

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


def _action(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, marked as CUBE marks actions."""

    @functools.wraps(tool)
    def called(*args: Any, **named: Any) -> Any:
        return tool(*args, **named)

    called.__signature__ = inspect.signature(tool, eval_str=True)  # type: ignore[attr-defined]
    called._is_action = True  # type: ignore[attr-defined]
    return called
