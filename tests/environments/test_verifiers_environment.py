"""The phone in verifiers: its own command evaluates a stand-in model, tool server and all."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.environments.alarm_model import TASK, serve_alarm_model
from tests.plugin_package.src.distrl_quiet.grayscale_phone import GrayscalePhone
from tests.plugin_package.src.distrl_quiet.patient_judge import PatientJudge

from distrl.episodes.tool_environment import ToolEnvironment
from distrl.records import Task

pytest.importorskip("verifiers.v1", reason="verifiers is not installed: make test-trainers")
ROOT = Path(__file__).parents[2]
NAP = Task("mine.nap/test/0", "Take a nap", "general", "mine.nap", "test", 0, (), "easy", 4)
BIN = Path(sys.executable).parent


def verifiers_command(
    name: str, *words: str, of: str = "distrl-phone", beside: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """One of verifiers' commands, with the code of this checkout and of the folder `beside`."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), str(beside)]),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "STAND_IN_KEY": "none",
    }
    return subprocess.run(
        [BIN / name, of, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_rows_are_tasks_with_their_first_screen() -> None:
    from distrl.environments.verifiers_environment import PhoneTasksetConfig
    from distrl_phone import PhoneTaskset

    rows = list(PhoneTaskset(PhoneTasksetConfig(split="test", tasks=3)))
    assert [row.data.idx for row in rows] == [0, 1, 2]
    assert len({row.key for row in rows}) == 3
    assert all("/test/" in row.key and "\n[0] " in row.data.prompt for row in rows)


GRAY_PHONE = """
from tests.plugin_package.src.distrl_quiet.grayscale_phone import GrayscalePhone

from distrl.environments.verifiers_environment import (
    PhoneHarness, PhoneTask, PhoneTaskset, PhoneToolset,
)
from distrl.episodes.tool_environment import ToolEnvironment
from phonesim.tasks.fact_judge import FactJudge

__all__ = ["GrayTaskset", "PhoneHarness"]


class GrayToolset(PhoneToolset):
    def phone(self):
        device = GrayscalePhone("gray")
        return ToolEnvironment(device, FactJudge(device))


class GrayTask(PhoneTask):
    @classmethod
    def toolsets(cls, config):
        return [GrayToolset(config.tools)]


class GrayTaskset(PhoneTaskset):
    def load(self):
        for task in super().load():
            yield GrayTask(task.data, self.config.task)


if __name__ == "__main__":
    GrayToolset.run()
"""


@pytest.mark.parametrize("package", ["distrl-phone", "gray-phone"])
def test_a_rollout_is_played_judged_and_rewarded(package: str, tmp_path: Path) -> None:
    """Ours, and a device of somebody else in a module of theirs."""
    (tmp_path / "gray_phone.py").write_text(GRAY_PHONE, "utf-8")
    with serve_alarm_model() as address:
        done = verifiers_command(
            "vf-eval",
            *("--select.include.ids", json.dumps([TASK])),
            *("--env.agent.runtime.type", "subprocess", "--model", "stand-in"),
            *("--client.base-url", address, "--client.api-key-var", "STAND_IN_KEY"),
            *("--no-push", "--no-rich", "-o", str(tmp_path)),
            of=package,
            beside=tmp_path,
        )
    lines = [
        line for file in tmp_path.rglob("traces.jsonl") for line in file.read_text().split("\n")
    ]
    assert lines, (done.stdout + done.stderr)[-3000:]
    trace = json.loads(lines[0])["traces"][0]
    earned, steps = trace["rewards"]["success"], trace["metrics"]["steps"]
    assert (earned["score"], steps, trace["stop_condition"]) == (1.0, 3.0, "over"), earned


class StateChannel(BaseHTTPRequestHandler):
    """Where verifiers keeps the state of a rollout while its tool server is elsewhere."""

    state = b"{}"

    def do_GET(self) -> None:
        self._answer(StateChannel.state)

    def do_PUT(self) -> None:
        StateChannel.state = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(StateChannel, "state", b"{}")
    with ThreadingHTTPServer(("127.0.0.1", 0), StateChannel) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        monkeypatch.setenv("VF_STATE_URL", f"http://127.0.0.1:{server.server_port}/state")
        monkeypatch.setenv("VF_STATE_SECRET", "none")
        yield
        server.shutdown()


@pytest.mark.usefixtures("channel")
@pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # of verifiers
def test_a_toolset_of_your_own_plays_on_your_device() -> None:
    import verifiers.v1 as vf
    from mcp.server.mcpserver import MCPServer

    from distrl.environments.verifiers_environment import PhoneData, PhoneToolset

    class QuietToolset(PhoneToolset):
        def phone(self) -> ToolEnvironment:
            device = GrayscalePhone("quiet")
            return ToolEnvironment(device, PatientJudge(device), tasks=[NAP])

    async def played() -> dict[str, Any]:
        tools = QuietToolset(vf.ToolsetConfig())
        await tools.setup_task(PhoneData(id=NAP.id, name=NAP.id, task=NAP.id, prompt="Nap"))
        server = MCPServer("quiet")
        tools.register(server)
        await server.call_tool("open_app", {"app": "Clock"})
        await server.call_tool("finish", {})
        state: dict[str, Any] = json.loads(StateChannel.state)
        return state

    state = asyncio.run(played())
    assert (state["reward"], state["done"], state["steps"]) == (1.0, True, 2)


def test_the_scripted_solution_is_what_validates(tmp_path: Path) -> None:
    done = verifiers_command(
        "vf-validate",
        *("--select.limit", "2", "--runtime.type", "subprocess", "--no-rich"),
        *("-o", str(tmp_path)),
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
