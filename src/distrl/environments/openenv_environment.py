"""The phone as an OpenEnv (0.10) environment: `/ws` for trainers, `/mcp` for agents.

    python -m distrl.environments.openenv_server --port 8000

A trainer resets over `/ws` (`task="notes.create/train/3"`, or `split="train", index=7`, or for a
device of your own `instruction="…"`) and steps by calling tools; the reward of the last step is 1.0
if the task was done and declared done, that of every other step 0.0. An agent over `/mcp` has the
same tools and no reward; `look` tells it the task. Every session has a phone of its own.
"""

from __future__ import annotations

import functools
import inspect
import uuid
from collections.abc import Callable
from io import BytesIO
from typing import Any

from distrl.environments.task_index import SPLITS, task_at, task_count
from distrl.episodes.tool_environment import TOOLS, Observed, ToolEnvironment
from distrl.errors import NotInstalled, UsageError

try:
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError
    from fastmcp.utilities.types import Image
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.mcp_environment import MCPEnvironment
    from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
    from openenv.core.env_server.types import Action, Observation, State
except ModuleNotFoundError as error:
    raise NotInstalled(
        f"an OpenEnv environment needs the package {error.name!r}: pip install 'distrl[openenv]'"
    ) from None

PREVIEW = 1000  # tasks that `list_tasks` lists of a split
SESSIONS = 64  # at once; each further phone takes 1.5 MB


class ScreenObservation(Observation):  # type: ignore[misc]
    """What a reset returns: the task, its id, and the first screen as text."""

    task: str
    text: str


class PhoneEnvironment(MCPEnvironment):  # type: ignore[misc]
    """One phone and one task at a time, operated by calling tools.

    `make` builds the `ToolEnvironment` behind it: `functools.partial(ToolEnvironment, device,
    judge)` for a device of your own. With `task` the phone is ready at once, for agents that only
    speak MCP and cannot reset.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self, make: Callable[[], ToolEnvironment] = ToolEnvironment, task: str | None = None
    ) -> None:
        self._phone = make()
        self._episode = str(uuid.uuid4())
        if task is not None:
            self._phone.reset(task=task)
        super().__init__(self._server())

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str | None = None,
        split: str | None = None,
        index: int | None = None,
        instruction: str | None = None,
        **other: Any,
    ) -> ScreenObservation:
        """Begin a task: by its id, by split and index, or an instruction for your own device."""
        self._episode = episode_id or str(uuid.uuid4())
        if task is None and instruction is None:
            task = task_at(split or "train", seed or 0 if index is None else index)
        text = self._phone.reset(task=task, instruction=instruction, seed=seed)
        return ScreenObservation(done=False, reward=0.0, task=task or "", text=text)

    def step(
        self, action: Action, timeout_s: float | None = None, **other: Any
    ) -> CallToolObservation:
        over = self._phone.done
        return self._rewarded(super().step(action, timeout_s=timeout_s, **other), over)

    async def step_async(
        self, action: Action, timeout_s: float | None = None, **other: Any
    ) -> CallToolObservation:
        over = self._phone.done
        return self._rewarded(await super().step_async(action, timeout_s=timeout_s, **other), over)

    def _rewarded(self, observation: Observation, over: bool) -> Observation:
        """Set the reward of this step; calls after the end of the episode earn nothing."""
        observation.done = self._phone.done
        observation.reward = 0.0 if over else self._phone.reward
        return observation

    def _step_impl(
        self, action: Action, timeout_s: float | None = None, **other: Any
    ) -> Observation:
        raise UsageError(f"{type(action).__name__}; call a tool: {', '.join(TOOLS)}")

    @property
    def state(self) -> State:
        return State(episode_id=self._episode, step_count=self._phone.steps)

    def _server(self) -> FastMCP:
        """Build the MCP server of the tools; `look` is for agents that did not see the reset."""
        server = FastMCP("phone")
        for name in TOOLS:
            server.tool(_as_content(getattr(self._phone, name), pictures=self._phone.pictures))

        def look() -> str:
            """Read the task and the screen as it is. Nothing is done on the phone."""
            return str(self._phone)

        server.tool(look)
        return server

    # OpenEnv's Task API: routes under /phone/ -----------------------------------------------------

    def list_splits(self) -> list[str]:
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        return task_count(split)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        return {"id": task_at(split, index), "index": index}

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        return self.get_task_range(split, 0, PREVIEW)

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        first, count = start or 0, task_count(split)
        last = min(count if stop is None else stop, count, first + PREVIEW)
        return [self.get_task(split, index) for index in range(first, last)]


def phone_app(
    make: Callable[[], PhoneEnvironment] = PhoneEnvironment, sessions: int = SESSIONS
) -> Any:
    """Return the ASGI app: `uvicorn.run(phone_app())`. With your own device, allow one session."""
    return create_app(
        make,
        CallToolAction,
        CallToolObservation,
        env_name="phone",
        max_concurrent_envs=sessions,
        reset_observation_cls=ScreenObservation,
    )


def _as_content(tool: Callable[..., Observed], *, pictures: bool) -> Callable[..., Any]:
    """Wrap a tool for MCP: pictures become blocks, and a model's mistake a `ToolError`."""

    @functools.wraps(tool)
    def called(*args: Any, **named: Any) -> Any:
        try:
            seen = tool(*args, **named)
        except ValueError as error:
            raise ToolError(str(error)) from error
        return seen if isinstance(seen, str) else [_block(each) for each in seen]

    returned = Any if pictures else str  # text alone goes into the structured answer as well
    signature = inspect.signature(tool, eval_str=True).replace(return_annotation=returned)
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {**inspect.get_annotations(tool, eval_str=True), "return": returned}
    return called


def _block(block: dict[str, Any]) -> Any:
    if block["type"] == "text":
        return block["text"]
    png = BytesIO()
    block["image"].save(png, "PNG")
    return Image(data=png.getvalue(), format="png")
