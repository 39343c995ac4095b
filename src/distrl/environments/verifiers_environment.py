"""The phone for verifiers (v1), and so for prime-rl: `vf-eval distrl-phone`.

A row is a task of the simulated phone; its prompt has the instruction and the first screen as text,
and the model acts by tools. For each rollout verifiers starts this module as a tool server
(`python -m distrl.environments.verifiers_environment`), with a phone of its own, whose `PhoneState`
goes back with every call. The reward is the judge's: 1.0 if the task was done and declared done.
`vf-validate distrl-phone` plays each task's scripted solution.

For a device of your own, write a `PhoneToolset` whose `phone` builds the `ToolEnvironment`, in a
module that ends as this one does, and a `PhoneTask` whose `toolsets` returns it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from distrl.environments.task_index import task_at, task_count
from distrl.episodes.episode import run_episode
from distrl.episodes.evaluation import SIMPLE_AGENTS
from distrl.episodes.tool_environment import TOOLS, ToolEnvironment
from distrl.errors import NotInstalled
from distrl.records import Split
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

try:
    import verifiers.v1 as vf
    from verifiers.v1.harnesses.null import NullHarness
except ModuleNotFoundError as error:
    raise NotInstalled(
        f"a verifiers environment needs the package {error.name!r}: pip install 'distrl[verifiers]'"
    ) from None

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

ASKED = "Operate the phone by calling tools; call finish at the end."


class PhoneData(vf.TaskData):  # type: ignore[misc]
    """A row: the id of the task, beside the prompt with its first screen."""

    task: str


class PhoneState(vf.State):  # type: ignore[misc]
    """The state of a rollout; the reward is 1.0 once the task is done and declared done."""

    reward: float = 0.0
    done: bool = False
    steps: int = 0
    reason: str = ""


class PhoneToolset(vf.Toolset[vf.ToolsetConfig, PhoneState]):  # type: ignore[misc]
    """The phone's actions as MCP tools: phone_tap, phone_swipe, phone_type_text and so on."""

    TOOL_PREFIX = "phone"

    def phone(self) -> ToolEnvironment:
        return ToolEnvironment()

    async def setup_task(self, task: PhoneData) -> None:
        self._phone = self.phone()
        self._phone.reset(task=task.task, instruction=task.prompt_text)

    def register(self, mcp: MCPServer) -> None:
        for name in TOOLS:
            tool = getattr(self._phone, name)
            described = inspect.getdoc(tool)
            mcp.add_tool(self._with_state(self._noted(tool)), name=name, description=described)

    def _noted(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a tool so that each call updates the state of the rollout."""

        @functools.wraps(tool)
        def called(*args: Any, **named: Any) -> Any:
            seen, phone = tool(*args, **named), self._phone
            self.state.reward, self.state.done = phone.reward, phone.done
            self.state.steps, self.state.reason = phone.steps, phone.reason
            return seen

        signature = inspect.signature(tool, eval_str=True).replace(return_annotation=str)
        called.__signature__ = signature  # type: ignore[attr-defined]
        called.__annotations__ = {**inspect.get_annotations(tool, eval_str=True), "return": str}
        return called


class PhoneTaskConfig(vf.TaskConfig):  # type: ignore[misc]
    """Where the tool server of a rollout runs (`--env.taskset.task.tools.*`)."""

    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class PhoneTask(vf.Task[PhoneData, PhoneState, PhoneTaskConfig]):  # type: ignore[misc]
    """One task: its tools, its end and its reward."""

    @classmethod
    def toolsets(cls, config: PhoneTaskConfig) -> list[PhoneToolset]:
        return [PhoneToolset(config.tools)]

    @property
    def key(self) -> str:
        return str(self.data.task)

    @vf.stop  # type: ignore[untyped-decorator]
    async def over(self, trace: vf.Trace) -> bool:
        return bool(trace.state.done)

    @vf.reward  # type: ignore[untyped-decorator]
    async def success(self, trace: vf.Trace) -> float:
        return float(trace.state.reward)

    @vf.metric  # type: ignore[untyped-decorator]
    async def steps(self, trace: vf.Trace) -> float:
        return float(trace.state.steps)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the scripted solution is judged a success."""
        task = load_task(self.data.task)[0]
        with SimulatedDevice("validate") as phone:
            judge = FactJudge(phone)
            solution = SIMPLE_AGENTS["scripted"](task, phone, judge)
            verdict = run_episode(task, phone, solution, judge).verdict
        return verdict is not None and verdict.success


class PhoneTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Which tasks (`--env.taskset.split test`)."""

    split: Split = "train"
    """train, test, or one of the held-out splits."""
    tasks: int = 1000
    """How many, spread over all templates."""
    task: PhoneTaskConfig = PhoneTaskConfig()


class PhoneTaskset(vf.Taskset[PhoneTask, PhoneTasksetConfig]):  # type: ignore[misc]
    """The tasks of a split, one of each template in turn."""

    def load(self) -> Iterator[PhoneTask]:
        phone = ToolEnvironment()
        for index in range(min(self.config.tasks, task_count(self.config.split))):
            task = task_at(self.config.split, index)
            prompt = f"{ASKED}\n{phone.reset(task=task)}"
            yield PhoneTask(
                PhoneData(id=task, name=task, task=task, prompt=prompt), self.config.task
            )


class PhoneHarness(NullHarness):  # type: ignore[misc]
    """A plain loop of chat and tool calls; no shell, no container."""


if __name__ == "__main__":
    PhoneToolset.run()
