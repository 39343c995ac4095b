"""A Ray cluster of three hosts, started by the documented commands, and runs on it.

    anna      the head, with two phones
    bertil    says that it has a GPU (nobody looks), so the learner goes there
    cecilia   two phones

A command is given on anna or on cecilia. Runs are tiny and without end: each test ends its own.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.engine.tiny_runs import SETTINGS, write_model
from tests.machines.hosts import HOME, Command, Host, Switch, wait_until

PATIENCE = 480.0  # seconds for what a quiet machine does in twenty
STORE = ("--", "--object-store-memory=80000000", "--num-cpus=2")
PHONES = "phone=2"
RUN = (
    f"agent.model={HOME}/model",
    "run.minutes=60",
    "run.checkpoint_minutes=0.1",
    "collection.collectors=2",
    "collection.heartbeat_seconds=1",
    "devices.count=4",
    "devices.latency=event_driven",
    "devices.clock=scaled",
    "devices.clock_speed=2",
    "pacing.samples_per_insert=1",
    "store.byte_limit=100000000",
    "evaluation.before=0",
    "evaluation.after=0",
)


class Cluster:
    """A context manager: the three hosts are nodes when it is entered."""

    def __init__(self, folder: Path) -> None:
        self._model = write_model(folder)
        self._switch = Switch()
        self._shared: tuple[tuple[Host, tuple[str, ...]], ClusterRun] | None = None
        self.token = secrets.token_hex(24)

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            undo.enter_context(self._switch)
            self.anna, self.bertil, self.cecilia = map(self.host, ("anna", "bertil", "cecilia"))
            self.head = f"{self.anna.address}:6379"
            self.nodes = {
                self.anna: self.anna.distrl(
                    *("cluster", "start", "--listen", self.anna.address),
                    *("--resource", PHONES, *STORE),
                )
            }
            self.join(self.bertil, "GPU=1")
            self.join(self.cecilia, PHONES)
            for host in self.nodes:
                self.wait_for_node(host)
            undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._switch.__exit__(kind, error, trace)

    def host(self, name: str) -> Host:
        """Another host, with what every host of a cluster needs: token, settings, model."""
        host = self._switch.add(name, {"RAY_AUTH_TOKEN": self.token})
        shutil.copytree(self._model, host.home / "model")
        (host.home / "tiny.toml").write_text(SETTINGS, "utf-8")
        return host

    def join(self, host: Host, resource: str) -> None:
        self.nodes[host] = host.distrl(
            *("cluster", "join", self.head, "--listen", host.address),
            *("--resource", resource, "--wait", str(PATIENCE), *STORE),
        )

    def wait_for_node(self, host: Host) -> None:
        node = self.nodes[host]
        wait_until(
            lambda: node.said().rstrip().endswith("node up"),
            PATIENCE,
            lambda: f"{host.name} is a node: {node.said()}",
        )

    def train(self, host: Host, *settings: str, learner: Host | None = None) -> ClusterRun:
        """`distrl train` on that host, and the run once its collectors play."""
        words = [word for each in (*RUN, *settings) for word in ("--set", each)]
        command = host.distrl("train", "tiny.toml", "--engine", "ray", "--address", "auto", *words)
        return ClusterRun(command, learner or self.bertil)

    def run_from(self, host: Host, *settings: str) -> ClusterRun:
        """The run that several tests share; one with other settings is ended before."""
        if self._shared is None or self._shared[0] != (host, settings):
            self.end_run()
            self._shared = (host, settings), self.train(host, *settings)
        return self._shared[1]

    def end_run(self) -> None:
        """End the shared run in order, if there is one."""
        shared, self._shared = self._shared, None
        if shared is not None:
            code = shared[1].end()
            assert code == 130, f"Ctrl-C ended with {code}: {shared[1].sentences()[-4000:]}"
            assert f"distrl train --resume {shared[1].path}" in shared[1].sentences()

    def resume(self, host: Host, path: str, *words: str, learner: Host | None = None) -> ClusterRun:
        command = host.distrl("train", "--resume", path, *words)
        return ClusterRun(command, learner or self.bertil)


class ClusterRun:
    """One `distrl train` on the cluster, and what it has on the learner's disk."""

    def __init__(self, command: Command, learner: Host) -> None:
        self.command = command
        self.learner = learner

    @property
    def path(self) -> str:
        """Of its directory, the first thing that the command prints."""
        found = re.search(r"^\S*runs/\S+$", self.command.said(), re.MULTILINE)
        return found.group() if found else ""

    def directory(self, host: Host | None = None) -> Path:
        """On the learner's disk, or on another host's."""
        return (host or self.learner).home / self.path

    def sentences(self) -> str:
        """All that it said but its status lines."""
        return "\n".join(line for line in self.command.said().splitlines() if " · " not in line)

    def status(self) -> str:
        """Its last status line."""
        lines = [line for line in self.command.said().splitlines() if " · learner " in line]
        return lines[-1] if lines else ""

    def collectors_on(self, *hosts: Host) -> bool:
        """Does its last status line have a collector on each of these hosts?"""
        places = self.status().rpartition("collectors ")[2]
        return all(f"{host.address}/" in places for host in hosts)

    def figure(self, name: str) -> int:
        """`trajectories` or `update` of its last status line."""
        pattern = r"(\d+) trajectories" if name == "trajectories" else rf"{name} (\d+)"
        found = re.search(pattern, self.status())
        return int(found.group(1)) if found else 0

    def episodes(self, host: Host | None = None) -> list[str]:
        """The ids of all logged episodes."""
        try:
            text = (self.directory(host) / "episodes.jsonl").read_text("utf-8")
        except OSError:
            return []
        lines = text.splitlines(keepends=True)
        return [str(json.loads(line)["id"]) for line in lines if line.endswith("\n")]

    def wait_for_episodes(self, more: int, *hosts: Host, seconds: float = PATIENCE) -> float:
        """Seconds until so many more have arrived, with a collector on each of these hosts."""
        wanted = self.figure("trajectories") + more

        def arrived() -> bool:
            assert self.command.is_running(), self.command.said()[-4000:]
            return self.figure("trajectories") >= wanted and self.collectors_on(*hosts)

        return wait_until(
            arrived,
            seconds,
            lambda: f"{wanted} trajectories: {self.status()}\n{self.sentences()[-4000:]}",
        )

    def end(self) -> int:
        """Ctrl-C; the exit code."""
        if self.command.is_running():
            self.command.interrupt()
        return self.command.wait(PATIENCE)
