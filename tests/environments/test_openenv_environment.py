"""The phone behind OpenEnv's own server and clients: trainers by /ws, agents by /mcp."""

from __future__ import annotations

import functools
import runpy
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.environments.alarm_model import switch_number

from distrl.devices.device import Device
from distrl.episodes.tool_environment import ToolEnvironment
from distrl.records import Task, Verdict
from phonesim.simulated_device import SimulatedDevice

pytest.importorskip("openenv.core", reason="openenv is not installed: make test-trainers")
pytestmark = pytest.mark.filterwarnings("default")  # of their packages, not ours
EXAMPLE = Path(__file__).parents[2] / "examples/openenv_agent.py"
TASK = "clock.turn_off_alarm/train/0"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    import uvicorn

    from distrl.environments.openenv_environment import PhoneEnvironment, phone_app

    app = phone_app(functools.partial(PhoneEnvironment, task=TASK), sessions=4)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def called(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "call_tool", "tool_name": name, "arguments": arguments}


def test_a_trainer_resets_steps_and_is_rewarded_once(address: str) -> None:
    from openenv import GenericEnvClient

    with GenericEnvClient(base_url=address).sync() as client:
        first = client.reset(task=TASK)
        assert (first.done, first.observation["task"]) == (False, TASK)
        opened = client.step(called("open_app", app="Clock"))
        screen = opened.observation["result"]["data"]
        switch = switch_number(first.observation["text"], screen)
        assert client.step(called("tap", element=switch)).reward == 0.0
        last = client.step(called("finish"))
        assert (last.done, last.reward) == (True, 1.0)
        after = client.step(called("finish"))
        assert (after.reward, "over" in after.observation["error"]["message"]) == (0.0, True)
        assert client.state()["step_count"] == 3


def test_a_wrong_call_is_told_and_costs_nothing(address: str) -> None:
    from openenv import GenericEnvClient

    with GenericEnvClient(base_url=address).sync() as client:
        client.reset(split="test", index=0)
        wrong = client.step(called("tap", element=1000))
        assert "the screen has 0 to" in wrong.observation["error"]["message"]
        assert (wrong.done, client.state()["step_count"]) == (False, 0)
        with pytest.raises(RuntimeError, match="no task template called 'nonsense'"):
            client.reset(task="nonsense/train/0")


def test_an_agent_has_tools_and_a_task_over_mcp(address: str) -> None:
    from openenv.core.mcp_client import MCPToolClient

    with MCPToolClient(base_url=address).sync() as client:
        names = {tool.name for tool in client.list_tools()}
        assert {"tap", "swipe", "finish", "double_tap", "drag", "ask_user", "look"} <= names
        assert not {"reset", "step"} & names
        task = client.call_tool("look")
        screen = client.call_tool("open_app", app="Clock")
        client.call_tool("tap", element=switch_number(task, screen))
        assert client.call_tool("finish").startswith("done")


def test_tasks_are_found_by_split_and_index(address: str) -> None:
    import httpx

    splits = httpx.get(f"{address}/phone/splits").json()
    assert {"train", "test"} <= {each["name"] for each in splits}
    asked = {"split": "test", "index": 3}
    found = httpx.post(f"{address}/phone/task", json=asked).json()["task"]
    assert (found["index"], "/test/0" in found["id"]) == (3, True)


def test_the_example_plays_to_the_end(address: str) -> None:
    example = runpy.run_path(str(EXAMPLE), run_name="example")
    reward, steps = example["play"](address, TASK)
    assert (reward, steps) == (0.0, 10)  # the task's limit of steps


class OpensWell:
    """Judges a device that has no facts: good is who leaves another screen than was there."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._first = ""

    def begin(self, task: Task) -> None:
        self._first = self._device.screen().digest

    def verdict(self, answer: str | None) -> Verdict:
        return Verdict(self._device.screen().digest != self._first, "", "opens_well")


@pytest.mark.parametrize(("opened", "reward"), [(True, 1.0), (False, 0.0)])
def test_a_device_of_your_own_with_an_instruction(opened: bool, reward: float) -> None:
    from openenv.core import CallToolAction

    from distrl.environments.openenv_environment import PhoneEnvironment

    with SimulatedDevice("mine") as device:
        make = functools.partial(ToolEnvironment, device, OpensWell(device))
        phone = PhoneEnvironment(make)
        first = phone.reset(instruction="Open the clock")
        assert (first.task, "Open the clock" in first.text) == ("", True)
        if opened:
            phone.step(CallToolAction(tool_name="open_app", arguments={"app": "Clock"}))
        last = phone.step(CallToolAction(tool_name="finish", arguments={}))
        assert (last.done, last.reward) == (True, reward)


def test_pictures_come_as_blocks() -> None:
    from openenv.core import CallToolAction

    from distrl.environments.openenv_environment import PhoneEnvironment

    phone = PhoneEnvironment(functools.partial(ToolEnvironment, pictures=True), TASK)
    seen = phone.step(CallToolAction(tool_name="open_app", arguments={"app": "Clock"}))
    assert [block.type for block in seen.result.content] == ["image", "text"]
